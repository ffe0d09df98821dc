package metrics_test

import (
	"io"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/cmd/semel/internal/metrics"
)

var own = regexp.MustCompile(`(?m)^semel_.*$`)

func scrape(m *metrics.Metrics) string {
	rec := httptest.NewRecorder()
	m.Handler().ServeHTTP(rec, httptest.NewRequest("GET", "/metrics", nil))
	body, _ := io.ReadAll(rec.Body)
	var text strings.Builder
	for _, line := range own.FindAllString(string(body), -1) {
		text.WriteString(line + "\n")
	}
	return text.String()
}

// A kind of event that is added to the engine must not be forgotten here.
func TestEveryEventShows(t *testing.T) {
	t.Parallel()
	for kind := semel.EventClaim; kind.String() != "unknown"; kind++ {
		m := metrics.New("test")
		before := scrape(m)
		m.Observe(semel.Event{Kind: kind, Operation: "POST", Call: "claim", Count: 3, Bytes: 5, Duration: 7, State: semel.StateDone})
		if scrape(m) == before {
			t.Errorf("the event %v changes no metric", kind)
		}
	}
}

// A fenced owner is the store's right answer, not its failure.
func TestFencedIsNoStoreError(t *testing.T) {
	t.Parallel()
	m := metrics.New("test")
	m.Observe(semel.Event{Kind: semel.EventStoreCall, Call: "finish", Err: semel.ErrFenced})
	failed := regexp.MustCompile(`semel_store_errors_total\{call="finish"\} 1`)
	if failed.MatchString(scrape(m)) {
		t.Error("ErrFenced counts as a store error")
	}
	m.Observe(semel.Event{Kind: semel.EventStoreCall, Call: "finish", Err: semel.ErrNoReply})
	if !failed.MatchString(scrape(m)) {
		t.Error("ErrNoReply does not count as a store error")
	}
}
