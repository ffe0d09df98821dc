package backends

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/integration/internal/faultproxy"
)

// Backend is a kind of store with its driver.
type Backend struct {
	// Name is the engine's and the driver's.
	Name string
	// Engine is the server's name; backends with the same one meet on a database.
	Engine string
	// Database makes an empty database and returns its DSN.
	Database func(t testing.TB) string
	// Open opens a store on a database, and makes its tables if they are missing.
	Open func(ctx context.Context, dsn string) (*Handle, error)
	// Proxy is a proxy in front of the server that Database uses, and Private a server
	// for this test alone. Both are nil if there is no server.
	Proxy   func(t testing.TB) *faultproxy.Proxy
	Private func(t testing.TB, settings map[string]string) Server

	// Resends: the driver sends a statement again whose reply was lost. A call may then
	// have its effect twice, and be told of the second one.
	Resends bool

	dialect dialect
}

// Store is a store with all optional capabilities.
type Store interface {
	semel.Store
	semel.Lister
	semel.Purger
	semel.Checkpointer
}

// Handle is an opened store.
type Handle struct {
	Store Store
	// DB is the same database, or one beside Redis, for rows of the caller's own.
	DB *sql.DB

	redis   *redisRecords // nil for a database of SQL
	dialect dialect
	closers []func() error // in their order
}

// Close closes the store and the database.
func (h *Handle) Close() (err error) {
	for _, c := range h.closers {
		err = errors.Join(err, c())
	}
	return err
}

// OpenFor opens a store that is closed at the end of the test.
func (b Backend) OpenFor(t testing.TB, dsn string) *Handle {
	t.Helper()
	h, err := b.Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// Pass moves the times of records back, as if d had gone by: their leases, and with
// expiry what they expire by. Each record is moved in one atomic step.
func (h *Handle) Pass(ctx context.Context, d time.Duration, expiry bool, keys ...semel.KeyID) error {
	set := "lease_until = lease_until - %[1]d"
	if expiry {
		set += ", expires_at = expires_at - %[1]d"
	}
	for _, key := range keys {
		if h.redis != nil {
			if err := h.redis.pass(ctx, d, expiry, key); err != nil {
				return err
			}
			continue
		}
		statement := fmt.Sprintf("UPDATE semel_record SET "+set+" WHERE %[2]s = %[3]s", d.Microseconds(), h.dialect.quote("key"), h.dialect.key(key))
		if _, err := h.DB.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// Kept says whether there is a row of this key, expired or not.
func (h *Handle) Kept(ctx context.Context, key semel.KeyID) (there bool, err error) {
	if h.redis != nil {
		return h.redis.kept(ctx, key)
	}
	statement := fmt.Sprintf("SELECT count(*) > 0 FROM semel_record WHERE %s = %s", h.dialect.quote("key"), h.dialect.key(key))
	err = h.DB.QueryRowContext(ctx, statement).Scan(&there)
	return there, err
}
