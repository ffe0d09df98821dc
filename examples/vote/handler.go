package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/semelhttp"
)

// newHandler guards handlers that know of no guard, for clients that know of no key.
func newHandler(engine *semel.Engine) (http.Handler, error) {
	user := semelhttp.HeaderPrincipal("X-User") // in earnest: what your authentication says
	onceEver, err := semelhttp.New(engine, user, &semelhttp.Options{
		Keys:       []semelhttp.KeySource{semelhttp.KeyBody("/poll")},
		RequireKey: true,
		PerRoute:   func(*http.Request) string { return "http-vote" },
		JSON:       &semelhttp.JSONFingerprint{Include: []string{"/poll"}}, // another choice is the same vote
		Retention:  semel.Forever,
	})
	if err != nil {
		return nil, err
	}
	onceAMinute, err := semelhttp.New(engine, user, &semelhttp.Options{
		Derived: &semelhttp.DerivedKey{Window: time.Minute, Reject: true},
	})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("POST /votes", onceEver(http.HandlerFunc(countVote)))
	mux.Handle("POST /comments", onceAMinute(http.HandlerFunc(comment)))
	return mux, nil
}

func countVote(w http.ResponseWriter, r *http.Request) {
	var ballot struct{ Choice string }
	if err := json.NewDecoder(r.Body).Decode(&ballot); err != nil || ballot.Choice == "" {
		semelhttp.Decide(r.Context(), semel.Retryable(errChoice)) // else the user would be refused for ever
		http.Error(w, errChoice.Error(), http.StatusBadRequest)
		return
	}
	fmt.Fprint(w, "counted: ", ballot.Choice)
}

var errChoice = errors.New("which choice?")

func comment(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "published") }
