package onetime

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"hash"
	"sync/atomic"
	"testing"
)

// counted counts the hashes that are begun and the bytes that go through them.
type counted struct{ begun, bytes atomic.Int64 }

func (c *counted) new() hash.Hash {
	c.begun.Add(1)
	return &countedHash{sha256.New(), c}
}

type countedHash struct {
	hash.Hash
	c *counted
}

func (h *countedHash) Write(p []byte) (int, error) {
	h.c.bytes.Add(int64(len(p)))
	return h.Hash.Write(p)
}

// No oracle by timing: whatever is wrong with a token, and if nothing is, one MAC is
// computed, over as many bytes.
func TestEveryVerificationDoesTheSameWork(t *testing.T) {
	t.Parallel()
	issuer, err := NewIssuer([][]byte{bytes.Repeat([]byte{1}, 32), bytes.Repeat([]byte{2}, 32)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := NewIssuer([][]byte{bytes.Repeat([]byte{3}, 32)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	token, _, _ := issuer.Issue("order", "alice")
	elsewhere, _, _ := foreign.Issue("order", "alice")
	raw, _ := base64.RawURLEncoding.DecodeString(token)
	raw[len(raw)-1] ^= 1
	work := func(token, purpose, subject string) [2]int64 {
		c := &counted{}
		issuer.ring.hash = c.new
		_, _ = issuer.Verify(token, purpose, subject)
		return [2]int64{c.begun.Load(), c.bytes.Load()}
	}
	want := work(token, "order", "alice")
	if want[0] != 2 { // an inner and an outer hash
		t.Fatalf("a good token costs %d hashes, want one MAC", want[0])
	}
	for _, tc := range []struct{ what, token, purpose, subject string }{
		{"empty", "", "order", "alice"},
		{"no base64", "%", "order", "alice"},
		{"short", token[:80], "order", "alice"},
		{"forged", base64.RawURLEncoding.EncodeToString(raw), "order", "alice"},
		{"another key", elsewhere, "order", "alice"},
		{"another purpose", token, "chips", "alice"},
		{"another user", token, "order", "bobby"},
	} {
		if got := work(tc.token, tc.purpose, tc.subject); got != want {
			t.Errorf("%s: %d hashes over %d bytes, want %d over %d", tc.what, got[0], got[1], want[0], want[1])
		}
	}
}

// FuzzParse: what is read is what was written, and nothing panics.
func FuzzParse(f *testing.F) {
	issuer, err := NewIssuer([][]byte{[]byte(goldenSecret)}, nil)
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{"", golden, golden[:80], golden + "=", "\n" + golden} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		b, mac, ok := parse(text)
		if again := encoding.EncodeToString(append(b.append(nil), mac[:]...)); ok && again != text {
			t.Errorf("%q was read as %q", text, again)
		}
		if !ok && (b != (body{}) || mac != [macSize]byte{}) {
			t.Errorf("%q is no token, and something of it was kept", text)
		}
		if _, err := issuer.Verify(text, "order", "alice"); text != golden && err != ErrRefused {
			t.Errorf("%q was taken: %v", text, err)
		}
		if secret, fence, ok := parseStored(text); !ok && (fence != 0 || secret != [storedSecret]byte{}) {
			t.Errorf("%q is no stored token, and something of it was kept", text)
		}
	})
}
