package semelhttp

import (
	"bytes"
	"compress/gzip"
	"io"
	"slices"
	"strconv"
	"strings"
)

// decodedFactor bounds what a recorded gzip body may grow to, as a multiple of
// the greatest recorded body.
const decodedFactor = 8

// negotiate makes the response one that the client accepts: a body in a content
// coding that it does not accept is decoded if that is gzip and at most limit
// bytes come out. It reports false where that cannot be done.
func (r *Response) negotiate(accept []string, limit int64) bool {
	coding := strings.ToLower(r.find("Content-Encoding"))
	if coding == "" || coding == "identity" || len(r.Body) == 0 || accepts(accept, coding) {
		return true
	}
	if coding != "gzip" && coding != "x-gzip" {
		return false
	}
	body, ok := gunzip(r.Body, limit)
	if !ok {
		return false
	}
	r.Body = body
	r.Header = slices.DeleteFunc(slices.Clone(r.Header), func(p HeaderPair) bool {
		return strings.EqualFold(p.Name, "Content-Encoding")
	})
	return true
}

func gunzip(data []byte, limit int64) ([]byte, bool) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, false
	}
	body, err := io.ReadAll(io.LimitReader(z, limit+1))
	return body, err == nil && int64(len(body)) <= limit
}

// accepts reports whether Accept-Encoding names every one of codings, a list as
// in Content-Encoding, with a weight above 0 (RFC 9110, section 12.5.3). A request
// that says nothing is taken for one that accepts none.
func accepts(accept []string, codings string) bool {
	for coding := range strings.SplitSeq(codings, ",") {
		if !acceptsOne(accept, strings.Trim(coding, " \t")) {
			return false
		}
	}
	return true
}

func acceptsOne(accept []string, coding string) bool {
	any := false
	for _, line := range accept {
		for item := range strings.SplitSeq(line, ",") {
			name, params, _ := strings.Cut(item, ";")
			switch name = strings.ToLower(strings.Trim(name, " \t")); name {
			case strings.TrimPrefix(coding, "x-"), "x-" + coding, coding:
				return weight(params) > 0
			case "*":
				any = weight(params) > 0
			}
		}
	}
	return any
}

// weight reads q; a missing or unreadable one is 1.
func weight(params string) float64 {
	for param := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(strings.Trim(param, " \t"), "=")
		if q, err := strconv.ParseFloat(value, 64); err == nil && strings.EqualFold(name, "q") {
			return q
		}
	}
	return 1
}
