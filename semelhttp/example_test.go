package semelhttp_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/memstore"
	"github.com/semel-go/semel/semelhttp"
)

func Example() {
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

	for range 2 { // a double click
		req, _ := http.NewRequest("POST", srv.URL+"/charges", strings.NewReader(`{"amount":10}`))
		req.Header.Set("Authorization", "Bearer alice")
		req.Header.Set("Idempotency-Key", "8e03978e-40d5-43dd-bc93-6894a57f9324")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			fmt.Println(err)
			return
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		fmt.Printf("%d %s, replayed: %q\n", resp.StatusCode, body, resp.Header.Get("Idempotent-Replayed"))
	}
	// Output:
	// 201 charge 1, replayed: ""
	// 201 charge 1, replayed: "true"
}
