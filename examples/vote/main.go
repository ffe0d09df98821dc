// Command vote counts one vote for each user and poll, whatever clients send: by a key
// that is made of what the business says is one, kept for ever. It does so in a function
// and in a middleware, refuses the same comment twice within a minute, and forgets a user.
//
//	go run ./examples/vote
//	REDIS_URL=redis://127.0.0.1:6379 go run ./examples/vote
//
// Without REDIS_URL the records are in the memory of this process, which is for a show:
// for ever takes a store that keeps them.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/examples/internal/scratch"
)

func main() { scratch.Main(run) }

func run(ctx context.Context) error { return scratch.Engine(ctx, story) }

func story(ctx context.Context, engine *semel.Engine) error {
	ada, bob := "ada-"+rand.Text(), "bob-"+rand.Text() // new users in each run: a vote stays
	return errors.Join(called(ctx, engine, ada), requested(engine, bob), forgotten(ctx, engine, ada, bob))
}

func called(ctx context.Context, engine *semel.Engine, user string) error {
	for _, choice := range []string{"tea", "coffee"} {
		counted, first, err := vote(ctx, engine, user, "poll-1", choice)
		if err != nil {
			return err
		}
		fmt.Printf("ada for %s: counted is %s, by this call %t\n", choice, counted, first)
	}
	return nil
}

func requested(engine *semel.Engine, user string) error {
	handler, err := newHandler(engine)
	if err != nil {
		return err
	}
	for _, q := range []struct{ path, body string }{
		{"/votes", `{"poll":"poll-1"}`},
		{"/votes", `{"poll":"poll-1","choice":"tea"}`},
		{"/votes", `{"poll":"poll-1","choice":"coffee"}`},
		{"/votes", `{"poll":"poll-2","choice":"coffee"}`},
		{"/comments", `{"text":"good tea"}`},
		{"/comments", `{"text":"good tea"}`},
		{"/comments", `{"text":"good tea, really"}`},
	} {
		r := httptest.NewRequest(http.MethodPost, q.path, strings.NewReader(q.body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("X-User", user)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		said := strings.TrimSpace(w.Body.String())
		if w.Code == http.StatusConflict {
			said = "said a moment ago"
		}
		fmt.Printf("bob %s %s: %s\n", q.path, q.body, said)
	}
	return nil
}

// forgotten deletes one user's records and leaves the other's.
func forgotten(ctx context.Context, engine *semel.Engine, ada, bob string) error {
	n, err := forget(ctx, engine.Store(), ada)
	if err != nil {
		return err
	}
	fmt.Println("ada's records deleted:", n)
	_, anew, err := vote(ctx, engine, ada, "poll-1", "coffee")
	fmt.Println("so that she may vote again:", anew)
	_, tidied := forget(ctx, engine.Store(), ada)
	left, tidiedToo := forget(ctx, engine.Store(), bob)
	fmt.Println("bob's records:", left)
	return errors.Join(err, tidied, tidiedToo)
}
