package semelhttp

import (
	"errors"
	"net/http"
	"runtime"
	"strings"

	"github.com/semel-go/semel/internal/canonjson"
)

// JSONFingerprint compares JSON bodies by their meaning, as [semel.InputJSONText]
// does: the order of members, whitespace and the spelling of numbers and strings do
// not count, and numbers are exact. It is for the types application/json and those
// that end in +json, without a content coding. A body with two members of one name,
// or of names that differ only in case, is refused with ambiguous-body. One that is
// no JSON, or has more than 1 MiB, counts by its bytes. What a rule among
// [Options.FormerFingerprints] ignores is not compared while it is listed there.
type JSONFingerprint struct {
	// Include are JSON pointers (RFC 6901) to the values that count. Bodies in which
	// none of them leads anywhere are all the same, so mind the spelling. Default all.
	Include []string
	// Ignore are JSON pointers to values that do not, such as /sent_at. Default none.
	Ignore []string
}

// maxJSON is the size up to which JSON is compared by its meaning. An array is digested
// as it comes; the members of an object are held, in some 15 times the size of their
// text, nested ones in up to 60 times, and the decoder allocates up to 100 times. That is
// outside of the body budget: so no more texts are digested at once than there are
// processors to do it, and the limit is not that of bodies.
const maxJSON = 1 << 20

// contentRule says how a body is understood.
type contentRule struct {
	json bool
	sel  *canonjson.Selection
	room chan struct{} // for as many texts as are digested at once
}

// contentRules are the rule that is in force, then the former ones.
func newContentRules(o *Options) ([]contentRule, error) {
	room := make(chan struct{}, runtime.GOMAXPROCS(0))
	var rules []contentRule
	var errs []error
	for _, f := range append([]*JSONFingerprint{o.JSON}, o.FormerFingerprints...) {
		rule := contentRule{json: f != nil, room: room}
		if f != nil {
			var err error
			rule.sel, err = canonjson.NewSelection(f.Include, f.Ignore)
			errs = append(errs, err)
		}
		rules = append(rules, rule)
	}
	return rules, errors.Join(errs...)
}

func (o *Options) validateContent() error {
	_, err := newContentRules(o)
	return refuse(err != nil, "JSON: %w", err)
}

// contentOf digests a body. Errors: canonjson.ErrDuplicate, errOverloaded.
func (c contentRule) contentOf(r *http.Request, body *requestBody) (content, error) {
	if !c.json || body.size > maxJSON || !isJSONType(contentType(r)) || contentCoding(r) != "" {
		return plainContent(r, body), nil
	}
	text, err := body.flatten()
	if err != nil {
		return content{}, err
	}
	c.room <- struct{}{}
	defer func() { <-c.room }()
	sum, err := canonjson.Digest(text, c.sel)
	switch {
	case errors.Is(err, canonjson.ErrDuplicate):
		return content{}, err
	case err != nil:
		return plainContent(r, body), nil
	}
	return content{"json:", sum}, nil
}

// isJSONType is true for application/json and for the types that are built on it.
func isJSONType(contentType string) bool {
	media := essence(contentType)
	return media == "application/json" || strings.HasSuffix(media, "+json")
}
