package security

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
)

// bomb is a gzip of about size bytes that unpacks to a thousand times as much: many
// members one after the other, which readers take for one text.
func bomb(t *testing.T, size int) []byte {
	t.Helper()
	var member bytes.Buffer
	z := gzip.NewWriter(&member)
	z.Write(make([]byte, 10*mib))
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return bytes.Repeat(member.Bytes(), size/member.Len())
}

// Threat: decompression bombs. A request is digested as it was received: 10 GiB in
// 10 MiB cost no more than 10 MiB.
func TestBombInARequest(t *testing.T) {
	t.Parallel()
	body := bomb(t, 10*mib)
	var reached atomic.Int64
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reached.Add(1)
		sum := sha256.New()
		io.Copy(sum, r.Body)
		fmt.Fprintf(w, "%x", sum.Sum(nil))
	}))
	t.Cleanup(service.Close)
	p := start(t, service.URL)
	for range 3 {
		status, answer := post(t, p.URL, "alice", "bomb", body, "Content-Encoding: gzip")
		if want := fmt.Sprintf("%x", sha256.Sum256(body)); status != 200 || answer != want {
			t.Errorf("got %d %s, want the digest %s", status, answer, want)
		}
	}
	if n := reached.Load(); n != 1 {
		t.Errorf("the service was reached %d times", n)
	}
	wantPeak(t, p, "a 10 MiB bomb as request, three times", 160*mib)
}

// A recorded bomb is unpacked for a client without gzip up to a limit, and no further:
// the client learns that the result cannot be had.
func TestBombInAnAnswer(t *testing.T) {
	t.Parallel()
	answer := bomb(t, mib-16<<10)
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Write(answer)
	}))
	t.Cleanup(service.Close)
	p := start(t, service.URL)
	for range 2 {
		if status, got := post(t, p.URL, "alice", "bomb", nil, "Accept-Encoding: gzip"); status != 200 || got != string(answer) {
			t.Fatalf("a client that takes gzip got %d and %d bytes", status, len(got))
		}
	}
	before := peak(t, p)
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			if status, got := post(t, p.URL, "alice", "bomb", nil, "Accept-Encoding: identity"); status != 409 {
				t.Errorf("a client without gzip got %d %.100q", status, got)
			}
		})
	}
	clients.Wait()
	wantPeak(t, p, "a recorded 1 MiB bomb, unpacked for 8 clients at once", before+8*48*mib)
}
