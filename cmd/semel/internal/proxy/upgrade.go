package proxy

import (
	"net/http"
	"slices"
	"strings"
)

// plainly takes offers of an upgrade that go no further out of a request before
// anybody judges it: what is not passed on as an upgrade must not pass the guard as
// one.
func plainly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isUpgrade(r) {
			r.Header.Del("Upgrade")
		}
		next.ServeHTTP(w, r)
	})
}

// isUpgrade reports whether the request asks for one other protocol on this
// connection, as a WebSocket does, under GET. Under a method that may take effect an
// upstream may ignore the offer and execute the request. HTTP/2 is none: an upstream that took it would be talked to past the
// gateway.
func isUpgrade(r *http.Request) bool {
	offers := r.Header["Upgrade"]
	if r.Method != http.MethodGet || len(offers) != 1 || !slices.ContainsFunc(r.Header["Connection"], listsUpgrade) {
		return false
	}
	protocol, _, _ := strings.Cut(offers[0], "/")
	return protocol != "" && !strings.Contains(offers[0], ",") && !strings.EqualFold(protocol, "h2c")
}

func listsUpgrade(connection string) bool {
	for token := range strings.SplitSeq(connection, ",") {
		if strings.EqualFold(strings.Trim(token, " \t"), "Upgrade") {
			return true
		}
	}
	return false
}
