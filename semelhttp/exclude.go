package semelhttp

import (
	"net/http"
	"slices"
	"strings"
)

// recordRules say which header fields of an answer are recorded.
type recordRules struct {
	ownNames    []string // the key headers and the replay mark
	keepCookies []string
}

func newRecordRules(o *Options) recordRules {
	return recordRules{ownNames: slices.Concat(o.Headers, o.tokenHeaders(), []string{o.ReplayedHeader, contentField}), keepCookies: slices.Clone(o.KeepSetCookie)}
}

// keeps reports whether a header field is recorded at all.
func (r *recordRules) keeps(name string, connection []string) bool {
	if !isToken(name) || slices.Contains(r.ownNames, http.CanonicalHeaderKey(name)) || listed(connection, name) {
		return false
	}
	var buf [64]byte
	lower := appendLower(buf[:0], name)
	if string(lower) == "set-cookie" {
		return len(r.keepCookies) > 0
	}
	return !neverRecorded(string(lower))
}

// keepsCookie reports whether a Set-Cookie value is on the allow-list.
func (r *recordRules) keepsCookie(value string) bool {
	name, _, _ := strings.Cut(value, "=")
	return slices.Contains(r.keepCookies, strings.Trim(name, " \t"))
}

// neverRecorded is true for what belongs to one message, one connection, one
// caller or one moment, and for secrets.
func neverRecorded(lower string) bool {
	switch lower {
	case "connection", "keep-alive", "proxy-connection", "te", "transfer-encoding", "upgrade", // hop by hop
		"content-length", "date", "age", "alt-svc", "server-timing",
		"set-cookie2", "www-authenticate", "proxy-authenticate", "authentication-info", "proxy-authentication-info",
		"traceparent", "tracestate", "x-request-id", "x-correlation-id":
		return true
	}
	for _, prefix := range [...]string{"access-control-", "ratelimit", "x-ratelimit"} {
		if strings.HasPrefix(lower, prefix) {
			return true
		}
	}
	for _, part := range [...]string{"token", "secret", "password", "credential", "authorization", "api-key", "apikey"} {
		if strings.Contains(lower, part) {
			return true
		}
	}
	return false
}

func appendLower(buf []byte, s string) []byte {
	for i := range len(s) {
		c := s[i]
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		buf = append(buf, c)
	}
	return buf
}

// fieldValue makes of a value what net/http sends for it; false for one that no
// client would accept.
func fieldValue(v string) (string, bool) {
	if strings.ContainsAny(v, "\r\n") {
		v = strings.NewReplacer("\r", " ", "\n", " ").Replace(v)
	}
	v = strings.Trim(v, " \t")
	return v, isFieldValue(v)
}

// isFieldValue is true for a value that may stand in a header line (RFC 9110,
// section 5.5).
func isFieldValue(v string) bool {
	for i := range len(v) {
		if c := v[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// Recordable reports whether a middleware with the default options records a header
// field of this name, for tools that make records: not what belongs to one message,
// connection, caller or moment, nor what is named like a secret, nor Set-Cookie, nor
// what a replay says for itself.
func Recordable(name string) bool {
	var defaults *Options
	o := defaults.withDefaults()
	rules := newRecordRules(&o)
	return rules.keeps(name, nil)
}
