package optimistic

import (
	"errors"
	"net/http"
	"slices"
	"strings"
)

// Condition is the value of If-Match or If-None-Match. The zero value is that of a
// request without the header.
type Condition struct {
	Present bool   // the request has the header
	Any     bool   // it is *
	Tags    []ETag // else these
}

var errBetween = errors.New("optimistic: entity tags of a list have commas between them")

// conditionOf reads all lines of a header: a list, in which elements may be empty (RFC
// 9110, sections 5.3 and 5.6.1).
func conditionOf(h http.Header, name string) (c Condition, err error) {
	lines := h.Values(name)
	if len(lines) == 0 {
		return Condition{}, nil
	}
	rest := trim(strings.Join(lines, ","))
	if rest == "*" {
		return Condition{Present: true, Any: true}, nil
	}
	c.Present = true
	for rest != "" {
		if after, ok := strings.CutPrefix(rest, ","); ok {
			rest = trim(after)
			continue
		}
		var tag ETag
		if tag, rest, err = element(rest); err != nil {
			return Condition{}, err
		}
		c.Tags = append(c.Tags, tag)
	}
	return c, nil
}

// element reads a tag up to the comma or the end.
func element(s string) (tag ETag, rest string, err error) {
	tag, rest, err = cutETag(s)
	rest = trim(rest)
	if err == nil && rest != "" && rest[0] != ',' {
		err = errBetween
	}
	return tag, rest, err
}

func trim(s string) string { return strings.Trim(s, " \t") }

// matches reports whether the condition names the current representation.
func (c *Condition) matches(current ETag, exists bool, same func(a, b ETag) bool) bool {
	return exists && (c.Any || slices.ContainsFunc(c.Tags, func(t ETag) bool { return same(t, current) }))
}
