// Command gin guards one route of a gin service by its Idempotency-Key: gin's router and
// authentication stand before the guard, a gin handler behind it.
//
//	go run ./examples/gin
//
// It serves on the loopback for as long as it asks itself, on SQLite; with
// DATABASE_URL=postgres://… on PostgreSQL. Between the handler's row and the recorded
// answer a process can die here; command balancehttp has both in one transaction, and
// its guard stands before a gin router in the same way.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/examples/internal/scratch"
	"github.com/semel-go/semel/semelhttp"
	"github.com/semel-go/semel/sqlstore"
)

func main() {
	gin.SetMode(gin.ReleaseMode) // no log lines between those of the story
	scratch.Main(run)
}

func run(ctx context.Context) error { return withServer(ctx, story) }

// withServer runs use on a server, which ends with it.
func withServer(ctx context.Context, use func(ctx context.Context, url string) error) error {
	const schema = "CREATE TABLE orders (customer TEXT NOT NULL, item TEXT NOT NULL)"
	return scratch.Database(ctx, schema, func(ctx context.Context, store *sqlstore.Store) error {
		return serve(ctx, store, use)
	})
}

func serve(ctx context.Context, store *sqlstore.Store, use func(ctx context.Context, url string) error) error {
	engine, err := semel.New(store, nil)
	if err != nil {
		return err
	}
	router, err := newRouter(engine, &shop{db: store.DB()})
	if err != nil {
		return errors.Join(err, engine.Close(ctx))
	}
	server := httptest.NewServer(router)
	defer server.Close()
	return errors.Join(use(ctx, server.URL+"/orders"), engine.Close(ctx))
}

func story(ctx context.Context, url string) error {
	for _, call := range []request{
		{"POST", "ada", "k-1", `{"item":"tea"}`},
		{"POST", "ada", "k-1", `{"item":"tea"}`}, // the answer was lost, so she sends it again
		{"POST", "ada", "k-1", `{"item":"cake"}`},
		{"POST", "bob", "k-1", `{"item":"tea"}`}, // his key, whatever hers is
		{"POST", "ada", "k-2", `{}`},
		{"POST", "ada", "", `{"item":"tea"}`},
		{"POST", "", "k-3", `{"item":"tea"}`},
		{"GET", "ada", "", ""},
	} {
		said, err := call.send(ctx, url)
		if err != nil {
			return err
		}
		fmt.Printf("%s as %q with key %q %s→ %s\n", call.method, call.who, call.key, call.body, said)
	}
	return nil
}

type request struct{ method, who, key, body string }

// send returns what the answer comes down to: status, body or the code of a problem, and
// whether it is a replay.
func (q request) send(ctx context.Context, url string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, q.method, url, strings.NewReader(q.body))
	if err != nil {
		return "", err
	}
	for name, value := range map[string]string{"X-User": q.who, "Idempotency-Key": q.key} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	said, err := io.ReadAll(res.Body)
	var problem struct{ Code string }
	if json.Unmarshal(said, &problem) == nil && problem.Code != "" {
		said = []byte(problem.Code)
	}
	if semelhttp.Replayed(res) {
		said = append(said, " again"...)
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s", res.StatusCode, said)), err
}
