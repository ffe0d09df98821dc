package backends

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/integration/internal/engines"
	"github.com/semel-go/semel/integration/internal/faultproxy"
	"github.com/semel-go/semel/redisstore"
)

// Redis has records only: rows of the caller's own are in a file of SQLite.
func Redis() Backend {
	return Backend{
		Name: "Redis", Engine: "Redis",
		Database: func(t testing.TB) string {
			return engines.Redis(t).Database(t) + ";" + filepath.Join(t.TempDir(), "rows.db")
		},
		Proxy: func(t testing.TB) *faultproxy.Proxy { return faultproxy.Redis(t, engines.Redis(t).Addr()) },
		Private: func(t testing.TB, settings map[string]string) Server {
			return engines.NewRedis(t, &engines.Options{Settings: settings})
		},
		Open: openRedis,
	}
}

// openRedis takes a URL, the prefix of the records as its fragment, and the file of rows.
func openRedis(ctx context.Context, dsn string) (*Handle, error) {
	url, rest, _ := strings.Cut(dsn, "#")
	prefix, file, _ := strings.Cut(rest, ";")
	o, err := redis.ParseURL(url)
	if err != nil {
		return nil, err
	}
	o.ContextTimeoutEnabled, o.MaxRetries = true, -1
	client := redis.NewClient(o)
	store, err := redisstore.New(ctx, client, &redisstore.Options{Prefix: prefix})
	if err != nil {
		return nil, errors.Join(err, client.Close())
	}
	db, err := sql.Open("sqlite", file+"?_pragma=busy_timeout(60000)&_pragma=journal_mode(WAL)")
	if err != nil {
		return nil, errors.Join(err, store.Close(), client.Close())
	}
	return &Handle{
		Store: expiring{store}, DB: db, redis: &redisRecords{client, prefix},
		closers: []func() error{store.Close, client.Close, db.Close},
	}, nil
}

// expiring is a store whose server expires records by itself.
type expiring struct{ *redisstore.Store }

// Purge has nothing to do.
func (expiring) Purge(context.Context, semel.PurgeParams) (semel.PurgeResult, error) {
	return semel.PurgeResult{}, nil
}

// redisRecords are the records past their store.
type redisRecords struct {
	client *redis.Client
	prefix string
}

// pass moves the times of a record back, at the places that docs/stores-protocol.md gives
// them: lease_until, and with ARGV[2] expires_at.
const pass = `
local value = redis.call('GET', KEYS[1])
if not value then return 0 end
local function back(at)
  local time = struct.unpack('<i8', value, at + 1)
  if time ~= 0 then redis.call('SETRANGE', KEYS[1], at, struct.pack('<i8', time - ARGV[1])) end
end
back(18)
if ARGV[2] == '1' then back(26) end
return 1`

func (r *redisRecords) pass(ctx context.Context, d time.Duration, expiry bool, key semel.KeyID) error {
	return r.client.Eval(ctx, pass, []string{r.prefix + key.String()}, d.Microseconds(), expiry).Err()
}

func (r *redisRecords) kept(ctx context.Context, key semel.KeyID) (bool, error) {
	n, err := r.client.Exists(ctx, r.prefix+key.String()).Result()
	return n > 0, err
}
