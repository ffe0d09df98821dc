// Command balancehttp deducts from an account once for each Idempotency-Key: what the
// HTTP handler changes commits in one transaction with its recorded answer.
//
//	go run ./examples/balancehttp
//
// It serves on the loopback for as long as it asks itself. Command balance is the same
// without HTTP.
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"

	"modernc.org/sqlite"

	"github.com/semel-go/semel/inbox"
	"github.com/semel-go/semel/sqlstore"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "semel-balance-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	connector, err := sqlstore.Connector(&sqlite.Driver{}, filepath.Join(dir, "shop.db"))
	if err != nil {
		return err
	}
	store, err := sqlstore.OpenSQLite(ctx, connector, nil)
	if err != nil {
		return err
	}
	defer store.Close()
	box, err := inbox.New(store, nil)
	if err != nil {
		return err
	}
	handler, err := newHandler(box)
	if err != nil {
		return err
	}
	return serve(ctx, store.DB(), handler)
}

func serve(ctx context.Context, db *sql.DB, handler http.Handler) error {
	_, err := db.ExecContext(ctx, "CREATE TABLE account (id TEXT PRIMARY KEY, balance INTEGER NOT NULL); INSERT INTO account VALUES ('ada', 100)")
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: handler}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	err = story(ctx, "http://"+listener.Addr().String())
	err = errors.Join(err, server.Shutdown(ctx))
	if served := <-ended; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

func story(ctx context.Context, url string) error {
	for _, order := range []struct{ key, amount string }{
		{"order-1", "30"}, {"order-1", "30"}, {"order-2", "80"}, {"order-2", "80"}, {"order-1", "31"},
	} {
		if err := post(ctx, url+"/deduct?amount="+order.amount, order.key); err != nil {
			return err
		}
	}
	return nil
}

func post(ctx context.Context, url, key string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, nil)
	if err != nil {
		return err
	}
	r.Header.Set("X-Account", "ada") // in earnest: what your authentication says
	r.Header.Set("Idempotency-Key", key)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if res.StatusCode == http.StatusUnprocessableEntity {
		body = []byte("the key stands for another request\n")
	}
	fmt.Printf("%s: %d replayed=%t %s", key, res.StatusCode, res.Header.Get("Idempotent-Replayed") == "true", body)
	return err
}
