// Package storeurl opens the store that a --store URL names.
package storeurl

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/memstore"
)

const builtIn = "built in are memory: and sqlite:FILE"

// Handle is an open store. Its optional capabilities are those of Store.
type Handle struct {
	Store semel.Store
	// Name says in a few words what the store is, without credentials.
	Name string
	// Shared is false if only this process sees the records.
	Shared bool

	present func() error
	close   func() error
}

// Present reports a store that still answers but is no longer where its URL says: a
// file that was deleted or replaced keeps its records for this process alone, and
// they are gone when it ends.
func (h *Handle) Present() error { return h.present() }

// Close frees what the store holds. No call may be under way.
func (h *Handle) Close() error { return h.close() }

// Check reports what is wrong with a URL. It opens nothing.
func Check(rawURL string) error {
	_, err := parse(rawURL)
	return err
}

// parse returns the file of a SQLite store, empty for the memory store.
func parse(rawURL string) (file string, err error) {
	scheme, rest, found := strings.Cut(rawURL, ":")
	switch {
	case !found:
		return "", fmt.Errorf("%q names no store; write sqlite:%s for a file, or memory: to keep records in memory", rawURL, rawURL)
	case scheme == "memory" && rest != "":
		return "", fmt.Errorf("the memory store takes no name; write memory: instead of memory:%s", rest)
	case scheme == "memory":
		return "", nil
	case scheme != "sqlite":
		return "", fmt.Errorf("stores of the kind %q are not built in; %s", scheme, builtIn)
	}
	file = strings.TrimPrefix(rest, "//")
	if file == "" || strings.HasPrefix(file, ":memory:") {
		return "", errors.New("a SQLite store needs a file; write sqlite:semel.db, or memory: to keep records in memory")
	}
	return file, nil
}

// Open opens the store at rawURL. The caller closes it.
func Open(ctx context.Context, rawURL string) (*Handle, error) {
	file, err := parse(rawURL)
	switch {
	case err != nil:
		return nil, err
	case file == "":
		return openMemory()
	}
	return openSQLite(ctx, file)
}

// OpenExisting is [Open] for a store that a gateway has made: a file that is
// missing is an error instead of a new, empty store.
func OpenExisting(ctx context.Context, rawURL string) (*Handle, error) {
	if file, err := parse(rawURL); err == nil && file != "" {
		if _, err := os.Stat(file); err != nil {
			return nil, fmt.Errorf("%w; name the file that the gateway uses", err)
		}
	}
	return Open(ctx, rawURL)
}

func openMemory() (*Handle, error) {
	store, err := memstore.New(nil)
	if err != nil {
		return nil, err
	}
	nothing := func() error { return nil }
	return &Handle{Store: store, Name: "memory", present: nothing, close: nothing}, nil
}
