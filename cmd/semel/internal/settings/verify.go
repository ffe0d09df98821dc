package settings

import (
	"slices"
	"strings"

	"github.com/semel-go/semel/cmd/semel/internal/strictyaml"
)

// verifyKind is the one kind of signatures that is checked, that of
// standardwebhooks.com. It covers Webhook-Id, Webhook-Timestamp and the body.
const verifyKind = "standard"

// readVerify reads verify, standard:FILE.
func (t *Route) readVerify(node strictyaml.Node) {
	text, ok := node.Text()
	if !ok {
		return
	}
	kind, file, _ := strings.Cut(text, ":")
	switch {
	case kind != verifyKind || file == "":
		node.Fail("%q is no check of signatures; write standard:FILE, with the file of the sender's secret (standardwebhooks.com)", text)
	case !t.Enabled:
		node.Fail("a route that is not enabled checks no signatures; take one of the two out")
	case slices.ContainsFunc(t.Keys, isUnsigned) || len(t.Keys) == 0 && t.Derived == nil:
		node.Fail("the signature does not cover the key of this route; write key: webhook:standard, or a place in the body")
	default:
		t.Verify = file
	}
}

// isUnsigned reports a key that somebody else than the sender can have written, or hidden:
// what is a form, the type of the body says, which is not signed.
func isUnsigned(source KeySource) bool {
	switch source.Kind {
	case KeyHeader, KeyPath, KeyForm:
		return true
	}
	return source.Kind == KeyWebhook && source.Name != verifyKind
}

// VerifyText is verify as in the file, empty for none.
func (t Route) VerifyText() string {
	if t.Verify == "" {
		return ""
	}
	return verifyKind + ":" + t.Verify
}
