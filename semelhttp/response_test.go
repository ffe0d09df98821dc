package semelhttp

import (
	"bytes"
	"encoding/hex"
	"net/http"
	"net/url"
	"reflect"
	"testing"

	"github.com/semel-go/semel"
)

func sampleResponse() Response {
	return Response{
		Status:  201,
		Header:  []HeaderPair{{Name: "Content-Type", Value: "text/plain"}, {Name: "Vary", Value: "Accept", Added: true}, {Name: "X-Empty"}},
		Trailer: []HeaderPair{{Name: "X-Sum", Value: "42"}, {Name: http.TrailerPrefix + "X-Sudden", Value: "yes"}},
		Body:    []byte("hello\x00"),
	}
}

// Golden: what one version wrote, the next ones must read.
func TestResponseFormat(t *testing.T) {
	t.Parallel()
	const golden = "01c9012d18436f6e74656e742d547970650a746578742f706c61696e09566172790641636365707" +
		"40e582d456d70747900" + "1e0a582d53756d0234322054726169" + "6c65723a582d53756464656e03796573" + "0668656c6c6f00"
	got := EncodeResponse(sampleResponse())
	if text := hex.EncodeToString(got.Data); text != golden || got.Kind != semel.ResultHTTP {
		t.Errorf("encoded as %s, want %s", text, golden)
	}
	resp, err := DecodeResponse(got)
	if err != nil || !reflect.DeepEqual(resp, sampleResponse()) {
		t.Errorf("decoded as %+v, %v", resp, err)
	}
}

func TestDecodeResponseRefuses(t *testing.T) {
	t.Parallel()
	good := EncodeResponse(sampleResponse())
	for n := range good.Data {
		if _, err := DecodeResponse(semel.StoredResult{Kind: semel.ResultHTTP, Data: good.Data[:n]}); err == nil {
			t.Errorf("the first %d bytes were accepted", n)
		}
	}
	bad := map[string]Response{
		"status below":     {Status: 103},
		"status above":     {Status: 1000},
		"status none":      {},
		"name with colon":  {Status: 200, Header: []HeaderPair{{Name: "Trailer:X", Value: "v"}}},
		"no name":          {Status: 200, Header: []HeaderPair{{Value: "v"}}},
		"line break":       {Status: 200, Header: []HeaderPair{{Name: "X", Value: "a\nb"}}},
		"NUL":              {Status: 200, Header: []HeaderPair{{Name: "X", Value: "a\x00b"}}},
		"break in trailer": {Status: 200, Trailer: []HeaderPair{{Name: "X", Value: "a\r\nb"}}},
	}
	for name, resp := range bad {
		if got, err := DecodeResponse(EncodeResponse(resp)); err == nil {
			t.Errorf("%s was accepted: %+v", name, got)
		}
	}
	if _, err := DecodeResponse(tombstone(200)); err == nil {
		t.Error("a tombstone was accepted")
	}
}

func TestTombstoneStatus(t *testing.T) {
	t.Parallel()
	for _, status := range []int{0, 101, 200, 999} {
		if got := tombstoneStatus(tombstone(status).Data); got != status {
			t.Errorf("%d came back as %d", status, got)
		}
	}
	for _, remark := range []string{"status=", "status=99", "status=1000", "status=2e2", "the store was full"} {
		if got := tombstoneStatus([]byte(remark)); got != 0 {
			t.Errorf("%q: %d", remark, got)
		}
	}
}

// FuzzDecodeResponse: no bytes make it panic or allocate without bound, and what
// it accepts is sendable and comes back the same.
func FuzzDecodeResponse(f *testing.F) {
	f.Add(EncodeResponse(sampleResponse()).Data)
	f.Add(EncodeResponse(Response{Status: 204}).Data)
	f.Add([]byte{1, 200, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		resp, err := DecodeResponse(semel.StoredResult{Kind: semel.ResultHTTP, Data: data})
		if err != nil {
			return
		}
		for _, p := range append(resp.Header, resp.Trailer...) {
			if !isFieldValue(p.Value) || bytes.ContainsAny([]byte(p.Name), "\r\n ") {
				t.Errorf("accepted %q: %q", p.Name, p.Value)
			}
		}
		again, err := DecodeResponse(EncodeResponse(resp))
		if err != nil || again.Status != resp.Status || !bytes.Equal(again.Body, resp.Body) || !reflect.DeepEqual(again.Header, resp.Header) {
			t.Errorf("%+v came back as %+v, %v", resp, again, err)
		}
	})
}

// FuzzCanonicalQuery: what is canonical stays so, and no query equals another one
// whose values any name's reader would see differently.
func FuzzCanonicalQuery(f *testing.F) {
	f.Add("a=1&b=2", "b=2&a=1")
	f.Add("a=1&a=2", "a=2&a=1")
	f.Add("%61=1&a=2", "a=2&%61=1")
	f.Add("%zz=1&a=2", "a=2&%zz=1")
	f.Add("a", "a=")
	f.Fuzz(func(t *testing.T, a, b string) {
		ca, cb := canonicalQuery(a), canonicalQuery(b)
		if canonicalQuery(ca) != ca {
			t.Errorf("%q becomes %q, then %q", a, ca, canonicalQuery(ca))
		}
		if ca == cb && !reflect.DeepEqual(queryValues(a), queryValues(b)) {
			t.Errorf("%q and %q are both %q", a, b, ca)
		}
	})
}

func queryValues(raw string) map[string][]string {
	return (&url.URL{RawQuery: raw}).Query()
}
