package demo

import (
	"context"
	_ "embed"
	"net/http"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/cmd/semel/internal/demo/source"
	"github.com/semel-go/semel/semelhttp"
)

// countOnce counts a member's vote for a tea, and no second one ever.
func (o *office) countOnce(ctx context.Context, member, tea string) (semel.Result[vote], error) {
	return semel.Do(ctx, o.engine, semel.Op{
		Key:       semel.KeyOf(semel.Scope{Principal: member, Operation: "vote"}, tea),
		Input:     semel.NoInput,
		Policy:    semel.AtMostOnce,
		Retention: semel.Forever,
		Detached:  true,
	}, func(ctx context.Context) (vote, error) {
		return o.count(ctx, member, tea)
	})
}

// guardWebhooks lets each of the provider's events through once.
func (o *office) guardWebhooks() (func(http.Handler) http.Handler, error) {
	return semelhttp.New(o.engine, semelhttp.Global, &semelhttp.Options{
		Keys:       []semelhttp.KeySource{semelhttp.KeyWebhook("standard")}, // Webhook-Id
		Verify:     o.secret.verify,
		RequireKey: true,
		Retention:  30 * day, // longer than the provider goes on trying
	})
}

// onceSource is this file, so that the page shows the code that runs.
//
//go:embed once.go
var onceSource string

// guardCode is the source of the function that guards a story; empty for the
// stories that the gateway guards.
func guardCode(story string) string {
	name := map[string]string{storyVotes: "countOnce", storyWebhook: "guardWebhooks"}[story]
	if name == "" {
		return ""
	}
	return source.Function(onceSource, name)
}
