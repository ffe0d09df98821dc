package semelhttp_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/semel-go/semel/semelhttp"
)

// gaps are the waits between the tries.
func (w *link) gaps() (gaps []time.Duration) {
	for i := 1; i < len(w.sent); i++ {
		gaps = append(gaps, w.sent[i].at.Sub(w.sent[i-1].at))
	}
	return gaps
}

// Full jitter: each wait lies below a bound that doubles, up to MaxBackoff; and
// they are not all the same.
func TestTransportBacksOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const base, most = 100 * time.Millisecond, time.Second
		longest, shortest := make([]time.Duration, 7), make([]time.Duration, 7)
		for range 300 {
			w := &link{answer: inTurn(lost, lost, lost, lost, lost, lost, lost, withStatus(200))}
			tr := newTransport(t, w, &semelhttp.TransportOptions{Backoff: base, MaxBackoff: most})
			if _, err := tr.RoundTrip(chargeOf(t, "")); err != nil {
				t.Fatal(err)
			}
			for i, gap := range w.gaps() {
				longest[i] = max(longest[i], gap)
				if shortest[i] == 0 || gap < shortest[i] {
					shortest[i] = gap
				}
			}
		}
		for i := range longest {
			bound := min(base<<i, most)
			if longest[i] >= bound || longest[i] < bound*8/10 || shortest[i] > bound*2/10 {
				t.Errorf("wait %d lay between %v and %v, want it spread below %v", i, shortest[i], longest[i], bound)
			}
		}
	})
}

func TestTransportObeysRetryAfter(t *testing.T) {
	t.Parallel()
	date := time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC) // a clock that is years ahead of ours
	for name, header := range map[string][]string{
		"seconds": {"Retry-After", "7"},
		"a date by the server's clock": {"Retry-After", date.Add(7 * time.Second).Format(http.TimeFormat),
			"Date", date.Format(http.TimeFormat)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := &link{answer: inTurn(withStatus(503, header...), withStatus(200))}
				if _, err := newTransport(t, w, nil).RoundTrip(chargeOf(t, "")); err != nil {
					t.Fatal(err)
				}
				if gap := w.gaps()[0]; gap < 7*time.Second || gap >= 7*time.Second+100*time.Millisecond {
					t.Errorf("waited %v, want 7s and up to 100ms", gap)
				}
			})
		})
	}
}

// No try begins after the horizon, and the last answer is returned.
func TestTransportStopsAtTheHorizon(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &link{answer: inTurn(withStatus(503))}
		start := time.Now()
		resp, err := newTransport(t, w, &semelhttp.TransportOptions{Horizon: 20 * time.Second}).RoundTrip(chargeOf(t, ""))
		if err != nil || resp.StatusCode != 503 || len(w.sent) < 3 {
			t.Fatalf("got %v %v after %d tries, want the last 503 after several", resp, err, len(w.sent))
		}
		if last := w.sent[len(w.sent)-1].at; last.Sub(start) > 20*time.Second || last.Sub(start) < 10*time.Second {
			t.Errorf("the last try began after %v, want it in the second half of 20s", last.Sub(start))
		}
	})
}

// A Retry-After beyond the horizon is not waited for.
func TestTransportReturnsWhatItCannotWaitFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &link{answer: inTurn(withStatus(503, "Retry-After", "3600"))}
		start := time.Now()
		resp, err := newTransport(t, w, nil).RoundTrip(chargeOf(t, ""))
		if err != nil || resp.StatusCode != 503 || len(w.sent) != 1 || time.Since(start) != 0 {
			t.Errorf("got %v %v after %d tries and %v, want the 503 at once", resp, err, len(w.sent), time.Since(start))
		}
	})
}

// Without any answer the caller learns so, with the key to ask again.
func TestTransportNoAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &link{answer: inTurn(lost)}
		_, err := newTransport(t, w, nil).RoundTrip(chargeOf(t, ""))
		noAnswer, ok := errors.AsType[*semelhttp.NoAnswerError](err)
		if !ok || !errors.Is(err, errCut) || noAnswer.Key != w.sent[0].key() || noAnswer.Tries != len(w.sent) {
			t.Errorf("got %v, want a NoAnswerError with the key and %d tries", err, len(w.sent))
		}
	})
}

func TestTransportCancelledWhileItWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		w := &link{answer: inTurn(withStatus(503, "Retry-After", "10"))}
		time.AfterFunc(3*time.Second, cancel)
		start := time.Now()
		_, err := newTransport(t, w, nil).RoundTrip(chargeOf(t, "").WithContext(ctx))
		if !errors.Is(err, context.Canceled) || time.Since(start) != 3*time.Second || len(w.sent) != 1 {
			t.Errorf("got %v after %v and %d tries, want context.Canceled after 3s and 1", err, time.Since(start), len(w.sent))
		}
	})
}

// Nobody is kept waiting for a try that his deadline forbids.
func TestTransportDeadlineOfTheCaller(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		w := &link{answer: inTurn(withStatus(503, "Retry-After", "10"))}
		start := time.Now()
		resp, err := newTransport(t, w, nil).RoundTrip(chargeOf(t, "").WithContext(ctx))
		if err != nil || resp.StatusCode != 503 || time.Since(start) != 0 {
			t.Errorf("got %v %v after %v, want the 503 at once", resp, err, time.Since(start))
		}
	})
}

// A silent try is given up, the next one gets the answer; the context of a try
// that was answered lives until its body is closed.
func TestTransportTryTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var second context.Context
		w := &link{answer: func(n int, r *http.Request) (*http.Response, error) {
			if n == 1 {
				<-r.Context().Done()
				return nil, r.Context().Err()
			}
			second = r.Context()
			stream := answerOf(200, "event", "Content-Type", "text/event-stream")
			stream.ContentLength = -1
			return stream, nil
		}}
		start := time.Now()
		resp, err := newTransport(t, w, &semelhttp.TransportOptions{TryTimeout: 4 * time.Second}).RoundTrip(chargeOf(t, ""))
		if err != nil || len(w.sent) != 2 || time.Since(start) < 4*time.Second || time.Since(start) > 5*time.Second {
			t.Fatalf("got %v after %d tries and %v, want an answer after 2 and 4s", err, len(w.sent), time.Since(start))
		}
		<-time.After(time.Minute) // a slow reader, in the bubble's time
		if second.Err() != nil {
			t.Error("the stream was cut by TryTimeout")
		}
		if body, _ := io.ReadAll(resp.Body); string(body) != "event" {
			t.Errorf("read %q", body)
		}
		resp.Body.Close()
		if second.Err() == nil {
			t.Error("the try's context outlives its body")
		}
	})
}

func TestTransportTryTimeoutIsATimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &link{answer: func(_ int, r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}}
		_, err := newTransport(t, w, &semelhttp.TransportOptions{TryTimeout: time.Second, Horizon: 5 * time.Second}).RoundTrip(chargeOf(t, ""))
		timeout, ok := errors.AsType[interface {
			error
			Timeout() bool
		}](err)
		if !ok || !timeout.Timeout() {
			t.Errorf("got %v, want a timeout", err)
		}
	})
}
