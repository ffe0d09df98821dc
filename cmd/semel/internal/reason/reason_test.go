package reason_test

import (
	"bufio"
	"fmt"
	"net/http"
	"net/textproto"
	"strings"
	"testing"

	"github.com/semel-go/semel/cmd/semel/internal/reason"
)

// A peer's answer may be anybody's data: none of it is in a log.
func TestNothingIsQuoted(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{"HTTP/1.1 200 OK\r\nX-User CANARY\r\n\r\n", "CANARY\r\n\r\n", "HTTP/1.1 CANARY OK\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: CANARY\r\n\r\n"} {
		_, err := http.ReadResponse(bufio.NewReader(strings.NewReader(answer)), nil)
		if err == nil || !strings.Contains(err.Error(), "CANARY") {
			t.Fatalf("%q: %v tells nothing anyway", answer, err)
		}
		if text := reason.Of(fmt.Errorf("the transport says: %w", err)); text == "" || strings.Contains(text, "CANARY") {
			t.Errorf("%q: told as %q", answer, text)
		}
	}
	// Not all of them are in quotes.
	if text := reason.Of(fmt.Errorf("the transport says: %w", textproto.ProtocolError("malformed line: CANARY"))); strings.Contains(text, "CANARY") {
		t.Errorf("a line without quotes: told as %q", text)
	}
}
