// Package storeurl opens the store that a --store URL names.
//
//   - storeurl.go: the kinds of URLs, and the open store
//   - sqlite.go, postgres.go, mysql.go, redis.go: opening each
//   - form.go, address.go, parameter.go, tls.go: the URL of a server
//   - postgresconfig.go, mysqlconfig.go, redisconfig.go: the same in the words of the driver
//   - schema.go: looking at a schema and bringing it up to date
package storeurl

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/memstore"
)

// Forms are the URLs that name a store, and SharedForms those of a store that more
// than one process can open.
const (
	Forms       = "memory:, " + SharedForms
	SharedForms = "sqlite:FILE, postgres://USER@HOST/DATABASE, mysql://USER@HOST/DATABASE, redis://USER@HOST, redis-sentinel://USER@HOST,HOST/NAME or redis-cluster://USER@HOST,HOST"
)

// Handle is an open store. Its optional capabilities are those of Store.
type Handle struct {
	Store semel.Store
	// Name says in a few words what the store is, without credentials.
	Name string
	// Shared is false if only this process sees the records.
	Shared bool
	// Warnings are sentences that an operator should read at start, beside what the
	// store says itself.
	Warnings []string
	// Connections tells of the pool to a server; nil where there is none.
	Connections func() Connections

	present func() error
	close   func() error
}

// Present reports a store that still answers but is no longer where its URL says: a
// file that was deleted or replaced keeps its records for this process alone, and
// they are gone when it ends.
func (h *Handle) Present() error { return h.present() }

// Close frees what the store holds. No call may be under way.
func (h *Handle) Close() error { return h.close() }

// Connections are those of a pool to a server.
type Connections struct{ InUse, Idle, Max int }

// nothing is what there is to say, or to free, of some stores.
func nothing() error { return nil }

// kind of a store; its text is that of messages.
type kind string

const (
	ofMemory   kind = "memory"
	ofSQLite   kind = "sqlite"
	ofPostgres kind = "postgres"
	ofMySQL    kind = "mysql"
	ofRedis    kind = "redis"
)

// target is what a URL names.
type target struct {
	kind    kind
	file    string  // of sqlite
	address address // of a server
}

// Check reports what is wrong with a URL. It opens nothing.
func Check(rawURL string) error {
	_, err := parse(rawURL)
	return err
}

func parse(rawURL string) (t target, err error) {
	scheme, rest, found := strings.Cut(rawURL, ":")
	switch {
	case !found:
		return t, fmt.Errorf("%q names no store; write sqlite:%s for a file, or memory: to keep records in memory", rawURL, rawURL)
	case scheme == "memory" && rest != "":
		return t, fmt.Errorf("the memory store takes no name; write memory: instead of memory:%s", rest)
	case scheme == "memory":
		return target{kind: ofMemory}, nil
	case scheme == "sqlite":
		return parseSQLite(rest)
	case others[scheme] != "":
		return t, errors.New(others[scheme])
	}
	if f, ok := formOf(scheme); ok {
		return parseServer(&f, scheme, rawURL)
	}
	return t, fmt.Errorf("stores of the kind %q are not built in; built in are %s", scheme, Forms)
}

func parseSQLite(rest string) (t target, err error) {
	file := strings.TrimPrefix(rest, "//")
	if file == "" || strings.HasPrefix(file, ":memory:") {
		return t, errors.New("a SQLite store needs a file; write sqlite:semel.db, or memory: to keep records in memory")
	}
	return target{kind: ofSQLite, file: file}, nil
}

func parseServer(f *form, scheme, rawURL string) (t target, err error) {
	t = target{kind: f.kind}
	if t.address, err = parseAddress(scheme, rawURL, f); err != nil {
		return t, err
	}
	return t, errors.Join(t.address.check(f.known), f.check(t.address))
}

// Redacted is a URL as it may be shown: without passwords. Of one in which they
// cannot be told from the rest nothing is left.
func Redacted(rawURL string) string {
	t, err := parse(rawURL)
	switch {
	case err != nil:
		return "xxxxx"
	case t.address.scheme != "":
		return t.address.redacted()
	}
	return rawURL
}

// Open opens the store at rawURL, and makes its tables or brings them up to date.
// The caller closes it.
func Open(ctx context.Context, rawURL string) (*Handle, error) { return open(ctx, rawURL, false) }

// OpenExisting is [Open] for a store that a gateway has made: a file that is
// missing, and tables of a server that are missing or old, are errors.
func OpenExisting(ctx context.Context, rawURL string) (*Handle, error) {
	return open(ctx, rawURL, true)
}

// OpenMigrated is [Open] for a store whose tables are made by other means: they are
// left as they are, and missing or old ones are an error.
func OpenMigrated(ctx context.Context, rawURL string) (*Handle, error) {
	t, err := parse(rawURL)
	if err == nil && t.kind == ofSQLite {
		err = checkSQLite(ctx, t.file)
	}
	if err != nil {
		return nil, err
	}
	return open(ctx, rawURL, true)
}

func open(ctx context.Context, rawURL string, existing bool) (*Handle, error) {
	t, err := parse(rawURL)
	if err != nil {
		return nil, err
	}
	switch t.kind {
	case ofSQLite:
		return openSQLite(ctx, t.file, existing)
	case ofPostgres:
		return openPostgres(ctx, t.address, existing)
	case ofMySQL:
		return openMySQL(ctx, t.address, existing)
	case ofRedis:
		return openRedis(ctx, t.address)
	}
	return openMemory()
}

func openMemory() (*Handle, error) {
	store, err := memstore.New(nil)
	if err != nil {
		return nil, err
	}
	return &Handle{Store: store, Name: "memory", present: nothing, close: nothing}, nil
}
