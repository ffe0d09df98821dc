package semelhttp_test

import (
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/semelhttp"
)

const (
	shop  = "https://shop.example"
	other = "https://other.example"
)

func from(origin string) change { return header("Origin", origin) }

// crossing is a guarded service with a CORS layer in front.
func crossing(t *testing.T, o semelhttp.CORSOptions, s *setup, handler http.HandlerFunc) *world {
	t.Helper()
	layer, err := semelhttp.NewCORS(o)
	if err != nil {
		t.Fatal(err)
	}
	if s == nil {
		s = &setup{}
	}
	s.outer = layer
	return newWorld(t, s, handler)
}

// corsOf is what an answer says about CORS.
func corsOf(r reply) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		if short, ok := strings.CutPrefix(name, "Access-Control-"); ok || name == "Vary" {
			b.WriteString(short + "=" + strings.Join(r.Header[name], "|") + "; ")
		}
	}
	return b.String()
}

const (
	exposed = "Expose-Headers=Idempotency-Key, Idempotent-Replayed, Retry-After, Link; "
	toShop  = "Allow-Credentials=true; Allow-Origin=" + shop + "; " + exposed + "Vary=Origin; "
	toOther = "Allow-Credentials=true; Allow-Origin=" + other + "; " + exposed + "Vary=Origin; "
)

// Every answer is decorated for the origin that asks, whoever gives it: the
// handler, a replay that another origin recorded, the layer itself, a recoverer.
func TestCORSOnEveryAnswer(t *testing.T) {
	t.Parallel()
	w := crossing(t, semelhttp.CORSOptions{Origins: []string{shop, other}, Credentials: true}, nil, echo)
	check := func(what string, r reply, want string) {
		t.Helper()
		if got := corsOf(r); got != want {
			t.Errorf("%s: got %s, want %s", what, got, want)
		}
	}
	first := w.post("b", from(shop))
	check("first", first, toShop)
	again := w.post("b", from(other))
	replays(t, first, again)
	check("replay to another origin", again, toOther)
	check("problem", w.post("c", from(other)), toOther)
	check("no key", w.post("b", unkeyed, from(shop)), toShop)
	check("GET", w.do(w.request("GET", "/", "", from(shop))), toShop)
	check("no origin", w.post("b"), "Vary=Origin; ")
	check("an origin that may not", w.post("b", from("https://evil.example")), "Vary=Origin; ")
	check("two origins", w.post("b", header("Origin", shop, shop)), "Vary=Origin; ")
	check("another case", w.post("b", from("https://Shop.example")), "Vary=Origin; ")
	w.ran(3)
}

func TestCORSForAll(t *testing.T) {
	t.Parallel()
	w := crossing(t, semelhttp.CORSOptions{Origins: []string{"*"}}, nil, echo)
	for _, changes := range [][]change{{from(shop)}, {from("null")}, nil} {
		if got, want := corsOf(w.post("b", changes...)), "Allow-Origin=*; "+exposed; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// What the handler says about CORS gives way, what it says about other things it
// varies by stays; and neither is lost in a replay.
func TestCORSAndTheHandler(t *testing.T) {
	t.Parallel()
	handlers := map[string]http.HandlerFunc{
		"set": func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Vary", "Accept-Encoding")
			rw.Header().Set("Access-Control-Allow-Origin", "*")
			rw.Header().Set("Access-Control-Allow-Private-Network", "true")
			io.WriteString(rw, "hi")
		},
		"add, no body": func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Add("Vary", "Accept-Encoding")
			rw.Header().Add("Access-Control-Allow-Origin", other)
		},
		"flush": func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Vary", "Accept-Encoding")
			rw.Header().Add("Access-Control-Allow-Origin", other)
			rw.(http.Flusher).Flush()
		},
		"early hints": func(rw http.ResponseWriter, r *http.Request) {
			rw.WriteHeader(103)
			rw.Header().Set("Vary", "Accept-Encoding")
			rw.Header().Set("Access-Control-Allow-Origin", "*")
			rw.WriteHeader(200)
		},
		"copy": func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Vary", "Accept-Encoding")
			rw.Header().Set("Access-Control-Allow-Origin", "*")
			io.Copy(rw, io.LimitReader(strings.NewReader("copied"), 3))
		},
	}
	for name, handler := range handlers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := crossing(t, semelhttp.CORSOptions{Origins: []string{shop}, Credentials: true}, nil, handler)
			first := w.post("b", from(shop))
			again := w.post("b", from(shop))
			replays(t, first, again)
			for _, r := range []reply{first, again, w.post("b", unkeyed, from(shop))} {
				vary := strings.Join(r.Header["Vary"], ", ")
				if got := strings.Replace(corsOf(r), "Vary="+strings.Join(r.Header["Vary"], "|"), "Vary=Origin", 1); got != toShop {
					t.Errorf("got %s, want %s", got, toShop)
				}
				if strings.Count(vary, "Origin") != 1 || strings.Count(vary, "Accept-Encoding") != 1 {
					t.Errorf("Vary: %s", vary)
				}
			}
		})
	}
}

// A recovery layer outside answers with the same headers.
func TestCORSAndAPanic(t *testing.T) {
	t.Parallel()
	layer, err := semelhttp.NewCORS(semelhttp.CORSOptions{Origins: []string{shop}, Credentials: true})
	if err != nil {
		t.Fatal(err)
	}
	recovered := func(next http.Handler) http.Handler {
		inner := layer(next)
		return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			defer func() {
				if recover() != nil {
					rw.WriteHeader(500)
				}
			}()
			inner.ServeHTTP(rw, r)
		})
	}
	w := newWorld(t, &setup{outer: recovered}, func(rw http.ResponseWriter, _ *http.Request) { panic("mine") })
	got := w.post("b", from(shop))
	if got.is(t, 500, ""); corsOf(got) != toShop {
		t.Errorf("got %s, want %s", corsOf(got), toShop)
	}
}

func preflight(w *world, origin, method, headers string) reply {
	return w.do(w.request("OPTIONS", "/charges", "", unkeyed, from(origin), header("Access-Control-Request-Method", method), header("Access-Control-Request-Headers", headers)))
}

// The most common fault in production is a missing Access-Control-Allow-Headers for
// the key.
func TestCORSPreflight(t *testing.T) {
	t.Parallel()
	const varied = "Vary=Access-Control-Request-Method|Access-Control-Request-Headers|Origin; "
	methods := "Allow-Methods=GET, HEAD, POST, PUT, PATCH, DELETE; "
	tests := []struct {
		name   string
		o      semelhttp.CORSOptions
		origin string
		want   string
	}{
		{"what is asked for", semelhttp.CORSOptions{Origins: []string{shop}, Credentials: true, MaxAge: 90 * time.Second}, shop,
			"Allow-Credentials=true; Allow-Headers=Idempotency-Key, content-type, x-mine; " + methods + "Allow-Origin=" + shop + "; Max-Age=90; " + varied},
		{"what is named", semelhttp.CORSOptions{Origins: []string{shop}, Headers: []string{"Content-Type"}, Methods: []string{"POST"}}, shop,
			"Allow-Headers=Idempotency-Key, Content-Type; Allow-Methods=POST; Allow-Origin=" + shop + "; " + varied},
		{"all", semelhttp.CORSOptions{Origins: []string{"*"}, Guard: &semelhttp.Options{Headers: []string{"X-Key", "Idempotency-Key"}}}, other,
			"Allow-Headers=X-Key, Idempotency-Key, content-type, x-mine; " + methods + "Allow-Origin=*; Vary=Access-Control-Request-Method|Access-Control-Request-Headers; "},
		{"one that may not", semelhttp.CORSOptions{Origins: []string{shop}}, other, varied},
	}
	for _, tt := range tests {
		w := crossing(t, tt.o, nil, echo)
		got := preflight(w, tt.origin, "POST", "content-type, idempotency-key,x-mine, bad name")
		if got.is(t, 204, ""); corsOf(got) != tt.want {
			t.Errorf("%s: got\n%s\nwant\n%s", tt.name, corsOf(got), tt.want)
		}
		w.ran(0)
	}
}

// Preflights that are passed on are the service's alone, and so is an OPTIONS that
// is none.
func TestCORSPassesOn(t *testing.T) {
	t.Parallel()
	own := func(rw http.ResponseWriter, _ *http.Request) { rw.Header().Set("Access-Control-Allow-Origin", "mine") }
	w := crossing(t, semelhttp.CORSOptions{Origins: []string{shop}, PassPreflight: true}, nil, own)
	if got := corsOf(preflight(w, shop, "POST", "x")); got != "Allow-Origin=mine; " {
		t.Errorf("got %s", got)
	}
	w = crossing(t, semelhttp.CORSOptions{Origins: []string{shop}}, nil, own)
	w.do(w.request("OPTIONS", "/", "", from(shop)))
	w.do(w.request("OPTIONS", "/", "", header("Access-Control-Request-Method", "POST")))
	w.ran(2)
}

func TestCORSSettings(t *testing.T) {
	t.Parallel()
	tests := map[string]semelhttp.CORSOptions{
		"Origins is empty":          {},
		"browsers send none to *":   {Origins: []string{"*"}, Credentials: true},
		"* stands for all":          {Origins: []string{"*", shop}},
		"null is the origin":        {Origins: []string{"null"}},
		`"shop.example" is no`:      {Origins: []string{"shop.example"}},
		`"https://a.example/" is`:   {Origins: []string{"https://a.example/"}},
		`"https://A.example" is no`: {Origins: []string{"https://A.example"}},
		"MaxAge is negative":        {Origins: []string{shop}, MaxAge: -1},
		"PassPreflight leaves":      {Origins: []string{shop}, MaxAge: 1, PassPreflight: true},
		`"a b" is no name`:          {Origins: []string{shop}, Headers: []string{"a b"}},
		`"*" is no name`:            {Origins: []string{shop}, Expose: []string{"*"}},
	}
	for want, o := range tests {
		if _, err := semelhttp.NewCORS(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	allow, expose := semelhttp.CORSHeaders(&semelhttp.Options{Headers: []string{"x-key"}, ReplayedHeader: "x-again"})
	if strings.Join(allow, " ") != "X-Key" || strings.Join(expose, " ") != "X-Key X-Again Retry-After Link" {
		t.Errorf("allow %q, expose %q", allow, expose)
	}
	if allow, _ := semelhttp.CORSHeaders(nil); strings.Join(allow, " ") != "Idempotency-Key" {
		t.Errorf("allow %q", allow)
	}
}

// The layer's writer is what handlers expect of one.
func TestCORSWriter(t *testing.T) {
	t.Parallel()
	layer, _ := semelhttp.NewCORS(semelhttp.CORSOptions{Origins: []string{"*"}})
	h := layer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		if _, _, err := http.NewResponseController(rw).Hijack(); !errors.Is(err, http.ErrNotSupported) {
			t.Errorf("Hijack: %v", err)
		}
		if err := http.NewResponseController(rw).SetReadDeadline(time.Time{}); !errors.Is(err, http.ErrNotSupported) {
			t.Errorf("SetReadDeadline: %v", err)
		}
		io.WriteString(rw, "hi")
	}))
	out := httptest.NewRecorder()
	h.ServeHTTP(out, httptest.NewRequest("POST", "/", nil))
	if out.Body.String() != "hi" || out.Header().Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("%q %v", out.Body, out.Header())
	}
}

// What the connection cannot do is found out before the record changes, through the
// layer's writer too.
func TestCORSAndHijackOnHTTP2(t *testing.T) {
	t.Parallel()
	w := crossing(t, semelhttp.CORSOptions{Origins: []string{"*"}}, &setup{h2: true}, func(rw http.ResponseWriter, r *http.Request) {
		if _, _, err := http.NewResponseController(rw).Hijack(); !errors.Is(err, http.ErrNotSupported) {
			t.Errorf("Hijack: %v", err)
		}
		if run, _ := semel.RunFrom(r.Context()); run.Policy() != semel.AtLeastOnce {
			t.Errorf("the policy was raised to %v", run.Policy())
		}
	})
	w.post("b").is(t, 200, "")
}
