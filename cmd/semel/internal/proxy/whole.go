package proxy

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Answers of unknown length are held back for this long, so that short ones are
// recorded before their first byte goes out.
const answerPatience = 250 * time.Millisecond

// whole reads an answer that will be recorded before any of it is passed on, so
// that a cut one is never taken for whole. Event streams, and what is too long
// or too slow, pass as they come.
func (j *judge) whole(res *http.Response) error {
	if isStream(res) || res.ContentLength > j.maxBody {
		res.Body = &liveBody{ReadCloser: res.Body, cut: func(err error) { j.cut(res.Request, err) }}
		return nil
	}
	if res.ContentLength == 0 || res.Body == http.NoBody {
		return nil
	}
	data, rest, err := j.read(res)
	if err != nil {
		return &silence{written: true, err: fmt.Errorf("the answer was cut: %w", err)}
	}
	if rest != nil {
		res.Body = &liveBody{ReadCloser: withClose(rest, res.Body), cut: func(err error) { j.cut(res.Request, err) }}
		return nil
	}
	res.Body = withClose(bytes.NewReader(data), res.Body)
	res.ContentLength = int64(len(data))
	return nil
}

func (j *judge) read(res *http.Response) ([]byte, io.Reader, error) {
	if res.ContentLength < 0 {
		return readAhead(res.Body, j.maxBody, answerPatience)
	}
	data := make([]byte, res.ContentLength)
	_, err := io.ReadFull(res.Body, data)
	return data, nil, err
}

// isStream reports whether the answer is an event stream, which ReverseProxy
// flushes event by event.
func isStream(res *http.Response) bool {
	const kind = "text/event-stream"
	got := res.Header.Get("Content-Type")
	return len(got) >= len(kind) && strings.EqualFold(got[:len(kind)], kind)
}

// liveBody is an answer that goes out as it comes. cut is told when it breaks.
type liveBody struct {
	io.ReadCloser
	cut func(error)
}

func (b *liveBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		b.cut(err)
	}
	return n, err
}

// withClose reads from r and closes c.
func withClose(r io.Reader, c io.Closer) io.ReadCloser {
	return struct {
		io.Reader
		io.Closer
	}{r, c}
}
