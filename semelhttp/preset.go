package semelhttp

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Preset is what a server asks of keys: where they go, what they may look like
// and how long they count. [Presets] has those of well-known payment APIs.
type Preset struct {
	// Name is the preset's name in [FindPreset], such as "stripe".
	Name string
	// Header is the name of the key header.
	Header string
	// BodyField is the member of a JSON object body that takes the key, instead of
	// a header.
	BodyField string
	// Quoted sends the key as a structured-field String (RFC 9651), in double quotes.
	Quoted bool
	// MinLength and MaxLength bound a key in bytes; 0: not documented.
	MinLength, MaxLength int
	// Format refuses keys of another form; nil: any printable ASCII.
	Format func(key string) error
	// Retention is for how long a key counts at least; 0: not documented.
	Retention time.Duration
	// Methods are the methods that take keys.
	Methods []string
	// Docs is the title of the product's documentation that says so.
	Docs string
}

// FindPreset returns the preset with a name. The error lists the names.
func FindPreset(name string) (Preset, error) {
	all := Presets()
	i := slices.IndexFunc(all, func(p Preset) bool { return p.Name == name })
	if i >= 0 {
		return all[i], nil
	}
	names := make([]string, len(all))
	for i, p := range all {
		names[i] = p.Name
	}
	return Preset{}, fmt.Errorf("semelhttp: there is no preset %q; there are %s", name, strings.Join(names, ", "))
}

// SemelPreset is the preset of a server behind Semel, and the default: the header
// Idempotency-Key, whose key is quoted only if it has to be.
func SemelPreset() Preset {
	return Preset{
		Name: "semel", Header: "Idempotency-Key", MaxLength: maxKeyLength, Retention: 24 * time.Hour,
		Methods: []string{http.MethodPost, http.MethodPatch}, Docs: "Semel: HTTP",
	}
}

// wire is the key as the preset's header carries it.
func (p *Preset) wire(key string) string {
	if p.Quoted || p.Name == "semel" && checkBareKey(key) != nil {
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(key) + `"`
	}
	return key
}

// check reports why a key cannot be sent. The error does not contain it.
func (p *Preset) check(key string) error {
	switch {
	case strings.Trim(key, " ") == "":
		return errors.New("semelhttp: the key is empty; use NewKey, or what identifies the operation")
	case strings.Trim(key, " ") != key || strings.ContainsFunc(key, func(c rune) bool { return c < ' ' || c > '~' }):
		return errors.New("semelhttp: the key is not printable ASCII without spaces around it; use NewKey, or a hash of what identifies the operation")
	case p.MaxLength > 0 && len(key) > p.MaxLength:
		return fmt.Errorf("semelhttp: the key has %d bytes, %s takes up to %d; use NewKey, or a hash of what identifies the operation", len(key), p.Name, p.MaxLength)
	case len(key) < p.MinLength:
		return fmt.Errorf("semelhttp: the key has %d bytes, %s needs %d at least; use NewKey, or a hash of what identifies the operation", len(key), p.Name, p.MinLength)
	case p.Format != nil && p.Format(key) != nil: // its text might quote the key
		return fmt.Errorf("semelhttp: the key does not have the form that %s asks for; use NewKey", p.Name)
	}
	return nil
}

// validate reports what is wrong with a preset.
func (p *Preset) validate() error {
	return errors.Join(
		refuse((p.Header == "") == (p.BodyField == ""), "Preset: name either a Header or a BodyField for the key"),
		refuse(p.Header != "" && !isToken(p.Header), "Preset: %q is no header name", p.Header),
		refuse(p.BodyField != "" && p.Quoted, "Preset: Quoted is for headers; take it out"),
		refuse(p.MinLength < 0 || p.MaxLength < 0 || p.MaxLength > 0 && p.MinLength > p.MaxLength, "Preset: MinLength %d and MaxLength %d contradict each other", p.MinLength, p.MaxLength),
		refuse(p.Retention < 0, "Preset: Retention is negative; use 0 for not known"),
	)
}
