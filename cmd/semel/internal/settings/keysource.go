package settings

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/cmd/semel/internal/spelling"
	"github.com/semel-go/semel/cmd/semel/internal/strictyaml"
)

// KeySourceKind is what a key is read from.
type KeySourceKind string

// What a key is read from.
const (
	KeyHeader  KeySourceKind = "header"
	KeyBody    KeySourceKind = "body"
	KeyWebhook KeySourceKind = "webhook"
	keyDerived KeySourceKind = "derived" // a [Derived] of its own
)

// KeySource is a place of a request that holds its key: the header, the JSON
// pointer into the body, or the sender of the webhook.
type KeySource struct {
	Kind KeySourceKind
	Name string
}

// String is the source as in the file.
func (k KeySource) String() string { return string(k.Kind) + ":" + k.Name }

const keyChoices = "header:NAME, body:/JSON/POINTER, webhook:SENDER or derived:WINDOW"

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
	case KeyWebhook:
		if !slices.Contains(senders, name) {
			return fmt.Errorf("%q is no known sender; did you mean webhook:%s? Built in are %s; header:NAME takes any other", name, spelling.Nearest(name, senders), strings.Join(senders, ", "))
		}
	case keyDerived:
		return t.derive(name)
	default:
		return fmt.Errorf("%q is no place of a key; choose from %s", text, keyChoices)
	}
	t.Keys = append(t.Keys, source)
	return nil
}

func (t *Route) derive(window string) error {
	d, err := parseDuration(window)
	if err != nil {
		return err
	}
	if d < time.Second {
		return fmt.Errorf("%v is below 1s; write a window such as derived:30s", d)
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

// checkDerived refuses settings that a derived key leaves without a meaning.
func (t *Route) checkDerived(values map[string]strictyaml.Node) {
	if t.Derived == nil {
		return
	}
	if required, ok := values["require-key"].Bool(); ok && required {
		values["require-key"].Fail("a request without a key gets a derived one, so none is ever missing; take one of the two out")
	}
	if t.Derived.Window < t.Lease {
		values["key"].Fail("the window %v is below lease %v: a duplicate could run beside the first; write a longer window or a shorter lease", t.Derived.Window, t.Lease)
	}
}

// senders are the webhooks whose delivery headers are known.
var senders = []string{"standard", "svix", "github", "gitlab", "gitea"}

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
