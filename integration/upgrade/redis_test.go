package upgrade

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/integration/internal/engines"
	"github.com/semel-go/semel/redisstore"
)

// redisFile holds the records of the fixture as Redis has them. Its server's clock cannot
// be set, so that they are made older when they are loaded.
const redisFile = "redis.json"

// redisValues are records as they are stored, and when that was.
type redisValues struct {
	Written time.Time
	Values  map[string][]byte // by key in hexadecimal
}

// redisDatabase is a database for one test, as its client and its address.
func redisDatabase(t *testing.T) (*redis.Client, string) {
	t.Helper()
	where := engines.Redis(t).Database(t)
	client, prefix, err := redisAt(where)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client, prefix
}

// redisAt takes a URL whose fragment is the prefix of the keys.
func redisAt(where string) (client *redis.Client, prefix string, err error) {
	u, err := url.Parse(where)
	if err != nil {
		return nil, "", err
	}
	prefix, u.Fragment = u.Fragment, ""
	o, err := redis.ParseURL(u.String())
	if err != nil {
		return nil, "", err
	}
	o.ContextTimeoutEnabled = true
	return redis.NewClient(o), prefix, nil
}

// openRedis opens a store of its own.
func openRedis(ctx context.Context, where string) (semel.Store, func() error, error) {
	client, prefix, err := redisAt(where)
	if err != nil {
		return nil, nil, err
	}
	store, err := redisstore.New(ctx, client, &redisstore.Options{Prefix: prefix})
	if err != nil {
		return nil, nil, errors.Join(err, client.Close())
	}
	return store, func() error { return errors.Join(store.Close(), client.Close()) }, nil
}

func redisStore(t *testing.T, client *redis.Client, prefix string) *redisstore.Store {
	t.Helper()
	store, err := redisstore.New(t.Context(), client, &redisstore.Options{Prefix: prefix})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

// valuesOf are all values below a prefix.
func valuesOf(t *testing.T, client *redis.Client, prefix string) redisValues {
	t.Helper()
	v := redisValues{Written: client.Time(t.Context()).Val().UTC(), Values: map[string][]byte{}}
	keys := client.Scan(t.Context(), 0, prefix+"*", 1000).Iterator()
	for keys.Next(t.Context()) {
		value, err := client.Get(t.Context(), keys.Val()).Bytes()
		if err != nil {
			t.Fatal(err)
		}
		v.Values[keys.Val()[len(prefix):]] = value
	}
	if err := keys.Err(); err != nil {
		t.Fatal(err)
	}
	return v
}

// writeRedis is write on a Redis server.
func writeRedis(t *testing.T) redisValues {
	t.Helper()
	client, prefix := redisDatabase(t)
	store := redisStore(t, client, prefix)
	for _, s := range situations {
		s.write(newWriter(t, store, s.name))
	}
	call(t, store, true)
	return valuesOf(t, client, prefix)
}

// times are the places of the times in a value, as docs/stores-protocol.md has them: lease,
// expiry, start and doubt.
var times = []int{18, 26, 34, 42}

// shifted changes the times of a value that are set.
func shifted(value []byte, change func(us int64) int64) []byte {
	value = bytes.Clone(value)
	for _, at := range times {
		if us := int64(binary.LittleEndian.Uint64(value[at:])); us != 0 {
			binary.LittleEndian.PutUint64(value[at:], uint64(change(us)))
		}
	}
	return value
}

// frozen is what of the values does not depend on the clock and on the tokens: times are
// told in minutes.
func (v *redisValues) frozen() map[string]string {
	all := map[string]string{}
	for key, value := range v.Values {
		value = shifted(value, func(us int64) int64 {
			return int64(time.UnixMicro(us).Sub(v.Written).Round(time.Minute)/time.Minute) + 1<<20
		})
		clear(value[10:18])
		clear(value[50:66])
		all[key] = base64.StdEncoding.EncodeToString(value)
	}
	return all
}

// loadRedis puts the fixture into a database, as if it had been written an hour ago.
func loadRedis(t *testing.T, dir string, format byte) (*redis.Client, string) {
	t.Helper()
	v := redisFixture(t, dir)
	client, prefix := redisDatabase(t)
	older := client.Time(t.Context()).Val().Sub(v.Written) - later
	for key, value := range v.Values {
		value = shifted(value, func(us int64) int64 { return us + older.Microseconds() })
		value[0] = format
		if err := client.Set(t.Context(), prefix+key, value, 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	return client, prefix
}

func redisFixture(t *testing.T, dir string) (v redisValues) {
	t.Helper()
	if err := json.Unmarshal([]byte(load(t, filepath.Join(dir, redisFile))), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// What this version writes to Redis is what the format says, byte for byte.
func TestRedisWriterIsFrozen(t *testing.T) {
	t.Parallel()
	now, want := writeRedis(t), redisFixture(t, fixtureOf(semel.RecordFormat))
	if got, want := now.frozen(), want.frozen(); !maps.Equal(got, want) {
		t.Errorf("the values differ from the fixture's; raise semel.RecordFormat if that is meant:\n%q\nwant\n%q", got, want)
	}
}

// An upgrade on Redis: records read as the other stores' do, claims and owners are judged
// by the contract's table, and results are replayed.
func TestOldRecordsOnRedis(t *testing.T) {
	t.Parallel()
	fixtures(t, func(t *testing.T, dir string) {
		opened := func() semel.Store {
			client, prefix := loadRedis(t, dir, semel.RecordFormat)
			return redisStore(t, client, prefix)
		}
		if got, want := roughly(t, views(t, opened())), roughly(t, []byte(load(t, filepath.Join(dir, recordsFile)))); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
		claimAll(t, opened())
		finishAll(t, opened())
		call(t, opened(), false)
	})
}

// roughly is views without what depends on the clock, and with times to the minute.
func roughly(t *testing.T, text []byte) string {
	t.Helper()
	var all []view
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	var rough bytes.Buffer
	for _, v := range all {
		v.LeaseLeft, v.ExpiresIn = v.LeaseLeft.Round(time.Minute), v.ExpiresIn.Round(time.Minute)
		v.Fence, v.StartedAt, v.Since = 0, time.Time{}, time.Time{}
		fmt.Fprintf(&rough, "%+v\n", v)
	}
	return rough.String()
}

// After a rollback there are records of the next format: no method changes them, each says
// so by type, and Redis keeps them.
func TestRecordsOfTheNextFormatOnRedis(t *testing.T) {
	t.Parallel()
	client, prefix := loadRedis(t, fixtureOf(semel.RecordFormat), semel.RecordFormat+1)
	before := valuesOf(t, client, prefix)
	store := redisStore(t, client, prefix)
	refusedByAll(t, store)
	e := engineOn(t, store, nil)
	_, err := semel.Do(t.Context(), e, callOf("plain a value"), func(context.Context) (charge, error) {
		t.Error("an operation of the next format ran again")
		return charge{}, nil
	})
	if _, ok := errors.AsType[*semel.RecordFormatError](err); !ok {
		t.Errorf("%v; want a *RecordFormatError", err)
	}
	if after := valuesOf(t, client, prefix); !maps.EqualFunc(after.Values, before.Values, bytes.Equal) {
		t.Errorf("the values were changed from\n%q to\n%q", before, after)
	}
}

// Two neighbouring versions take orders from one server at the same time.
func TestNeighboursOnOneRedis(t *testing.T) {
	t.Parallel()
	where := engines.Redis(t).Database(t)
	client, prefix, err := redisAt(where)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	newer := append([]byte{semel.RecordFormat + 1}, "what the next version writes"...)
	taken := race(t, where, func(step int) (done []int) {
		for n := orders - 1; n >= 0; n -= step {
			first, err := client.SetNX(t.Context(), prefix+orderKey(n).ID().String(), newer, 0).Result()
			if err != nil {
				t.Fatal(err)
			}
			if first {
				done = append(done, n)
			}
		}
		return done
	})
	kept := 0
	for _, value := range valuesOf(t, client, prefix).Values {
		if bytes.Equal(value, newer) {
			kept++
		}
	}
	if kept != taken {
		t.Errorf("%d of %d records of the newer version are as they were", kept, taken)
	}
}

func saveRedis(t *testing.T, file string, v redisValues) {
	t.Helper()
	text, err := json.MarshalIndent(v, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	save(t, file, append(text, '\n'))
}
