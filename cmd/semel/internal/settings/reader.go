package settings

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// reader parses settings from their texts and collects all mistakes.
type reader struct {
	look func(name string) setting
	// dash stands before the names of settings in messages: "--" for those that
	// are flags, nothing for those of a route.
	dash string
	// at is blamed for a setting that is not there.
	at     string
	errs   []error
	failed map[string]bool
}

// setting is the text of a setting, and the place that a mistake in it is
// blamed on, such as "--lease" or "semel.yaml:12: lease".
type setting struct{ value, place string }

// flagReader reads flags.
func flagReader(fs *pflag.FlagSet) *reader {
	return &reader{dash: "--", look: func(name string) setting {
		t := flagText(fs, name)
		if t.from == "" {
			return setting{t.value, t.flag}
		}
		return setting{t.value, t.from}
	}}
}

// flagText is the value of a flag that [AddProxyFlags] defined.
func flagText(fs *pflag.FlagSet, name string) *text {
	t, ok := fs.Lookup(name).Value.(*text)
	if !ok { // the name is in both tables by mistake, and a test would have seen it
		return &text{}
	}
	return t
}

func (r *reader) text(name string) string { return r.look(name).value }

// name is how another setting is called in a message.
func (r *reader) name(name string) string { return r.dash + name }

func read[T any](r *reader, name string, parse func(string) (T, error)) T {
	v, err := parse(r.text(name))
	if err != nil {
		r.fail(name, err)
	}
	return v
}

// override replaces value where the setting is there at all.
func override[T any](r *reader, name string, value *T, parse func(string) (T, error)) {
	if r.look(name).place != "" {
		*value = read(r, name, parse)
	}
}

func (r *reader) fail(name string, err error) {
	if r.failed == nil {
		r.failed = map[string]bool{}
	}
	r.failed[name] = true
	r.errs = append(r.errs, fmt.Errorf("%s: %w", cmp.Or(r.look(name).place, r.at), err))
}

// refuse reports a contradiction of a setting, unless its text was refused
// already.
func (r *reader) refuse(name string, bad bool, format string, args ...any) {
	if bad && !r.failed[name] {
		r.fail(name, fmt.Errorf(format, args...))
	}
}

// words splits a comma list; an empty text has none.
func words(s string) []string {
	var list []string
	for word := range strings.SplitSeq(s, ",") {
		word = strings.TrimSpace(word)
		if word != "" && !slices.Contains(list, word) {
			list = append(list, word)
		}
	}
	return list
}
