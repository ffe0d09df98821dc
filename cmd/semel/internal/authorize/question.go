package authorize

import (
	"context"
	"net"
	"net/http"
	"slices"
	"strings"
)

// left out of a question: what belongs to one connection, what tells of the
// body, and what is about the resource and would be judged by the authoriser's.
var leftOut = []string{
	"Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authorization", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Http2-Settings",
	"Content-Length", "Content-Encoding", "Expect",
	"If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "If-Range", "Range",
	"Forwarded",
}

// question is what the authoriser is asked about r.
func (a *Asker) question(ctx context.Context, r *http.Request) *http.Request {
	q := (&http.Request{Method: http.MethodGet, URL: a.opts.URL, Host: a.opts.URL.Host, Header: r.Header.Clone()}).WithContext(ctx)
	for _, name := range slices.Concat(leftOut, a.listed(r.Header["Connection"])) {
		q.Header.Del(name)
	}
	for name := range q.Header {
		if strings.HasPrefix(name, "X-Forwarded-") { // a client's
			delete(q.Header, name)
		}
	}
	q.Header.Set("X-Forwarded-Method", r.Method)
	q.Header.Set("X-Forwarded-Uri", r.URL.RequestURI())
	q.Header.Set("X-Forwarded-Host", r.Host)
	q.Header.Set("X-Forwarded-Proto", scheme(r))
	if ip, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
		q.Header.Set("X-Forwarded-For", ip)
	}
	return q
}

// listed are the headers that the client's Connection header ends here.
func (a *Asker) listed(connection []string) []string {
	var names []string
	for _, line := range connection {
		for name := range strings.SplitSeq(line, ",") {
			name = http.CanonicalHeaderKey(strings.TrimSpace(name))
			if !slices.Contains(a.opts.Keep, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

func scheme(r *http.Request) string {
	if r.TLS != nil {
		return "https"
	}
	return "http"
}
