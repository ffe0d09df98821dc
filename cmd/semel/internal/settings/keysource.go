package settings

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/cmd/semel/internal/spelling"
	"github.com/semel-go/semel/cmd/semel/internal/strictyaml"
	"github.com/semel-go/semel/semelhttp"
)

// KeySourceKind is what a key is read from.
type KeySourceKind string

// What a key is read from.
const (
	KeyHeader    KeySourceKind = "header"
	KeyBody      KeySourceKind = "body"
	KeyPath      KeySourceKind = "path"
	KeyForm      KeySourceKind = "form"
	KeyWebhook   KeySourceKind = "webhook"
	KeyFormToken KeySourceKind = "form-token"
	keyDerived   KeySourceKind = "derived" // a [Derived] of its own
)

// KeySource is a place of a request that holds its key: the header, the JSON pointer
// into the body, the wildcard of the path, the field of the form, the sender of the
// webhook, or the purpose of the form token.
type KeySource struct {
	Kind KeySourceKind
	Name string
}

// String is the source as in the file.
func (k KeySource) String() string { return string(k.Kind) + ":" + k.Name }

const keyChoices = "header:NAME, body:/JSON/POINTER, path:WILDCARD, form:FIELD, webhook:SENDER, form-token:PURPOSE or derived:WINDOW"

// readKeys reads key, one source or a list of them, and duplicates.
func (t *Route) readKeys(values map[string]strictyaml.Node) {
	node := values["key"]
	sources := []strictyaml.Node{node}
	if node.IsList() {
		sources = node.List()
	}
	for _, source := range sources {
		if text, ok := source.Text(); ok {
			if err := t.addKey(text); err != nil {
				source.Fail("%v", err)
			}
		}
	}
	t.readDuplicates(values["duplicates"])
}

func (t *Route) addKey(text string) error {
	if t.Derived != nil {
		return errors.New("a derived key is made where no other is found; write it last, and once")
	}
	kind, name, _ := strings.Cut(text, ":")
	source := KeySource{Kind: KeySourceKind(kind), Name: name}
	if slices.Contains(t.Keys, source) {
		return fmt.Errorf("%s stands there twice", text)
	}
	switch source.Kind {
	case KeyHeader:
		if !isToken(name) {
			return errors.New("name a header, such as header:Idempotency-Key")
		}
	case KeyBody:
		if err := checkPointer(name); err != nil {
			return err
		}
	case KeyPath:
		if t.Path != "" && !t.hasWildcard(name) { // a wrong path is told already
			return fmt.Errorf("%q has no {%s}; name a wildcard of the route's path", t.Path, name)
		}
	case KeyForm:
		if name == "" {
			return errors.New("name a field of the form, such as form:idempotency_key")
		}
	case KeyWebhook:
		if senders := semelhttp.WebhookSenders(); !slices.Contains(senders, name) {
			return fmt.Errorf("%q is no known sender%s Built in are %s; header:NAME takes any other", name, cmp.Or(spelling.Hint(name, "webhook:", senders), "."), strings.Join(senders, ", "))
		}
	case KeyFormToken:
		if err := t.checkFormToken(name); err != nil {
			return err
		}
	case keyDerived:
		return t.derive(name)
	default:
		return fmt.Errorf("%q is no place of a key; choose from %s", text, keyChoices)
	}
	t.Keys = append(t.Keys, source)
	return nil
}

const minWindow = 2 * time.Second

func (t *Route) derive(window string) error {
	d, err := parseDuration(window)
	if err != nil {
		return err
	}
	if d < minWindow {
		return fmt.Errorf("%v is below %v: a claim has to end within it; write a window such as derived:30s", d, minWindow)
	}
	t.Derived = &Derived{Window: d}
	return nil
}

func (t *Route) readDuplicates(node strictyaml.Node) {
	word, ok := node.Text()
	switch {
	case !ok:
	case t.Derived == nil:
		node.Fail("only a derived key has it; add key: derived:30s, or take this out")
	case word == "replay" || word == "reject":
		t.Derived.Reject = word == "reject"
	default:
		node.Fail("%q is not one of replay, reject", word)
	}
}

// hasWildcard reports a segment {name} of the path. {name...} is none, since it may be
// empty.
func (t *Route) hasWildcard(name string) bool {
	return slices.Contains(strings.Split(t.Path, "/"), "{"+name+"}") && name != "$"
}

// checkKeyPath refuses a key of the path that is not required: a segment is never empty,
// so that would guard no less, and semelhttp wants it said.
func (t *Route) checkKeyPath(values map[string]strictyaml.Node) {
	isPath := func(source KeySource) bool { return source.Kind == KeyPath }
	if slices.ContainsFunc(t.Keys, isPath) && !t.RequireKey && t.Derived == nil {
		values["key"].Fail("a path always has its key; add require-key: true")
	}
}

// checkDerived refuses settings that a derived key leaves without a meaning.
func (t *Route) checkDerived(values map[string]strictyaml.Node) {
	if t.Derived == nil {
		return
	}
	if required, ok := values["require-key"].Bool(); ok && required {
		values["require-key"].Fail("a request without a key gets a derived one, so none is ever missing; take one of the two out")
	}
	if t.Wait >= t.Derived.Window {
		values["wait"].Fail("%v is not below the window %v of the derived key: the answer could expire before it is read; lower wait", t.Wait, t.Derived.Window)
	}
}

// checkPointer says what is wrong with a JSON pointer (RFC 6901).
func checkPointer(pointer string) error {
	if pointer == "" {
		return errors.New("name a place in the body, such as body:/event/id")
	}
	return (&JSON{Include: []string{pointer}}).check()
}

func (j *JSON) check() error {
	_, err := semel.SelectJSON(j.Include, j.Ignore)
	if err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "semel: "))
	}
	return nil
}
