package semelhttp_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/semel-go/semel/semelhttp"
)

// oneWay is a body that can be read once, and tells whether it was closed.
type oneWay struct {
	io.Reader
	closed bool
}

func (b *oneWay) Close() error {
	b.closed = true
	return nil
}

func streamOf(t *testing.T, body io.ReadCloser, length int64) *http.Request {
	t.Helper()
	req := chargeOf(t, "")
	req.Body, req.GetBody, req.ContentLength = body, nil, length
	return req
}

// A body that can be read once is kept, so that each try has the same bytes.
func TestTransportKeepsStreamedBodies(t *testing.T) {
	t.Parallel()
	for _, length := range []int64{-1, 0, 9} {
		synctest.Test(t, func(t *testing.T) {
			w := &link{answer: inTurn(lost, lost, withStatus(200))}
			body := &oneWay{Reader: strings.NewReader("read once")}
			if _, err := newTransport(t, w, nil).RoundTrip(streamOf(t, body, length)); err != nil {
				t.Fatal(err)
			}
			for _, s := range w.sent {
				if s.body != "read once" || s.length != 9 {
					t.Errorf("sent %q of %d bytes", s.body, s.length)
				}
			}
			if len(w.sent) != 3 || !body.closed {
				t.Errorf("%d tries, the caller's body closed: %v", len(w.sent), body.closed)
			}
		})
	}
}

// GetBody is used instead of memory, whatever the size.
func TestTransportOpensBodiesAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		opened := 0
		w := &link{answer: inTurn(lost, withStatus(200))}
		req := streamOf(t, &oneWay{Reader: strings.NewReader("unused")}, 5)
		req.GetBody = func() (io.ReadCloser, error) {
			opened++
			return io.NopCloser(strings.NewReader("again")), nil
		}
		if _, err := newTransport(t, w, &semelhttp.TransportOptions{MaxBody: 2}).RoundTrip(req); err != nil {
			t.Fatal(err)
		}
		if opened != 2 || w.sent[0].body != "again" || w.sent[1].body != "again" {
			t.Errorf("opened %d times, sent %v", opened, w.sent)
		}
	})
}

// What cannot be sent twice is not sent once.
func TestTransportRefusesBodies(t *testing.T) {
	t.Parallel()
	failed := errors.New("disk failed")
	for name, c := range map[string]struct {
		body   io.Reader
		length int64
		says   string
	}{
		"too large":            {strings.NewReader("0123456789"), -1, "raise MaxBody"},
		"said to be too large": {strings.NewReader(""), 10, "raise MaxBody"},
		"shorter than said":    {strings.NewReader("0123"), 8, "ContentLength"},
		"longer than said":     {strings.NewReader("0123456"), 3, "ContentLength"},
		"unreadable":           {io.MultiReader(strings.NewReader("01"), brokenReader{failed}), -1, "disk failed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &link{answer: inTurn(withStatus(200))}
			body := &oneWay{Reader: c.body}
			_, err := newTransport(t, w, &semelhttp.TransportOptions{MaxBody: 8}).RoundTrip(streamOf(t, body, c.length))
			if err == nil || !strings.Contains(err.Error(), c.says) || len(w.sent) != 0 || !body.closed {
				t.Errorf("got %v after %d tries, body closed %v; want an error with %q before anything is sent", err, len(w.sent), body.closed, c.says)
			}
			if _, ok := errors.AsType[*semelhttp.NoAnswerError](err); ok {
				t.Error("the error says that something was sent")
			}
		})
	}
}

type brokenReader struct{ err error }

func (b brokenReader) Read([]byte) (int, error) { return 0, b.err }

// An answer that breaks off is no answer.
func TestTransportAsksAgainForCutAnswers(t *testing.T) {
	t.Parallel()
	for name, media := range map[string]string{"of known length": "text/plain", "JSON of unknown length": "application/json"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				cutHalf := func() (*http.Response, error) {
					resp := answerOf(201, `{"id":1}`, "Content-Type", media)
					resp.Body = io.NopCloser(io.MultiReader(strings.NewReader(`{"i`), brokenReader{io.ErrUnexpectedEOF}))
					if media == "application/json" {
						resp.ContentLength = -1
					}
					return resp, nil
				}
				whole := func() (*http.Response, error) { return answerOf(201, `{"id":1}`, "Content-Type", media), nil }
				w := &link{answer: inTurn(cutHalf, whole)}
				resp, err := newTransport(t, w, nil).RoundTrip(chargeOf(t, ""))
				if err != nil {
					t.Fatal(err)
				}
				if body, err := io.ReadAll(resp.Body); string(body) != `{"id":1}` || err != nil || len(w.sent) != 2 {
					t.Errorf("read %q, %v after %d tries", body, err, len(w.sent))
				}
			})
		})
	}
}

// What is streamed, or longer than MaxAnswer, is returned as it comes.
func TestTransportDoesNotHoldStreams(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		media  string
		length int64
		begun  string // what comes of it, before it stands still
	}{
		"events":                 {"text/event-stream", -1, "01"},
		"text of unknown length": {"text/plain", -1, "01"},
		"long":                   {"application/json", 1 << 20, "01"},
		"long JSON":              {"application/json", -1, "0123456789"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r, wr := io.Pipe()
				go io.WriteString(wr, c.begun)
				w := &link{answer: func(int, *http.Request) (*http.Response, error) {
					resp := answerOf(200, "", "Content-Type", c.media)
					resp.Body, resp.ContentLength = r, c.length
					return resp, nil
				}}
				resp, err := newTransport(t, w, &semelhttp.TransportOptions{MaxAnswer: 4}).RoundTrip(chargeOf(t, ""))
				if err != nil {
					t.Fatal(err)
				}
				got := make([]byte, len(c.begun))
				if _, err := io.ReadFull(resp.Body, got); err != nil || string(got) != c.begun {
					t.Errorf("read %q, %v", got, err)
				}
				resp.Body.Close()
			})
		})
	}
}

// Answers that are not returned free their connections.
func TestTransportClosesWhatItDoesNotReturn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		unwanted := &oneWay{Reader: strings.NewReader("busy")}
		busy := func() (*http.Response, error) {
			resp := answerOf(503, "", "Content-Type", "text/plain")
			resp.Body, resp.ContentLength = unwanted, -1
			return resp, nil
		}
		w := &link{answer: inTurn(busy, withStatus(200))}
		if _, err := newTransport(t, w, nil).RoundTrip(chargeOf(t, "")); err != nil || !unwanted.closed {
			t.Errorf("got %v, the first answer closed: %v", err, unwanted.closed)
		}
	})
}

// Trailers are sent after the body, which then goes in chunks.
func TestTransportSendsTrailers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		io.WriteString(rw, string(body)+r.Trailer.Get("X-Sum"))
	})
	req := w.request("POST", "/charges", "")
	req.Body, req.GetBody, req.ContentLength = io.NopCloser(strings.NewReader("body ")), nil, -1
	req.Trailer = http.Header{"X-Sum": {"sum"}}
	resp, err := newTransport(t, w.srv.Client().Transport, nil).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	read(resp).is(t, 200, "body sum")
}

// The buffer is the transport's: who changes his own afterwards changes nothing.
func TestTransportOwnsItsBytes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		mine := []byte("ten")
		w := &link{}
		w.answer = func(n int, _ *http.Request) (*http.Response, error) {
			copy(mine, "one")
			return inTurn(lost, withStatus(200))(n, nil)
		}
		if _, err := newTransport(t, w, nil).RoundTrip(streamOf(t, io.NopCloser(bytes.NewReader(mine)), 3)); err != nil {
			t.Fatal(err)
		}
		if w.sent[1].body != "ten" {
			t.Errorf("the second try sent %q", w.sent[1].body)
		}
	})
}
