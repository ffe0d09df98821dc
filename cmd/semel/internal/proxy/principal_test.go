package proxy_test

import (
	"crypto/tls"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// numbered answers with the number of the execution, so that one caller's answer
// is told from another's.
func numbered(t *testing.T) *upstream {
	var up *upstream
	up = newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		fmt.Fprintf(w, "execution %d", up.executed.Load())
	})
	return up
}

// Field fault: key not bound to the caller: one user's response served to another.
func TestPrincipals(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ flag, alice, bob, nobody, twice string }{
		{"header:x-api-key", "X-Api-Key: alice", "X-Api-Key: bob", "X-Other: 1", "X-Api-Key: alice\nX-Api-Key: bob"},
		{"header:Authorization", "Authorization: Bearer a", "Authorization: Bearer b", "X-Other: 1", "Authorization: Bearer a\nAuthorization: Bearer b"},
		{"cookie:sid", "Cookie: sid=alice; x=1", "Cookie: sid=bob; x=1", "Cookie: x=1", "Cookie: sid=alice; sid=bob"},
	} {
		t.Run(tc.flag, func(t *testing.T) {
			t.Parallel()
			up := numbered(t)
			g := start(t, up.URL, "--principal="+tc.flag)
			alice, bob := g.post("k-1", "tea", tc.alice), g.post("k-1", "tea", tc.bob)
			again := g.post("k-1", "tea", tc.alice)
			if alice.body != "execution 1" || bob.body != "execution 2" || again.body != alice.body || !again.replayed() {
				t.Errorf("alice %q, bob %q, alice again %q", alice.body, bob.body, again.body)
			}
			nobody := g.post("k-1", "tea", tc.nobody)
			nobody.want(t, 401, "no-principal")
			if nobody.header.Get("Www-Authenticate") == "" {
				t.Error("401 without WWW-Authenticate")
			}
			g.post("k-1", "tea", strings.Split(tc.twice, "\n")...).want(t, 401, "no-principal")
			up.wantExecuted(t, 2)
		})
	}
}

func TestGlobalPrincipal(t *testing.T) {
	t.Parallel()
	up := numbered(t)
	g := start(t, up.URL, "--principal=global")
	g.post("k-1", "tea", "Authorization: Bearer a")
	if a := g.post("k-1", "tea", "Authorization: Bearer b"); !a.replayed() {
		t.Errorf("got %d %q", a.status, a.body)
	}
}

func TestClientCertificates(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	up := numbered(t)
	g := start(t, up.URL, append(ca.flags(), "--principal=client-cert")...)
	post := func(certs ...tls.Certificate) answer {
		transport := &http.Transport{TLSClientConfig: ca.clientTLS(certs...)}
		defer transport.CloseIdleConnections()
		r, _ := http.NewRequest("POST", "https://"+g.server.Addr(), strings.NewReader("tea"))
		r.Header.Set("Idempotency-Key", "k-1")
		return do(&http.Client{Transport: transport}, r)
	}
	alice := pkix.Name{CommonName: "alice", Organization: []string{"Shop"}}
	first, renewed := post(ca.issue(alice, "")), post(ca.issue(alice, ""))
	if first.body != "execution 1" || !renewed.replayed() {
		t.Errorf("first %q %v, with a renewed certificate %q", first.body, first.err, renewed.body)
	}
	spiffe := post(ca.issue(alice, "spiffe://shop/till"))
	if spiffe.replayed() || spiffe.status != 200 {
		t.Errorf("a URI is another identity: %+v", spiffe)
	}
	post().want(t, 401, "no-principal")
	post(ca.issue(pkix.Name{}, "")).want(t, 401, "no-principal")
	stranger := newAuthority(t).issue(alice, "")
	if a := post(stranger); a.err == nil && a.status == 200 {
		t.Errorf("a certificate of another authority was taken: %+v", a)
	}
}

// Both protocols on one listener, with TLS and without.
func TestProtocols(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	up := numbered(t)
	plain, secured := start(t, up.URL), start(t, up.URL, ca.flags()...)
	for _, tc := range []struct {
		name, url string
		set       func(*http.Protocols)
		proto     string
	}{
		{"http/1.1", plain.url, func(p *http.Protocols) { p.SetHTTP1(true) }, "HTTP/1.1"},
		{"h2c", plain.url, func(p *http.Protocols) { p.SetUnencryptedHTTP2(true) }, "HTTP/2.0"},
		{"https/1.1", "https://" + secured.server.Addr(), func(p *http.Protocols) { p.SetHTTP1(true) }, "HTTP/1.1"},
		{"h2", "https://" + secured.server.Addr(), func(p *http.Protocols) { p.SetHTTP2(true) }, "HTTP/2.0"},
	} {
		var protocols http.Protocols
		tc.set(&protocols)
		transport := &http.Transport{Protocols: &protocols, TLSClientConfig: ca.clientTLS()}
		defer transport.CloseIdleConnections()
		client := &http.Client{Transport: transport}
		before := up.executed.Load()
		for range 2 {
			r, _ := http.NewRequest("POST", tc.url, strings.NewReader("tea"))
			r.Header.Set("Idempotency-Key", tc.name)
			res, err := client.Do(r)
			if err != nil {
				t.Fatalf("%s: %v", tc.name, err)
			}
			io.Copy(io.Discard, res.Body)
			res.Body.Close()
			if res.Proto != tc.proto || res.StatusCode != 200 {
				t.Errorf("%s: %s %d", tc.name, res.Proto, res.StatusCode)
			}
		}
		if n := up.executed.Load() - before; n != 1 {
			t.Errorf("%s: executed %d times", tc.name, n)
		}
	}
}
