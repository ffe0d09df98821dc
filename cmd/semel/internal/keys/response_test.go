package keys_test

import (
	"strings"
	"testing"

	"github.com/semel-go/semel/cmd/semel/internal/keys"
	"github.com/semel-go/semel/semelhttp"
)

func TestReadResponse(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, text   string
		status       int
		header, body string
	}{
		{"as curl -i prints it", "HTTP/1.1 201 Created\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello", 201, "Content-Type: text/plain", "hello"},
		{"line feeds alone", "HTTP/1.1 200 OK\nX-A: 1\n\nhello\n", 200, "X-A: 1", "hello\n"},
		{"HTTP/2", "HTTP/2 204 \r\nx-a: 1\r\n\r\n", 204, "X-A: 1", ""},
		{"interim response before it", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nX-A: 1\r\n\r\nok", 200, "X-A: 1", "ok"},
		{"chunks that curl has decoded", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5 apples", 200, "", "5 apples"},
		{"several values in order", "HTTP/1.1 200 OK\r\nX-B: 2\r\nX-A: 1\r\nX-B: 3\r\n\r\n", 200, "X-B: 2|X-A: 1|X-B: 3", ""},
		{"fields of one message", "HTTP/1.1 200 OK\nDate: today\nset-cookie: a=b\nConnection: close\nX-A: 1\n\n", 200, "X-A: 1", ""},
		{"an empty line in the body", "HTTP/1.1 200 OK\nX-A: 1\n\na\r\n\r\nb", 200, "X-A: 1", "a\r\n\r\nb"},
	} {
		stored, err := keys.ReadResponse(strings.NewReader(tc.text))
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		res, err := semelhttp.DecodeResponse(stored)
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		var header []string
		for _, h := range res.Header {
			header = append(header, h.Name+": "+h.Value)
		}
		if res.Status != tc.status || string(res.Body) != tc.body || strings.Join(header, "|") != tc.header {
			t.Errorf("%s: got %d %q %q", tc.name, res.Status, header, res.Body)
		}
	}
}

func TestReadResponseRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                            "no empty line",
		"hello\n\nworld":              "no HTTP response",
		`{"id": 7}`:                   "no empty line",
		"HTTP/1.1 200 OK\r\nX-A: 1":   "no empty line",
		"HTTP/1.1 999999 OK\r\n\r\n":  "no HTTP response",
		"HTTP/1.1 100 Continue\n\n":   "no empty line",
		"HTTP/1.1 200 OK\nX A: 1\n\n": "cannot be sent",
		"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello": "was cut, changed, or made with --compressed",
	} {
		if _, err := keys.ReadResponse(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

// What the parser accepts can be stored and read back.
func FuzzReadResponse(f *testing.F) {
	f.Add("HTTP/1.1 201 Created\r\nContent-Type: text/plain\r\n\r\nhello")
	f.Add("HTTP/2 204 \nx-a: 1\n\n")
	f.Add("HTTP/1.1 100 Continue\n\nHTTP/1.1 200 OK\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		stored, err := keys.ReadResponse(strings.NewReader(text))
		if err != nil {
			return
		}
		if _, err := semelhttp.DecodeResponse(stored); err != nil {
			t.Errorf("%q was accepted and cannot be replayed: %v", text, err)
		}
	})
}
