package proxy

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/cmd/semel/internal/metrics"
)

// A run that vanished leaves no line of its own: the request that meets its doubt
// does, once a minute, however often it comes.
func TestDoubtIsToldOnceAMinute(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	d := newDoubtLog(metrics.New("test"), slog.New(slog.NewTextHandler(&out, nil)))
	now := time.Unix(1e9, 0)
	d.now = func() time.Time { return now }
	meet := func(key string, lines int) {
		t.Helper()
		out.Reset()
		id := semel.KeyOf(semel.Scope{Principal: semel.Global}, key).ID()
		d.Observe(semel.Event{Kind: semel.EventInDoubt, Key: id, Operation: "POST capture"})
		if n := strings.Count(out.String(), "record="+id.String()+` operation="POST capture"`); n != lines {
			t.Errorf("%s: %d lines, want %d: %s", key, n, lines, out.String())
		}
	}
	meet("a", 1)
	meet("a", 0)
	meet("b", 1)
	now = now.Add(time.Minute)
	meet("a", 1)
	d.Observe(semel.Event{Kind: semel.EventReplay})
	if strings.Count(out.String(), "\n") != 1 {
		t.Errorf("a replay is told: %s", out.String())
	}
}
