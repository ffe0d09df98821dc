package semelhttp_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// answers are handlers whose bare answer the guarded one must equal, and whose
// replay must equal both.
var answers = map[string]http.HandlerFunc{
	"nothing at all": func(http.ResponseWriter, *http.Request) {},
	"implicit 200":   func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "hello") },
	"sniffed html":   func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "<html><body>hi</body></html>") },
	"no sniffing": func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Content-Type"] = nil
		io.WriteString(w, "<html>")
	},
	"empty body":          func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusCreated) },
	"zero":                func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "0") },
	"false":               func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "false") },
	"null":                func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "null") },
	"binary":              func(w http.ResponseWriter, r *http.Request) { w.Write([]byte("\x00\xff\xfe\x80\r\n\x1f\x8b")) },
	"204":                 func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusNoContent) },
	"205":                 func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusResetContent) },
	"created":             created,
	"see other":           func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/done", http.StatusSeeOther) },
	"bad request":         func(w http.ResponseWriter, r *http.Request) { http.Error(w, "no", http.StatusBadRequest) },
	"conflict of its own": func(w http.ResponseWriter, r *http.Request) { http.Error(w, "mine", http.StatusConflict) },
	"multi-valued headers": func(w http.ResponseWriter, r *http.Request) {
		w.Header()["X-List"] = []string{"a, b", "c", "", "a, b"}
		w.WriteHeader(http.StatusOK)
	},
	"header twice": func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusAccepted)
		w.WriteHeader(http.StatusTeapot)
		w.Header().Set("X-Late", "no")
		io.WriteString(w, "first wins")
	},
	"late change of a header that was sent": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Kind", "sent")
		io.WriteString(w, "body")
		w.Header().Set("X-Kind", "late")
	},
	"encoded, untyped": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "identity")
		io.WriteString(w, "<html>")
	},
	"2048 bytes":  func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, strings.Repeat("x", 2048)) },
	"2049 bytes":  func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, strings.Repeat("x", 2049)) },
	"many writes": func(w http.ResponseWriter, r *http.Request) { writeLines(w, 1000) },
	"declared length": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "5")
		io.WriteString(w, "12345")
	},
	"unreadable length": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "many")
		io.WriteString(w, "12345")
	},
	"its own caching": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "private, max-age=60")
		io.WriteString(w, "ok")
	},
	"Flush": func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "<html>")
		w.(http.Flusher).Flush()
		writeLines(w, 3)
	},
	"Flush first": func(w http.ResponseWriter, r *http.Request) { w.(http.Flusher).Flush(); writeLines(w, 3) },
}

func created(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Location", "/charges/7")
	h.Set("ETag", `"v1"`)
	h.Set("Last-Modified", "Mon, 02 Jan 2006 15:04:05 GMT")
	h.Set("Content-Type", "application/vnd.charge+json; charset=utf-8")
	w.WriteHeader(http.StatusCreated)
	io.WriteString(w, `{"id":7}`)
}

func writeLines(w io.Writer, n int) {
	for i := range n {
		fmt.Fprintf(w, "line %d\n", i)
	}
}

// The first answer equals the bare handler's, header by header and byte by byte,
// and the replay equals it but for its marks and its framing.
//
// Field faults: 201 replayed as 200, Location and ETag lost; header values split on
// commas; binary body decoded as text; empty, 0, false, null results not stored;
// 303 after a POST treated as failure.
func TestAnswersAreTheBareOnes(t *testing.T) {
	t.Parallel()
	for _, h2 := range []bool{false, true} {
		for name, h := range answers {
			t.Run(fmt.Sprintf("h2 %v/%s", h2, name), func(t *testing.T) {
				t.Parallel()
				s := setup{h2: h2}
				bare := serve(t, &s, h)
				w := newWorld(t, &s, h)
				req := w.request("POST", "/charges", "b")
				req.URL.Host = bare.Listener.Addr().String()
				resp, err := bare.Client().Do(req)
				if err != nil {
					t.Fatal(err)
				}
				want, first, again := read(resp), w.post("b"), w.post("b")
				if wire(first) != wire(want) {
					t.Errorf("first answer\n%s\nbare answer\n%s", wire(first), wire(want))
				}
				replays(t, first, again)
				if withoutMarks(again) != withoutMarks(want) {
					t.Errorf("replay\n%s\nbare answer\n%s", withoutMarks(again), withoutMarks(want))
				}
				if len(again.Header["Cache-Control"]) != 1 {
					t.Errorf("Cache-Control: %q", again.Header["Cache-Control"])
				}
				if want.Header.Get("Cache-Control") == "" && again.Header.Get("Cache-Control") != "no-store" {
					t.Error("a shared cache could keep this replay")
				}
				w.ran(1)
			})
		}
	}
}

// wire is an answer with its framing.
func wire(r reply) string {
	return fmt.Sprintf("%s %v %d %v %v\n%s", r.Proto, r.TransferEncoding, r.ContentLength, r.Uncompressed, r.err, whole(r))
}

// withoutMarks is an answer without its framing and what only replays have.
func withoutMarks(r reply) string {
	h := r.Header.Clone()
	for _, name := range []string{"Idempotent-Replayed", "Idempotency-Key", "Content-Length"} {
		h.Del(name)
	}
	if h.Get("Cache-Control") == "no-store" {
		h.Del("Cache-Control")
	}
	r.Response = &http.Response{StatusCode: r.StatusCode, Header: h}
	return whole(r)
}

// Header injection: a line break in a value never becomes a header, in the first
// answer or in the replay.
func TestLineBreaksInValues(t *testing.T) {
	t.Parallel()
	for _, h2 := range []bool{false, true} {
		w := newWorld(t, &setup{h2: h2}, func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("X-Split", "a\r\nX-Injected: yes")
			rw.Header()["X-Name\r\nX-Injected"] = []string{"yes"}
			rw.WriteHeader(http.StatusOK)
		})
		first, again := w.post("b"), w.post("b")
		replays(t, first, again)
		for _, r := range []reply{first, again} {
			if r.Header.Get("X-Injected") != "" {
				t.Errorf("injected: %v", r.Header)
			}
		}
	}
}

// A broken answer is passed on as it is, and not replayed as a whole one.
func TestBrokenAnswers(t *testing.T) {
	t.Parallel()
	handlers := map[string]http.HandlerFunc{
		"less than declared": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "10")
			io.WriteString(w, "12345")
		},
		"more than declared": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "5")
			if n, err := io.WriteString(w, "1234567890"); n != 0 || err != http.ErrContentLength {
				t.Errorf("Write: %d, %v", n, err)
			}
		},
	}
	for name, h := range handlers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil, h)
			w.breaks("b")
			w.post("b").isProblem(t, 409, "result-unavailable")
			w.ran(1)
		})
	}
}

func TestWriteErrors(t *testing.T) {
	t.Parallel()
	late := make(chan http.ResponseWriter, 1)
	w := newWorld(t, nil, func(rw http.ResponseWriter, r *http.Request) {
		late <- rw
		rw.WriteHeader(http.StatusNoContent)
		if n, err := rw.Write([]byte("x")); n != 0 || err != http.ErrBodyNotAllowed {
			t.Errorf("Write with 204: %d, %v", n, err)
		}
		if n, err := rw.Write(nil); n != 0 || err != nil {
			t.Errorf("empty Write with 204: %d, %v", n, err)
		}
	})
	w.post("b").is(t, 204, "")
	rw := <-late
	if _, err := rw.Write([]byte("x")); err == nil {
		t.Error("Write after the handler returned")
	}
	rw.WriteHeader(http.StatusTeapot)
	if err := http.NewResponseController(rw).Flush(); err == nil {
		t.Error("Flush after the handler returned")
	}
}

// An impossible status panics as it does without Semel, and frees the key.
func TestInvalidStatusPanics(t *testing.T) {
	t.Parallel()
	var rc recoverer
	w := newWorld(t, &setup{outer: rc.wrap}, func(rw http.ResponseWriter, r *http.Request) { rw.WriteHeader(7) })
	w.post("b").is(t, 500, "recovered")
	if len(rc.values) != 1 || !strings.Contains(fmt.Sprint(rc.values[0]), "invalid WriteHeader code 7") {
		t.Errorf("recovered %v", rc.values)
	}
}
