package semelhttp

import (
	"bufio"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"

	"github.com/semel-go/semel"
)

// goLive sends what was held back, after the record's policy was raised: a crash
// in mid-stream then leaves a doubt and not a second run. An error means that
// the answer stays back.
func (c *capture) goLive(must bool) error {
	if c.live {
		return nil
	}
	if err := c.raise(must); err != nil {
		return err
	}
	c.live = true
	c.sniffed = sniff(&c.memory.sent, c.status, c.memory.body)
	c.send()
	return nil
}

// raise raises the policy. A run that is fenced sends nothing any more. While the
// store is down a Flush can wait, so the answer stays back; a body that cannot be
// held any longer must go: should the process then die, the work runs again,
// which is what AtLeastOnce says.
func (c *capture) raise(must bool) error {
	err := c.run.HoldOnSilence(context.WithoutCancel(c.run.Context()))
	switch {
	case err == nil:
		return nil
	case errors.Is(err, semel.ErrFenced):
		c.fenced, c.ended = true, err
		return err
	}
	c.warn("semelhttp: the store is down while an answer wants to be streamed", slog.Bool("held_back", !must), slog.Any("error", err))
	if must {
		return nil
	}
	return err
}

// send gives header and body to the writer below.
func (c *capture) send() {
	m := c.memory
	h := c.under.Header()
	m.trailer.reset()
	if !m.sent.equal(h) { // the handler changed it after WriteHeader: only trailers count
		m.trailer.takeTrailers(h, &m.sent)
		m.sent.restore(h)
	}
	c.under.WriteHeader(c.status)
	if len(m.body) > 0 {
		if _, err := c.under.Write(m.body); err != nil {
			c.gone = true
		}
	}
	m.trailer.addTo(h)
}

// FlushError sends everything written so far. It returns [http.ErrNotSupported]
// where the writer below cannot, and in a transaction, and nil while the answer is still held back
// because the store is down.
func (c *capture) FlushError() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended != nil {
		return c.ended
	}
	flush := flusherOf(c.under)
	if flush == nil || c.held {
		return http.ErrNotSupported
	}
	if c.status == 0 {
		c.writeHeader(http.StatusOK)
	}
	if !c.live && c.backOff() || c.goLive(false) != nil {
		return c.ended
	}
	c.flushes = 0
	_, err := c.passed(0, 0, flush())
	return err
}

// backOff spares a store that is down: it is asked at the 1st, 2nd, 4th, 8th …
// Flush that it keeps back.
func (c *capture) backOff() bool {
	c.flushes++
	return c.flushes&(c.flushes-1) != 0
}

// Flush is FlushError for [http.Flusher].
func (c *capture) Flush() { _ = c.FlushError() }

// flusherOf finds what [http.ResponseController] would use.
func flusherOf(w http.ResponseWriter) func() error {
	for {
		switch t := w.(type) {
		case interface{ FlushError() error }:
			return t.FlushError
		case http.Flusher:
			return func() error { t.Flush(); return nil }
		case interface{ Unwrap() http.ResponseWriter }:
			w = t.Unwrap()
		default:
			return nil
		}
	}
}

// Hijack takes the connection over. What goes over it is not recorded: a retry
// learns result-unavailable.
func (c *capture) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended != nil {
		return nil, nil, c.ended
	}
	if c.held || !canHijack(c.under) {
		return nil, nil, http.ErrNotSupported
	}
	if err := c.holdBeforeHijack(); err != nil {
		return nil, nil, err
	}
	conn, rw, err := http.NewResponseController(c.under).Hijack()
	if err == nil {
		c.hijacked, c.ended = true, http.ErrHijacked
		c.forget()
	}
	return conn, rw, err
}

// holdBeforeHijack raises the policy, and sends a header that was written.
func (c *capture) holdBeforeHijack() error {
	if c.status != 0 {
		return c.goLive(false)
	}
	return c.raise(false)
}

func canHijack(w http.ResponseWriter) bool {
	for {
		switch t := w.(type) {
		case *headerWriter: // which can what the one below can
			w = t.ResponseWriter
		case http.Hijacker:
			return true
		case interface{ Unwrap() http.ResponseWriter }:
			w = t.Unwrap()
		default:
			return false
		}
	}
}

// bodyAllowed is false for the statuses that have no body (RFC 9110).
func bodyAllowed(status int) bool {
	return status >= 200 && status != http.StatusNoContent && status != http.StatusNotModified
}

// sniff returns the Content-Type that net/http sends by itself, if it does.
func sniff(sent *snapshot, status int, first []byte) string {
	_, typed := sent.get("Content-Type")
	_, coded := sent.get("Transfer-Encoding")
	encoding, _ := sent.get("Content-Encoding")
	if typed || coded || len(encoding) > 0 && encoding[0] != "" || len(first) == 0 || !bodyAllowed(status) {
		return ""
	}
	return http.DetectContentType(first)
}
