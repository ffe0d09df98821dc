// Package storeurl opens the store that a --store URL names.
package storeurl

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"modernc.org/sqlite"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/memstore"
	"github.com/semel-go/semel/sqlstore"
)

const builtIn = "built in are memory: and sqlite:FILE"

// Handle is an open store. Its optional capabilities are those of Store.
type Handle struct {
	Store semel.Store
	// Name says in a few words what the store is, without credentials.
	Name string
	// Shared is false if only this process sees the records.
	Shared bool

	close func() error
}

// Close frees what the store holds. No call may be under way.
func (h *Handle) Close() error { return h.close() }

// Open opens the store at rawURL. The caller closes it.
func Open(ctx context.Context, rawURL string) (*Handle, error) {
	scheme, rest, found := strings.Cut(rawURL, ":")
	switch {
	case !found:
		return nil, fmt.Errorf("%q names no store; write sqlite:%s for a file, or memory: to keep records in memory", rawURL, rawURL)
	case scheme == "memory":
		return openMemory(rest)
	case scheme == "sqlite":
		return openSQLite(ctx, rest)
	}
	return nil, fmt.Errorf("stores of the kind %q are not built in; %s", scheme, builtIn)
}

// OpenExisting is [Open] for a store that a gateway has made: a file that is
// missing is an error instead of a new, empty store.
func OpenExisting(ctx context.Context, rawURL string) (*Handle, error) {
	if file, ok := strings.CutPrefix(rawURL, "sqlite:"); ok && file != "" {
		if _, err := os.Stat(strings.TrimPrefix(file, "//")); err != nil {
			return nil, fmt.Errorf("%w; name the file that the gateway uses", err)
		}
	}
	return Open(ctx, rawURL)
}

func openMemory(rest string) (*Handle, error) {
	if rest != "" {
		return nil, fmt.Errorf("the memory store takes no name; write memory: instead of memory:%s", rest)
	}
	store, err := memstore.New(nil)
	if err != nil {
		return nil, err
	}
	return &Handle{Store: store, Name: "memory", close: func() error { return nil }}, nil
}

func openSQLite(ctx context.Context, file string) (*Handle, error) {
	if file == "" || strings.HasPrefix(file, ":memory:") {
		return nil, errors.New("a SQLite store needs a file; write sqlite:semel.db, or memory: to keep records in memory")
	}
	path, err := filepath.Abs(strings.TrimPrefix(file, "//"))
	if err != nil {
		return nil, fmt.Errorf("sqlite:%s: %w", file, err)
	}
	// As a URI, so that no character of the path is taken for a parameter.
	connector, err := sqlite.NewConnector((&url.URL{Scheme: "file", Path: path}).String())
	if err != nil {
		return nil, fmt.Errorf("sqlite:%s: %w", file, err)
	}
	store, err := sqlstore.OpenSQLite(ctx, connector, nil)
	if err != nil {
		return nil, fmt.Errorf("sqlite:%s: %w", file, err)
	}
	return &Handle{Store: store, Name: "sqlite:" + file, Shared: true, close: store.Close}, nil
}
