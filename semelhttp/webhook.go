package semelhttp

import (
	"fmt"
	"net/http"
	"strings"
)

// webhookPlace says where a sender puts the id that stays the same when it
// delivers an event again.
type webhookPlace struct{ sender, header, pointer string }

// webhookPlaces lists senders that document such an id.
func webhookPlaces() []webhookPlace {
	return []webhookPlace{
		{"standard", "Webhook-Id", ""}, // standardwebhooks.com, section "Webhook metadata"
		{"svix", "Svix-Id", ""},
		{"github", "X-GitHub-Delivery", ""}, // one per event, also when it is redelivered
		{"gitlab", "Idempotency-Key", ""},   // since GitLab 17.4; X-Gitlab-Event-UUID is shared by recursive webhooks
		{"gitea", "X-Gitea-Delivery", ""},
		{"forgejo", "X-Forgejo-Delivery", ""},
		{"jira", "X-Atlassian-Webhook-Identifier", ""},
		{"shopify", "X-Shopify-Event-Id", ""},
		{"razorpay", "X-Razorpay-Event-Id", ""},
		{"twilio", "I-Twilio-Idempotency-Token", ""},
		{"stripe", "", "/id"},
		{"paypal", "", "/id"},
		{"square", "", "/event_id"},
	}
}

// KeyWebhook is the place in which a sender of webhooks puts the id of an event:
// one of [WebhookSenders]. For others use [KeyHeader] or [KeyBody] with what their
// documentation names; take no header that changes with every attempt. Check the
// signature with [Options.Verify]: without it whoever knows an id can occupy it.
//
// Some senders change a part of the body between two attempts; name it in
// [JSONFingerprint.Ignore], or only the id in Include, or the second is answered
// key-reused.
func KeyWebhook(sender string) KeySource {
	for _, p := range webhookPlaces() {
		switch {
		case p.sender != sender:
		case p.header == "":
			s := KeyBody(p.pointer)
			s.sender = sender
			return s
		default:
			return KeySource{header: http.CanonicalHeaderKey(p.header), sender: sender}
		}
	}
	return KeySource{err: fmt.Errorf("semelhttp: Keys: %q is no known sender of webhooks; use KeyHeader or KeyBody, or one of %s", sender, strings.Join(WebhookSenders(), ", "))}
}

// WebhookSenders are the names that [KeyWebhook] knows.
func WebhookSenders() []string {
	var names []string
	for _, p := range webhookPlaces() {
		names = append(names, p.sender)
	}
	return names
}
