package semelhttp

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"sync"

	"github.com/semel-go/semel"
)

// capture is the ResponseWriter that a guarded handler gets. It holds the answer
// back until the handler is done, so that it is saved before its first byte goes
// out. The first Flush, or a body over the limit, makes it live: it then passes
// everything on and goes on recording up to the limit.
//
// The header map is the one of the writer below, so that nothing is copied;
// snapshots know what it was when the handler began and when the header went
// out. Its lock keeps goroutines that outlive their handler away from memory that
// another request uses by then.
type capture struct {
	m     *middleware
	run   *semel.Run
	key   semel.KeyID
	under http.ResponseWriter

	mu       sync.Mutex
	memory   *scratch
	status   int   // 0: the handler has not said
	declared int64 // Content-Length, or -1
	written  int64
	sniffed  string // Content-Type that net/http finds out for the client
	held     bool   // nothing goes out before the end, whatever its size
	over     bool   // the body is over the limit, and held all the same
	live     bool
	hijacked bool
	fenced   bool  // found out before the end
	lossy    bool  // the body is not recorded
	gone     bool  // the client's connection failed
	flushes  int   // while the store kept the answer back
	ended    error // what the handler is told from now on
}

func (c *capture) begin(m *middleware, run *semel.Run, under http.ResponseWriter, memory *scratch) {
	c.m, c.run, c.under, c.memory, c.declared = m, run, under, memory, -1
	memory.body = memory.body[:0]
	memory.entry.take(under.Header())
	memory.sent.reset()
}

// Header is the header map; see [http.ResponseWriter].
func (c *capture) Header() http.Header { return c.under.Header() }

// Unwrap is for [http.ResponseController]: deadlines and full duplex are the
// matter of the writer below.
func (c *capture) Unwrap() http.ResponseWriter { return c.under }

// WriteHeader records the status. Informational answers pass through and are not
// recorded.
func (c *capture) WriteHeader(status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended != nil {
		return
	}
	c.writeHeader(status)
}

func (c *capture) writeHeader(status int) {
	informational := status >= 100 && status <= 199 && status != http.StatusSwitchingProtocols
	switch {
	case c.live:
		c.under.WriteHeader(status) // which says what is wrong about it
	case c.status != 0:
	case informational, status < 100, status > 999: // the last two are for net/http to panic about
		c.under.Header().Del(c.m.opts.ReplayedHeader)
		c.under.WriteHeader(status)
	default:
		c.status = status
		c.under.Header().Del(c.m.opts.ReplayedHeader)
		c.memory.sent.take(c.under.Header())
		c.declared = c.declaredLength()
	}
}

// declaredLength reads Content-Length as net/http does: one that is no number
// counts for nothing.
func (c *capture) declaredLength() int64 {
	lines, _ := c.memory.sent.get("Content-Length")
	if len(lines) == 0 {
		return -1
	}
	n, err := strconv.ParseInt(lines[0], 10, 64)
	if err != nil || n < 0 {
		return -1
	}
	return n
}

// Write is [http.ResponseWriter]'s, with the errors of net/http:
// [http.ErrBodyNotAllowed], [http.ErrContentLength], [http.ErrHijacked].
func (c *capture) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	pass, err := c.admit(len(p))
	if err != nil {
		return 0, err
	}
	if !c.lossy {
		c.memory.body = append(c.memory.body, p...)
	}
	if !pass {
		return len(p), nil
	}
	n, err := c.under.Write(p)
	return c.passed(len(p), n, err)
}

// WriteString is Write without a copy.
func (c *capture) WriteString(s string) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	pass, err := c.admit(len(s))
	if err != nil {
		return 0, err
	}
	if !c.lossy {
		c.memory.body = append(c.memory.body, s...)
	}
	if !pass {
		return len(s), nil
	}
	n, err := io.WriteString(c.under, s)
	return c.passed(len(s), n, err)
}

// admit checks a write of n bytes, implies the header, and makes an answer live
// that cannot be held. It says whether the bytes are to be passed on now.
func (c *capture) admit(n int) (pass bool, err error) {
	if c.ended != nil {
		return false, c.ended
	}
	if c.status == 0 {
		c.writeHeader(http.StatusOK)
	}
	if n == 0 {
		return false, nil
	}
	if !bodyAllowed(c.status) {
		return false, http.ErrBodyNotAllowed
	}
	c.written += int64(n)
	if c.declared >= 0 && c.written > c.declared {
		return false, http.ErrContentLength
	}
	if c.held {
		c.over = c.over || !c.fits(n)
		return false, nil
	}
	if !c.lossy && !c.fits(n) {
		if err := c.goLive(true); err != nil {
			return false, err
		}
		c.forget()
	}
	return c.live && (c.lossy || !c.gone), nil
}

// fits says whether the body can be recorded with n more bytes. One that
// declares too much is not begun.
func (c *capture) fits(n int) bool {
	limit := c.m.opts.MaxResponseBody
	return len(c.memory.body)+n <= limit && c.declared <= int64(limit)
}

// passed makes of a write to the client what the handler is told. While the
// answer is being recorded, a client that has gone is no reason to stop.
func (c *capture) passed(n, sent int, err error) (int, error) {
	if err != nil && !c.lossy {
		c.gone = true
		return n, nil
	}
	return sent, err
}

// forget gives recording up.
func (c *capture) forget() {
	c.lossy = true
	c.memory.body = c.memory.body[:0]
}

// errHandlerDone is what goroutines get that write after their handler.
var errHandlerDone = errors.New("semelhttp: the handler has returned")

// close ends what the handler can write, and implies the header of one that wrote
// nothing.
func (c *capture) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.status == 0 && !c.hijacked && c.ended == nil {
		c.writeHeader(http.StatusOK)
	}
	c.ended = errHandlerDone
}

// abandon is close for a handler that did not return. It reports whether the
// handler had said something.
func (c *capture) abandon() (said bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = errHandlerDone
	return c.status != 0
}

// sendHeld sends an answer that was held back until it was saved.
func (c *capture) sendHeld() {
	if c.unsent() {
		c.send()
	}
}

// unsent reports whether another answer can still be given.
func (c *capture) unsent() bool { return !c.live && !c.hijacked }

// warn logs about the run; the key goes in as its short hash only.
func (c *capture) warn(msg string, attrs ...slog.Attr) {
	attrs = append(attrs, slog.String("key", c.key.Short()), slog.Int64("fence", int64(c.run.Fence())), slog.Int("attempt", c.run.Attempt()))
	c.m.opts.Logger.LogAttrs(context.WithoutCancel(c.run.Context()), slog.LevelWarn, msg, attrs...)
}

var _ interface {
	http.ResponseWriter
	http.Flusher
	http.Hijacker
	io.ReaderFrom
	io.StringWriter
} = (*capture)(nil)
