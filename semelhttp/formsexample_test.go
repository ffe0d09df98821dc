package semelhttp_test

import (
	"bytes"
	"context"
	"fmt"
	"html/template"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/memstore"
	"github.com/semel-go/semel/onetime"
	"github.com/semel-go/semel/semelhttp"
)

var orderPage = template.Must(template.New("order").Parse(`<form method="post" action="/orders">{{.}}<input name="tea"></form>`))

// A page with a hidden token, and the handler of its form.
func ExampleForms() {
	store, err := memstore.New(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	engine, err := semel.New(store, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close(context.Background())
	issuer, err := onetime.NewIssuer([][]byte{bytes.Repeat([]byte("secret! "), 4)}, nil) // from a file in truth
	if err != nil {
		fmt.Println(err)
		return
	}

	user := semelhttp.CookiePrincipal("session")
	forms, err := semelhttp.NewForms(issuer, user, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	guard, err := semelhttp.New(engine, user, &semelhttp.Options{
		Keys:       []semelhttp.KeySource{forms.Key("order")},
		RequireKey: true,
		Wait:       10 * time.Second, // a browser shows the answer to the last click alone
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	endpoint, err := forms.Endpoint("order") // for scripts
	if err != nil {
		fmt.Println(err)
		return
	}

	mux := http.NewServeMux()
	mux.Handle("GET /orders/token", endpoint)
	mux.HandleFunc("GET /orders/new", func(w http.ResponseWriter, r *http.Request) {
		field, err := forms.Field(r, "order")
		if err != nil {
			http.Error(w, "log in first", http.StatusUnauthorized)
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		_ = orderPage.Execute(w, field)
	})
	orders := 0
	mux.Handle("POST /orders", guard(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("tea") == "" {
			http.Error(w, "choose a tea", http.StatusUnprocessableEntity) // gives the token back
			return
		}
		orders++
		http.Redirect(w, r, fmt.Sprint("/orders/", orders), http.StatusSeeOther)
	})))

	send := func(method, path, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.AddCookie(&http.Cookie{Name: "session", Value: "alice"})
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		return w
	}
	_, rest, _ := strings.Cut(send("GET", "/orders/new", "").Body.String(), `value="`)
	token, _, _ := strings.Cut(rest, `"`)
	for _, tea := range []string{"", "green", "green", "black"} {
		w := send("POST", "/orders", url.Values{"form_token": {token}, "tea": {tea}}.Encode())
		fmt.Printf("%d %q replayed: %t\n", w.Code, w.Header().Get("Location"), w.Header().Get("Idempotent-Replayed") == "true")
	}
	fmt.Println("orders:", orders)
	// Output:
	// 422 "" replayed: false
	// 303 "/orders/1" replayed: false
	// 303 "/orders/1" replayed: true
	// 409 "" replayed: false
	// orders: 1
}
