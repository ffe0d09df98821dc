package semelhttp_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/memstore"
	"github.com/semel-go/semel/semelhttp"
	"github.com/semel-go/semel/semeltest"
)

// The answer to the first try is lost after the work was done. The client sends
// the same request again, and gets the recorded answer.
func ExampleClient() {
	charges := 0
	pay := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		charges++
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, "charge %d", charges)
	})
	store, _ := memstore.New(nil)
	engine, _ := semel.New(store, nil)
	once, err := semelhttp.New(engine, semelhttp.HeaderPrincipal("Authorization"), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	srv := httptest.NewServer(once(pay))
	defer srv.Close()
	lossy, _ := semeltest.NewCutProxy(srv.URL)
	defer lossy.Close()
	lossy.Next(semeltest.CutHalf)
	network := httptest.NewServer(lossy)
	defer network.Close()

	client, err := semelhttp.NewClient(nil, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	req, _ := http.NewRequest("POST", network.URL+"/charges", strings.NewReader(`{"amount":10}`))
	req.Header.Set("Authorization", "Bearer alice")
	resp, err := client.Do(req)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	fmt.Printf("%d %s, replayed: %v, charges: %d\n", resp.StatusCode, body, semelhttp.Replayed(resp), charges)
	// Output:
	// 201 charge 1, replayed: true, charges: 1
}

// A form is sent under one key until there is an answer. The user corrects what
// was refused, and that is a new operation.
func ExampleIntent() {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if body, _ := io.ReadAll(r.Body); string(body) != "10" {
			w.WriteHeader(http.StatusUnprocessableEntity)
		}
	}))
	defer srv.Close()
	client, err := semelhttp.NewClient(nil, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	var intent semelhttp.Intent
	last := ""
	for _, amount := range []string{"ten", "10"} {
		req, _ := http.NewRequest("POST", srv.URL, strings.NewReader(amount))
		resp, err := intent.Do(client, req)
		switch {
		case errors.Is(err, semelhttp.ErrOutcomeUnknown):
			fmt.Println("somebody has to find out whether it happened")
		case err != nil:
			fmt.Println(err)
		default:
			fmt.Println(resp.StatusCode, "new key:", semelhttp.SentKey(resp) != last)
			last = semelhttp.SentKey(resp)
			resp.Body.Close()
		}
	}
	// Output:
	// 422 new key: true
	// 200 new key: true
}

// Stripe takes its keys in a header of up to 255 characters, for 24 hours.
func ExampleFindPreset() {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "a key of %d characters", len(r.Header.Get("Idempotency-Key")))
	}))
	defer srv.Close()
	stripe, err := semelhttp.FindPreset("stripe")
	if err != nil {
		fmt.Println(err)
		return
	}
	client, err := semelhttp.NewClient(nil, &semelhttp.TransportOptions{Preset: stripe})
	if err != nil {
		fmt.Println(err)
		return
	}
	req, _ := http.NewRequest("POST", srv.URL+"/v1/charges", strings.NewReader("amount=10"))
	resp, err := client.Do(req)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	fmt.Println(string(body))
	// Output:
	// a key of 36 characters
}
