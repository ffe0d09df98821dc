package metrics_test

import (
	"io"
	"net/http/httptest"
	"os"
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

// The gauge ends at 0 in whatever order the events of concurrent saves arrive, and a
// save that got through late is an end like any other.
func TestPendingSaves(t *testing.T) {
	t.Parallel()
	m := metrics.New("test")
	pending := func(want string) {
		t.Helper()
		if text := scrape(m); !strings.Contains(text, "semel_background_saves_pending "+want+"\n") {
			t.Errorf("want %s pending:\n%s", want, text)
		}
	}
	m.Observe(semel.Event{Kind: semel.EventSaveRetry, Count: 2})
	m.Observe(semel.Event{Kind: semel.EventSaveRetry, Count: 1})
	pending("2")
	m.Observe(semel.Event{Kind: semel.EventSaveLost, Count: 0})
	m.Observe(semel.Event{Kind: semel.EventSaved, Operation: "POST", State: semel.StateDone, Count: 1, Duration: 7})
	pending("0")
	text := scrape(m)
	for _, want := range []string{`semel_finishes_total{operation="POST",state="done"} 1`, `semel_run_seconds_count{operation="POST"} 1`} {
		if !strings.Contains(text, want) {
			t.Errorf("missing %s:\n%s", want, text)
		}
	}
}

// increase() does not see the step from nothing to 1.
func TestCountersBeginAtZero(t *testing.T) {
	t.Parallel()
	m := metrics.New("test")
	m.Expect([]string{"POST", "POST capture"})
	text := scrape(m)
	for _, want := range []string{
		`semel_in_doubt_total{operation="POST"} 0`,
		`semel_in_doubt_total{operation="POST capture"} 0`,
		`semel_background_saves_lost_total{operation="POST"} 0`,
		`semel_unguarded_total{operation="POST"} 0`,
		`semel_finishes_total{operation="POST",state="in-doubt"} 0`,
		`semel_upstream_failures_total{code="upstream-no-answer"} 0`,
		`semel_self_checks_total{result="failed"} 0`,
		`semel_store_errors_total{call="claim"} 0`,
		`semel_config_reloads_total{result="failed"} 0`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("missing: %s", want)
		}
	}
}

// The guide says what each metric counts.
func TestGuideHasEveryMetric(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../../../../docs/gateway.md")
	if err != nil {
		t.Fatal(err)
	}
	m := metrics.New("test")
	m.Expect([]string{"POST"})
	m.Authorized("yes", 0)
	m.Observed("POST", "replay")
	for kind := semel.EventClaim; kind.String() != "unknown"; kind++ {
		m.Observe(semel.Event{Kind: kind})
	}
	names := regexp.MustCompile(`(?m)^(semel_[a-z_]+?)(_bucket|_sum|_count)?[ {]`).FindAllStringSubmatch(scrape(m), -1)
	if len(names) < 20 {
		t.Fatalf("%d series only", len(names))
	}
	for _, name := range names {
		if !strings.Contains(string(guide), "`"+name[1]+"`") {
			t.Errorf("docs/gateway.md does not say what %s is", name[1])
		}
	}
}
