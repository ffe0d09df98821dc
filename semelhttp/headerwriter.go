package semelhttp

import (
	"bufio"
	"io"
	"net"
	"net/http"
)

// headerWriter passes everything on as it comes. It calls before, if that is set,
// just before the header of the final answer goes out, and remembers what went.
type headerWriter struct {
	http.ResponseWriter
	before   func()
	status   int   // 0: nothing was said
	written  int64 // bytes of the body
	hijacked bool
}

// Unwrap is for [http.ResponseController].
func (w *headerWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader is [http.ResponseWriter]'s.
func (w *headerWriter) WriteHeader(status int) {
	if w.status == 0 && (status >= 200 || status == http.StatusSwitchingProtocols) {
		w.say(status)
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *headerWriter) say(status int) {
	w.status = status
	if w.before != nil {
		w.before()
	}
}

// imply says the header of a handler that has written none.
func (w *headerWriter) imply() {
	if w.status == 0 && !w.hijacked {
		w.say(http.StatusOK)
	}
}

// Write is [http.ResponseWriter]'s.
func (w *headerWriter) Write(p []byte) (int, error) {
	w.imply()
	n, err := w.ResponseWriter.Write(p)
	w.written += int64(n)
	return n, err
}

// WriteString is Write without a copy.
func (w *headerWriter) WriteString(s string) (int, error) {
	w.imply()
	n, err := io.WriteString(w.ResponseWriter, s)
	w.written += int64(n)
	return n, err
}

// ReadFrom lets the writer below use sendfile.
func (w *headerWriter) ReadFrom(src io.Reader) (int64, error) {
	w.imply()
	n, err := io.Copy(w.ResponseWriter, src)
	w.written += n
	return n, err
}

// FlushError is [http.ResponseController]'s.
func (w *headerWriter) FlushError() error {
	flush := flusherOf(w.ResponseWriter)
	if flush == nil {
		return http.ErrNotSupported
	}
	w.imply()
	return flush()
}

// Flush is FlushError for [http.Flusher].
func (w *headerWriter) Flush() { _ = w.FlushError() }

// Hijack is [http.Hijacker]'s.
func (w *headerWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(w.ResponseWriter).Hijack()
	w.hijacked = w.hijacked || err == nil
	return conn, rw, err
}
