package upgrade

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/semel-go/semel/integration/internal/gateway"
)

const (
	gatewayStore  = "gateway.sqlite"
	gatewayAnswer = "gateway.http"
)

// throughGateway sends the request to a real gateway on the file, as often as told,
// and returns the last answer and how often the service was reached.
func throughGateway(t *testing.T, file string, times int) (answer string, reached int64) {
	t.Helper()
	binary, err := gateway.Build(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var runs atomic.Int64
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		runs.Add(1)
		w.Header()["Content-Type"], w.Header()["Location"] = []string{"text/plain"}, []string{"/orders/1"}
		w.WriteHeader(http.StatusCreated)
		io.WriteString(w, "order 1")
	}))
	defer service.Close()
	p := gateway.Start(t, binary, service.URL, file, "--principal", "header:Authorization", "--retention", "forever")
	for range times {
		answer = exchange(t, strings.TrimPrefix(p.URL, "http://"), request("orders", "one book"))
	}
	return answer, runs.Load()
}

// writeGateway makes the part of a fixture that a gateway wrote.
func writeGateway(t *testing.T, dir string) {
	t.Helper()
	answer, reached := throughGateway(t, filepath.Join(dir, gatewayStore), 2)
	if reached != 1 {
		t.Fatalf("the service was reached %d times", reached)
	}
	save(t, filepath.Join(dir, gatewayAnswer), []byte(answer))
}

// Today's gateway finds what an earlier one recorded (principal, key and fingerprint
// come out the same) and answers with it, byte for byte.
func TestGatewayReplaysWhatAnEarlierOneRecorded(t *testing.T) {
	t.Parallel()
	fixtures(t, func(t *testing.T, dir string) {
		answer, reached := throughGateway(t, copyOf(t, filepath.Join(dir, gatewayStore)), 1)
		if want := load(t, filepath.Join(dir, gatewayAnswer)); answer != want || reached != 0 {
			t.Errorf("the service was reached %d times; got\n%q\nwant\n%q", reached, answer, want)
		}
	})
}
