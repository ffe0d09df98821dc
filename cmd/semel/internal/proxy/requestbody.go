package proxy

import (
	"bytes"
	"io"
	"net/http"
	"time"

	"github.com/semel-go/semel/semelhttp"
)

const (
	// Bodies up to this size are read before the request goes upstream.
	smallBody = 256 << 10
	// Bodies of unknown length are waited for this long.
	bodyPatience = 250 * time.Millisecond
)

// bodyFirst reads small bodies of unguarded requests before next sees them
// (semelhttp does so for guarded ones): while net/http's transport still reads a
// request, an answer that is already streaming can be cut.
//
// HTTP/2 requests of unknown length are left alone: they may be the client's
// half of a conversation.
//
// One of known length may take timeout, 0 for ever.
func bodyFirst(next http.Handler, timeout time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !wantsBodyFirst(r) {
			next.ServeHTTP(w, r)
			return
		}
		body, err := smallFirst(w, r, timeout)
		if err != nil {
			w.Header().Set("Connection", "close")
			semelhttp.WriteProblem(w, semelhttp.NewProblem(semelhttp.CodeIncompleteBody))
			return
		}
		r = r.WithContext(r.Context()) // a copy: the request is the server's
		r.Body = withClose(body, r.Body)
		next.ServeHTTP(w, r)
	})
}

// smallFirst returns the body of r, read already if it is small. One of known
// length is waited for.
func smallFirst(w http.ResponseWriter, r *http.Request, timeout time.Duration) (io.Reader, error) {
	if r.ContentLength < 0 {
		data, rest, err := readAhead(r.Body, smallBody, bodyPatience)
		if rest != nil || err != nil {
			return rest, err
		}
		return bytes.NewReader(data), nil
	}
	if timeout > 0 {
		http.NewResponseController(w).SetReadDeadline(time.Now().Add(timeout))
	}
	data, err := io.ReadAll(r.Body) // memory is taken as bytes arrive
	if timeout > 0 && err == nil {
		http.NewResponseController(w).SetReadDeadline(time.Time{})
	}
	return bytes.NewReader(data), err
}

func wantsBodyFirst(r *http.Request) bool {
	switch {
	case r.Body == nil || r.Body == http.NoBody || isGuarded(r) || isUpgrade(r):
		return false
	case r.ContentLength < 0:
		return r.ProtoMajor == 1
	}
	return r.ContentLength <= smallBody
}
