package semelhttp_test

import (
	"bytes"
	"encoding/json"
	"html/template"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/semel-go/semel/onetime"
	"github.com/semel-go/semel/semelhttp"
	"github.com/semel-go/semel/semeltest"
)

// formWorld is a guarded order form behind a real listener.
type formWorld struct {
	*world
	forms  *semelhttp.Forms
	clock  *semeltest.Clock // of the tokens
	issuer *onetime.Issuer
}

func newFormWorld(t *testing.T, s *setup, handler http.HandlerFunc) *formWorld {
	t.Helper()
	f := &formWorld{clock: semeltest.NewClock()}
	f.issuer = issuerOf(t, 1, f.clock)
	f.forms = formsOf(t, f.issuer, nil)
	if s == nil {
		s = &setup{}
	}
	s.http.Keys = append([]semelhttp.KeySource{f.forms.Key("order")}, s.http.Keys...)
	f.world = newWorld(t, s, handler)
	return f
}

func issuerOf(t *testing.T, secret byte, clock *semeltest.Clock) *onetime.Issuer {
	t.Helper()
	issuer, err := onetime.NewIssuer([][]byte{bytes.Repeat([]byte{secret}, 32)}, &onetime.IssuerOptions{Lifetime: time.Hour, Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	return issuer
}

func formsOf(t *testing.T, issuer *onetime.Issuer, opts *semelhttp.FormsOptions) *semelhttp.Forms {
	t.Helper()
	forms, err := semelhttp.NewForms(issuer, semelhttp.HeaderPrincipal("X-User"), opts)
	if err != nil {
		t.Fatal(err)
	}
	return forms
}

// token is a new token of alice's order form.
func (f *formWorld) token() string {
	f.t.Helper()
	token, _, err := f.issuer.Issue("order", alice)
	if err != nil {
		f.t.Fatal(err)
	}
	return token
}

// submit sends the form as a browser does.
func (f *formWorld) submit(token, tea string, changes ...change) reply {
	f.t.Helper()
	return f.urlencoded(url.Values{"form_token": {token}, "tea": {tea}}.Encode(), changes...)
}

func (f *formWorld) urlencoded(body string, changes ...change) reply {
	f.t.Helper()
	changes = append([]change{unkeyed, header("Content-Type", "application/x-www-form-urlencoded")}, changes...)
	return f.post(body, changes...)
}

// multipart sends the form as a browser does that has a file to send.
func (f *formWorld) multipart(token, tea, boundary string) reply {
	f.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	_ = form.SetBoundary(boundary)
	file, _ := form.CreateFormFile("form_token", "canary-file") // a file is no field
	_, _ = file.Write([]byte(strings.Repeat("leaf", 3000)))
	_ = form.WriteField("tea", tea)
	_ = form.WriteField("form_token", token)
	_ = form.Close()
	return f.post(body.String(), unkeyed, header("Content-Type", form.FormDataContentType()))
}

// placed answers as a page does: with 303 to what was made.
func placed(w http.ResponseWriter, r *http.Request) {
	if r.FormValue("tea") == "" {
		http.Error(w, "choose a tea", http.StatusUnprocessableEntity)
		return
	}
	w.Header().Set("Location", "/orders/7")
	w.WriteHeader(http.StatusSeeOther)
}

func TestFormRunsOnce(t *testing.T) {
	t.Parallel()
	f := newFormWorld(t, nil, placed)
	token := f.token()
	first, again := f.submit(token, "green"), f.submit(token, "green")
	replays(t, first, again)
	if again.StatusCode != 303 || again.Header.Get("Location") != "/orders/7" {
		t.Errorf("got %d %v", again.StatusCode, again.Header)
	}
	if again.Header.Get("Semel-Content") != "" || again.Header.Get("Form-Token") != "" || again.Header.Get("Idempotency-Key") != "" {
		t.Errorf("the replay tells of the token: %v", again.Header)
	}
	f.ran(1)
	f.submit(f.token(), "green")
	f.ran(2)
}

// The token is found wherever forms and scripts put it.
func TestPlacesOfAFormToken(t *testing.T) {
	t.Parallel()
	f := newFormWorld(t, &setup{http: semelhttp.Options{RequireKey: true}}, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusCreated) })
	for what, send := range map[string]func(token string) reply{
		"urlencoded": func(token string) reply { return f.submit(token, "green") },
		"escaped name": func(token string) reply {
			return f.urlencoded("tea=green&%66orm%5Ftoken=" + strings.ReplaceAll(token, "A", "%41"))
		},
		"multipart": func(token string) reply { return f.multipart(token, "green", "a-boundary") },
		"header": func(token string) reply {
			return f.post(`{"tea":"green"}`, unkeyed, header("Form-Token", token), header("Content-Type", "application/json"))
		},
		"header beside a key": func(token string) reply { // which is no key here
			return f.post(`{"tea":"green"}`, header("Form-Token", token))
		},
		"header counts before a field": func(token string) reply { return f.submit("forged", "green", header("Form-Token", token)) },
	} {
		token := f.token()
		before := f.runs.Load()
		if first, again := send(token), send(token); first.replayed() || !again.replayed() || f.runs.Load() != before+1 {
			t.Errorf("%s: %d %s, then %d %s", what, first.StatusCode, first.body, again.StatusCode, again.body)
		}
	}
}

// Each submit of a multipart form makes a new boundary, which makes no other form.
func TestBoundaryIsNoContent(t *testing.T) {
	t.Parallel()
	f := newFormWorld(t, nil, placed)
	token := f.token()
	replays(t, f.multipart(token, "green", "one"), f.multipart(token, "green", "two"))
	f.multipart(token, "black", "three").isProblem(t, 409, "token-used")
	f.ran(1)
}

// The endpoint for scripts, and the token that comes from it.
func TestTokenEndpoint(t *testing.T) {
	t.Parallel()
	f := newFormWorld(t, nil, placed)
	endpoint, err := f.forms.Endpoint("order")
	if err != nil {
		t.Fatal(err)
	}
	for _, method := range []string{"GET", "POST"} {
		res := ask(endpoint, method, alice)
		var got struct {
			Token, Header, Field string
			ExpiresAt            time.Time `json:"expires_at"`
			ExpiresIn            int       `json:"expires_in"`
		}
		if err := json.Unmarshal(res.Body.Bytes(), &got); err != nil || res.Code != 200 {
			t.Fatal(res.Code, res.Body, err)
		}
		if got.Header != "Form-Token" || got.Field != "form_token" || got.ExpiresIn != 3600 || !got.ExpiresAt.Equal(f.clock.Now().Add(time.Hour)) {
			t.Errorf("%s: %+v", method, got)
		}
		if h := res.Header(); h.Get("Cache-Control") != "no-store" || h.Get("Content-Type") != "application/json" || h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", method, h)
		}
		if a := f.submit(got.Token, "green"); a.StatusCode != 303 {
			t.Errorf("%s: the token got %d %s", method, a.StatusCode, a.body)
		}
	}
	if res := ask(endpoint, "GET", ""); res.Code != 401 || res.Header().Get("WWW-Authenticate") != "Bearer" || !strings.Contains(res.Body.String(), "no-principal") {
		t.Errorf("nobody got %d %s", res.Code, res.Body)
	}
	if res := ask(endpoint, "PUT", alice); res.Code != 405 || res.Header().Get("Allow") != "GET, POST" {
		t.Errorf("PUT got %d %v", res.Code, res.Header())
	}
	if _, err := f.forms.Endpoint(""); err == nil {
		t.Error("an endpoint without a purpose was made")
	}
}

func ask(endpoint http.Handler, method, user string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "/token", nil)
	if user != "" {
		r.Header.Set("X-User", user)
	}
	res := httptest.NewRecorder()
	endpoint.ServeHTTP(res, r)
	return res
}

// The hidden field stands in a page as it is, and what a browser makes of it passes.
func TestHiddenField(t *testing.T) {
	t.Parallel()
	f := newFormWorld(t, nil, placed)
	r := httptest.NewRequest("GET", "/order", nil)
	if _, err := f.forms.Field(r, "order"); err != semelhttp.ErrNoPrincipal {
		t.Errorf("nobody: got %v, want ErrNoPrincipal", err)
	}
	r.Header.Set("X-User", alice)
	field, err := f.forms.Field(r, "order")
	if err != nil {
		t.Fatal(err)
	}
	var page strings.Builder
	if err := template.Must(template.New("").Parse(`<form method="post">{{.}}<input name="tea"></form>`)).Execute(&page, field); err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(page.String(), `<form method="post"><input type="hidden" name="form_token" value="`)
	token, end, _ := strings.Cut(rest, `"`)
	if !found || end != `><input name="tea"></form>` {
		t.Fatalf("the page is %s", page.String())
	}
	if a := f.submit(token, "green"); a.StatusCode != 303 {
		t.Errorf("the token of the page got %d %s", a.StatusCode, a.body)
	}
	if _, err := f.forms.Field(r, ""); err == nil {
		t.Error("a field without a purpose was made")
	}
}

// Callers whom nobody knows have forms too, where a rule tells them apart.
func TestAnonymousForms(t *testing.T) {
	t.Parallel()
	visitor := semelhttp.HeaderPrincipal("X-Visitor")
	issuer := issuerOf(t, 1, semeltest.NewClock())
	forms := formsOf(t, issuer, &semelhttp.FormsOptions{Anonymous: visitor, Header: "x-csrf", Field: "csrf"})
	w := newWorld(t, &setup{http: semelhttp.Options{Keys: []semelhttp.KeySource{forms.Key("contact")}, Anonymous: visitor, RequireKey: true}}, placed)
	r := httptest.NewRequest("GET", "/contact", nil)
	r.Header.Set("X-Visitor", "canary-7")
	token, _, err := forms.Issue(r, "contact")
	if err != nil {
		t.Fatal(err)
	}
	send := func(visitor string) reply {
		return w.post("tea=green", unkeyed, header("X-User"), header("X-Visitor", visitor), header("X-Csrf", token), header("Content-Type", "application/x-www-form-urlencoded"))
	}
	replays(t, send("canary-7"), send("canary-7"))
	send("canary-8").isProblem(t, 403, "token-refused")
	// Nobody can pass for a visitor by being called like one.
	w.post("tea=green", unkeyed, as("canary-7"), header("X-Csrf", token)).isProblem(t, 403, "token-refused")
	w.ran(1)
}

func TestFormsMistakes(t *testing.T) {
	t.Parallel()
	issuer := issuerOf(t, 1, semeltest.NewClock())
	user := semelhttp.HeaderPrincipal("X-User")
	for _, tc := range []struct {
		issuer    *onetime.Issuer
		principal semelhttp.PrincipalFunc
		opts      semelhttp.FormsOptions
		want      string
	}{
		{nil, user, semelhttp.FormsOptions{}, "the issuer is nil; make one with onetime.NewIssuer"},
		{issuer, nil, semelhttp.FormsOptions{}, "principal is nil"},
		{issuer, user, semelhttp.FormsOptions{Header: "no header"}, `Header "no header" is no header name`},
		{issuer, user, semelhttp.FormsOptions{Field: `"><script>`}, "is no plain name; use letters"},
	} {
		if _, err := semelhttp.NewForms(tc.issuer, tc.principal, &tc.opts); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("got %v, want %q", err, tc.want)
		}
	}
	w := newWorld(t, nil, placed)
	forms := formsOf(t, issuer, nil)
	other := formsOf(t, issuer, &semelhttp.FormsOptions{Header: "Other-Token"})
	for _, tc := range []struct {
		opts semelhttp.Options
		want string
	}{
		{semelhttp.Options{Keys: []semelhttp.KeySource{forms.Key("")}}, "the purpose is empty"},
		{semelhttp.Options{Keys: []semelhttp.KeySource{forms.Key("a"), other.Key("b")}}, "form tokens of two purposes"},
		{semelhttp.Options{Keys: []semelhttp.KeySource{forms.Key("a"), forms.Key("b")}}, `"Form-Token" stands there twice`},
		{semelhttp.Options{Keys: []semelhttp.KeySource{forms.Key("a")}, Retention: 2 * time.Hour}, "Retention 2h0m0s is below 3h0m0s: a used form token could be used again when its record is gone; raise Retention, or shorten the Lifetime of the issuer (now 1h0m0s)"},
	} {
		for kind, err := range map[string]error{
			"New":           newError(semelhttp.New(w.engine, user, &tc.opts)),
			"Transactional": newError(semelhttp.Transactional(newLedger(t), user, &tc.opts)),
		} {
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: got %v, want %q", kind, err, tc.want)
			}
		}
	}
}

func newError(_ func(http.Handler) http.Handler, err error) error { return err }

// What browsers of other origins and clients should know of tokens.
func TestFormTokensAreAnnounced(t *testing.T) {
	t.Parallel()
	o := &semelhttp.Options{
		Keys:       []semelhttp.KeySource{formsOf(t, issuerOf(t, 1, semeltest.NewClock()), nil).Key("order"), semelhttp.KeyHeader("Idempotency-Key")},
		RequireKey: true,
	}
	allow, expose := semelhttp.CORSHeaders(o)
	if got := strings.Join(allow, " "); got != "Idempotency-Key Form-Token" || strings.Contains(strings.Join(expose, " "), "Form-Token") {
		t.Errorf("allow %s, expose %v", got, expose)
	}
	text, err := semelhttp.OpenAPIFragment(semelhttp.OpenAPIRoute{Method: "POST", Path: "/orders", Options: o})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"Form-Token"`, `"form_token"`, `"purpose": "order"`, "`token-refused`", "`token-expired`", "`token-used`"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the OpenAPI document has no %s", want)
		}
	}
}
