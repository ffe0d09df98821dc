package proxy

import (
	"errors"
	"io"
	"sync"
	"time"
)

// readAhead reads src until it ends, holds more than limit bytes, or patience is
// over. It returns the bytes if src ended in time. Otherwise data is nil and
// rest yields everything, what was read included; a source that failed gives
// its error. The caller closes src when done with rest.
func readAhead(src io.Reader, limit int64, patience time.Duration) (data []byte, rest io.Reader, err error) {
	a := &ahead{src: src, limit: limit, done: make(chan struct{})}
	go a.fill()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-a.done:
	case <-timer.C:
		a.stop()
		return nil, a, nil
	}
	switch {
	case a.err == nil:
		return nil, a, nil
	case errors.Is(a.err, io.EOF):
		return a.buf, nil, nil
	}
	return nil, nil, a.err
}

// ahead is a source that a goroutine reads into a buffer until it is stopped.
// From then on Read serves the buffer, waits for the read under way, and goes on
// with the source itself.
type ahead struct {
	src   io.Reader
	limit int64
	done  chan struct{} // closed when fill has returned

	mu      sync.Mutex
	buf     []byte
	err     error // of src; set once
	stopped bool
}

const aheadChunk = 4 << 10

func (a *ahead) fill() {
	defer close(a.done)
	chunk := make([]byte, aheadChunk)
	for {
		n, err := a.src.Read(chunk)
		if !a.add(chunk[:n], err) {
			return
		}
	}
}

// add keeps what was read and reports whether to read on.
func (a *ahead) add(p []byte, err error) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.buf = append(a.buf, p...)
	a.err = err
	return err == nil && !a.stopped && int64(len(a.buf)) <= a.limit
}

func (a *ahead) stop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stopped = true
}

// Read serves what was read ahead, then the source.
func (a *ahead) Read(p []byte) (int, error) {
	if n := a.take(p); n > 0 {
		return n, nil
	}
	<-a.done
	if n := a.take(p); n > 0 {
		return n, nil
	}
	if a.err != nil {
		return 0, a.err
	}
	return a.src.Read(p)
}

func (a *ahead) take(p []byte) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := copy(p, a.buf)
	a.buf = a.buf[n:]
	return n
}
