package settings

import (
	"time"

	"github.com/semel-go/semel"
)

// Rule says how requests are guarded: those of a route, or all others.
type Rule struct {
	Principal       Principal
	RequireKey      bool
	Methods         []string
	Retention       time.Duration
	Lease           time.Duration
	Wait            time.Duration
	MaxRequestBody  int64
	MaxResponseBody int64
	Hold            bool // --on-unknown hold
	StoreErrors     bool // --store-5xx
}

// ruleNames are the settings that a route may have for itself, by the names of
// their flags.
var ruleNames = []string{
	"principal", "require-key", "methods", "retention", "lease", "wait",
	"max-request-body", "max-response-body", "on-unknown", "store-5xx",
}

// read replaces what r has a text for.
func (u *Rule) read(r *reader) {
	override(r, "principal", &u.Principal, ParsePrincipal)
	override(r, "require-key", &u.RequireKey, parseBool)
	override(r, "methods", &u.Methods, parseMethods)
	override(r, "retention", &u.Retention, parseRetention)
	override(r, "lease", &u.Lease, parseDuration)
	override(r, "wait", &u.Wait, parseDuration)
	override(r, "max-request-body", &u.MaxRequestBody, parseSize)
	override(r, "max-response-body", &u.MaxResponseBody, parseSize)
	override(r, "on-unknown", &u.Hold, parseUnknown)
	override(r, "store-5xx", &u.StoreErrors, parseBool)
}

// check refuses settings of the rule that contradict each other.
func (u *Rule) check(r *reader) {
	retention := u.Retention
	r.refuse("lease", u.Lease < time.Second, "%v is below 1s: a pause of the process would end it; use 1s or more", u.Lease)
	r.refuse("retention", retention < time.Second, "%v is below 1s; use 1s or more, or forever", retention)
	if r.failed["retention"] {
		retention = semel.Forever // so that nothing else is blamed for it
	}
	r.refuse("lease", u.Lease >= retention, "%v is not below %s %v: a record would expire while it runs; raise %s", u.Lease, r.name("retention"), retention, r.name("retention"))
	r.refuse("wait", u.Wait >= retention, "%v is not below %s %v: the answer could expire before it is read; lower %s", u.Wait, r.name("retention"), retention, r.name("wait"))
	r.refuse("max-request-body", u.MaxRequestBody > MaxBody, "more than 1GiB would have to fit into memory; use 1GiB or less")
	r.refuse("max-response-body", u.MaxResponseBody > MaxBody, "more than 1GiB would have to fit into memory; use 1GiB or less")
}

// parseUnknown reports whether the word is hold.
func parseUnknown(s string) (bool, error) {
	word, err := oneOf("hold", "retry")(s)
	return word == "hold", err
}
