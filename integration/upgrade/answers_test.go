package upgrade

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/semelhttp"
)

// shop is a service whose answers have all that an answer can have.
type shop struct {
	addr string
	runs atomic.Int64
}

// requests are the paths of the shop, and the names of the files that hold its
// replays.
var requests = []string{"charge", "trailers", "empty", "binary", "refused"}

// openShop serves the shop behind the middleware.
func openShop(t *testing.T, e *semel.Engine) *shop {
	t.Helper()
	guard, err := semelhttp.New(e, semelhttp.HeaderPrincipal("Authorization"), &semelhttp.Options{
		Retention: semel.Forever, KeepSetCookie: []string{"basket"}, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	s := &shop{}
	outer := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Vary", "Origin") // an outer layer's, to which the shop adds
		guard(http.HandlerFunc(s.serve)).ServeHTTP(w, r)
	}
	server := httptest.NewServer(http.HandlerFunc(outer))
	t.Cleanup(server.Close)
	s.addr = server.Listener.Addr().String()
	return s
}

func (s *shop) serve(w http.ResponseWriter, r *http.Request) {
	s.runs.Add(1)
	h := w.Header()
	switch r.URL.Path {
	case "/charge":
		h["Content-Type"], h["Location"], h["Etag"] = []string{"application/json; charset=utf-8"}, []string{"/charges/1"}, []string{`"v1"`}
		h["Link"] = []string{"</a>; rel=next", "</b>; rel=prev"}
		h.Add("Vary", "Accept")
		http.SetCookie(w, &http.Cookie{Name: "basket", Value: "7", HttpOnly: true})
		http.SetCookie(w, &http.Cookie{Name: "session", Value: "never kept"})
		w.WriteHeader(http.StatusCreated)
		io.WriteString(w, `{"id":"ch_1","note":"ä"}`)
	case "/trailers":
		h.Set("Trailer", "X-Sum")
		io.WriteString(w, "a body, ")
		io.WriteString(w, "then its sum")
		h.Set("X-Sum", "abc")
		h.Set(http.TrailerPrefix+"X-Late", "unannounced")
	case "/empty":
		w.WriteHeader(http.StatusNoContent)
	case "/binary":
		h.Set("X-Empty", "")
		w.Write([]byte{0, 1, 2, 0xff, '\r', '\n', 0})
	case "/refused":
		http.Error(w, "no such item", http.StatusUnprocessableEntity)
	}
}

var dateLine = regexp.MustCompile(`(?m)^Date: .*\r\n`)

// send sends a request and returns the bytes of the answer, without the date.
func (s *shop) send(t *testing.T, path, body string) string {
	t.Helper()
	return exchange(t, s.addr, request(path, body))
}

func request(path, body string) string {
	return fmt.Sprintf("POST /%s HTTP/1.1\r\nHost: shop.example\r\nAuthorization: Bearer k1\r\nIdempotency-Key: \"order-%s\"\r\n"+
		"Content-Type: text/plain\r\nContent-Length: %d\r\nTE: trailers\r\nConnection: close\r\n\r\n%s", path, path, len(body), body)
}

func exchange(t *testing.T, addr, request string) string {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	return dateLine.ReplaceAllString(string(answer), "")
}

// status is the number in the first line of an answer.
func status(answer string) string {
	line, _, _ := strings.Cut(answer, "\r\n")
	_, code, _ := strings.Cut(line, " ")
	return code
}
