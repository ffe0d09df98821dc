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

func countVote(w http.ResponseWriter, r *http.Request) {
	choice, _ := io.ReadAll(r.Body)
	fmt.Fprintf(w, "counted: %s", choice)
}

// One vote a user a poll, by the path alone.
func ExampleKeyPath() {
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
	user := semelhttp.HeaderPrincipal("X-User") // in earnest: what your authentication says
	onceEver, err := semelhttp.New(engine, user, &semelhttp.Options{
		Keys:       []semelhttp.KeySource{semelhttp.KeyPath("poll")},
		RequireKey: true,
		PerRoute:   func(*http.Request) string { return "http-vote" },
		JSON:       &semelhttp.JSONFingerprint{Ignore: []string{"/choice"}}, // another choice is the same vote
		Retention:  semel.Forever,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	mux := http.NewServeMux()
	mux.Handle("POST /polls/{poll}/votes", onceEver(http.HandlerFunc(countVote)))

	for _, vote := range [][2]string{{"/polls/drinks/votes", "tea"}, {"/polls/drinks/votes", "coffee"}, {"/polls/lunch/votes", "rice"}} {
		r := httptest.NewRequest("POST", vote[0], strings.NewReader(`{"choice":"`+vote[1]+`"}`))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("X-User", "ada")
		r.Header.Set("Idempotency-Key", vote[1]) // no place of a key here
		answer := httptest.NewRecorder()
		mux.ServeHTTP(answer, r)
		fmt.Println(answer.Body)
	}
	// Output:
	// counted: {"choice":"tea"}
	// counted: {"choice":"tea"}
	// counted: {"choice":"rice"}
}
