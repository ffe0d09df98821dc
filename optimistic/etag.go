package optimistic

import (
	"fmt"
	"strconv"
	"strings"
)

// ETag is an entity tag: RFC 9110, section 8.8.3.
type ETag struct {
	Tag  string // without its quotes
	Weak bool
}

// ETagOf is the strong tag of a version: "42". It names one representation of the
// resource. Where there are several, by language or encoding, their tags must differ:
// add something to Tag.
func ETagOf(version int64) ETag { return ETag{Tag: strconv.FormatInt(version, 10)} }

// Version is the version that a strong tag of [ETagOf] stands for.
func (t ETag) Version() (version int64, ok bool) {
	version, err := strconv.ParseInt(t.Tag, 10, 64)
	return version, err == nil && t == ETagOf(version)
}

// String is the tag as a header has it: "42" in quotes, W/"42" for a weak one.
func (t ETag) String() string {
	if t.Weak {
		return `W/"` + t.Tag + `"`
	}
	return `"` + t.Tag + `"`
}

// StrongMatch compares as If-Match does: both are strong, and the same (section
// 8.8.3.2).
func StrongMatch(a, b ETag) bool { return a == b && !a.Weak }

// WeakMatch compares as If-None-Match does: the same, weak or not.
func WeakMatch(a, b ETag) bool { return a.Tag == b.Tag }

// ParseETag reads one tag, such as that of an answer's ETag header.
func ParseETag(s string) (ETag, error) {
	tag, rest, err := cutETag(s)
	if err == nil && rest != "" {
		err = fmt.Errorf("optimistic: %q stands behind the entity tag", rest)
	}
	if err != nil {
		return ETag{}, err
	}
	return tag, nil
}

// cutETag reads the tag that s begins with. There are no escapes in it.
func cutETag(s string) (tag ETag, rest string, err error) {
	text, weak := strings.CutPrefix(s, "W/")
	if !strings.HasPrefix(text, `"`) {
		return ETag{}, "", fmt.Errorf(`optimistic: %.40q is no entity tag, which has quotes, as "42" or W/"42"`, s)
	}
	text, rest, closed := strings.Cut(text[1:], `"`)
	if !closed {
		return ETag{}, "", fmt.Errorf("optimistic: the entity tag %.40q has no end", s)
	}
	for i := range len(text) {
		if c := text[i]; c <= ' ' || c == 0x7f {
			return ETag{}, "", fmt.Errorf("optimistic: the entity tag %.40q has a byte that cannot stand in one", s)
		}
	}
	return ETag{Tag: text, Weak: weak}, rest, nil
}
