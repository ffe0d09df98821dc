package integration

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/integration/internal/engines"
	"github.com/semel-go/semel/sqlstore"
)

// mysqlStatus reads a counter of a server.
func mysqlStatus(t testing.TB, db *sql.DB, name string) (n int) {
	t.Helper()
	var ignored string
	if err := db.QueryRowContext(t.Context(), "SHOW GLOBAL STATUS LIKE '"+name+"'").Scan(&ignored, &n); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// Callers at the same time share statements; one alone has his own, and no more than
// one for a claim and one for a finish.
func TestMySQLCallersShareStatements(t *testing.T) {
	t.Parallel()
	server := engines.NewMariaDB(t, nil) // counters are a server's
	db := mysqlDB(t, server.Database(t), nil)
	s := mysqlStore(t, db, nil)
	cycle := func(ctx context.Context) error {
		p := mysqlClaim(randomKey())
		res, err := s.Claim(ctx, p)
		if err != nil || res.Outcome != semel.ClaimAcquired {
			return errors.Join(fmt.Errorf("claim of a new key: %v", res.Outcome), err)
		}
		_, err = s.Finish(ctx, mysqlDone(p.Key, p.Token, "result"))
		return err
	}
	count := func(do func()) (inserts, updates, selects int) {
		inserts, updates, selects = mysqlStatus(t, db, "Com_insert"), mysqlStatus(t, db, "Com_update"), mysqlStatus(t, db, "Com_select")
		do()
		return mysqlStatus(t, db, "Com_insert") - inserts, mysqlStatus(t, db, "Com_update") - updates, mysqlStatus(t, db, "Com_select") - selects
	}
	inserts, updates, selects := count(func() {
		for range 20 {
			if err := cycle(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	})
	if inserts != 20 || updates != 20 || selects > 2 { // the floor, once a second
		t.Errorf("20 calls one after the other: %d inserts, %d updates, %d selects; want 20, 20 and none", inserts, updates, selects)
	}
	const callers, each = 64, 10
	inserts, updates, _ = count(func() { concurrentCalls(t, callers, each, func(int) error { return cycle(t.Context()) }) })
	t.Logf("%d claims and finishes of %d callers: %d inserts, %d updates", callers*each, callers, inserts, updates)
	if inserts > callers*each/2 || updates > callers*each/2 {
		t.Errorf("%d claims and finishes took %d inserts and %d updates: they are not coalesced", callers*each, inserts, updates)
	}
}

// concurrentCalls makes each calls in each of callers goroutines.
func concurrentCalls(t *testing.T, callers, each int, call func(caller int) error) {
	t.Helper()
	var running sync.WaitGroup
	for caller := range callers {
		running.Go(func() {
			for range each {
				if err := call(caller); err != nil {
					t.Errorf("caller %d: %v", caller, err)
					return
				}
			}
		})
	}
	running.Wait()
}

// Field fault: InnoDB gap-lock deadlocks under ON DUPLICATE KEY UPDATE. Workers share
// few keys, and a purge runs beside them; nobody meets a deadlock, and none is counted.
func TestMySQLWorkersMeetNoDeadlock(t *testing.T) {
	t.Parallel()
	server := engines.NewMariaDB(t, nil) // counters are a server's
	var all sync.WaitGroup
	for _, isolation := range []string{"REPEATABLE-READ", "READ-COMMITTED", "SERIALIZABLE"} {
		db := mysqlDB(t, server.Database(t), map[string]string{"tx_isolation": "'" + isolation + "'"})
		all.Go(func() { workAndSweep(t, isolation, db) })
	}
	all.Wait()
	if n := mysqlStatus(t, mysqlDB(t, server.DSN(""), nil), "Innodb_deadlocks"); n != 0 {
		t.Errorf("%d deadlocks", n)
	}
}

// workAndSweep lets 64 workers claim and finish few keys on two handles, beside a
// purge.
func workAndSweep(t *testing.T, isolation string, db *sql.DB) {
	handles := []*sqlstore.Store{mysqlStore(t, db, nil), mysqlStore(t, db, nil)}
	keys := make([]semel.KeyID, 24)
	for i := range keys {
		keys[i] = randomKey()
	}
	ctx, stop := context.WithCancel(t.Context())
	purged := make(chan int)
	go func() { purged <- sweep(ctx, t, db, handles[0]) }()
	var owners owners
	concurrentCalls(t, 64, 25, func(caller int) error {
		return owners.cycle(t.Context(), handles[caller%2], keys[(caller*7+owners.next())%len(keys)])
	})
	stop()
	if n := <-purged; n == 0 || owners.runs == 0 {
		t.Errorf("%s: %d runs, %d records purged; the test tests nothing", isolation, owners.runs, n)
	} else {
		t.Logf("%s: %d runs, %d records purged", isolation, owners.runs, n)
	}
}

// sweep lets records expire and purges them until ctx ends, and counts them.
func sweep(ctx context.Context, t *testing.T, db *sql.DB, s *sqlstore.Store) (purged int) {
	for ctx.Err() == nil {
		_, err := db.ExecContext(context.WithoutCancel(ctx), "UPDATE semel_record SET expires_at = 1 WHERE state IN (2, 3) ORDER BY `key` LIMIT 5")
		if err != nil && !isMySQLConflict(err) {
			t.Errorf("expiring: %v", err)
			break
		}
		res, err := s.Purge(context.WithoutCancel(ctx), semel.PurgeParams{Limit: 3})
		if err != nil {
			t.Errorf("Purge: %v", err)
			break
		}
		purged += res.Purged
	}
	return purged
}

// owners holds the store to one owner a key at a time.
type owners struct {
	mu   sync.Mutex
	held map[semel.KeyID]semel.Token
	runs int
	turn int
}

func (o *owners) next() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.turn++
	return o.turn
}

func (o *owners) take(key semel.KeyID, token semel.Token) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.held == nil {
		o.held = make(map[semel.KeyID]semel.Token)
	}
	if _, taken := o.held[key]; taken {
		return errors.New("two owners of one key at once")
	}
	o.held[key] = token
	o.runs++
	return nil
}

func (o *owners) give(key semel.KeyID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.held, key)
}

// cycle claims a key and, where it gets it, finishes or releases it.
func (o *owners) cycle(ctx context.Context, s *sqlstore.Store, key semel.KeyID) error {
	p := mysqlClaim(key)
	res, err := s.Claim(ctx, p)
	if err != nil || res.Outcome != semel.ClaimAcquired {
		return err
	}
	if err := o.take(key, p.Token); err != nil {
		return err
	}
	f := mysqlDone(key, p.Token, "result")
	if p.Token[0]%3 == 0 {
		f.State, f.Result = semel.StateReleased, semel.StoredResult{}
	}
	o.give(key) // before the store does
	_, err = s.Finish(ctx, f)
	return err
}

// A call that the server refuses fails alone: those in its batch succeed.
func TestMySQLPoisonousCallFailsAlone(t *testing.T) {
	t.Parallel()
	db := mysqlDB(t, engines.MariaDB(t).Database(t), nil)
	s := mysqlStore(t, db, nil)
	poison := randomKey()
	mysqlExec(t, db, fmt.Sprintf("CREATE TRIGGER poison BEFORE INSERT ON semel_record FOR EACH ROW IF NEW.`key` = x'%x' THEN SIGNAL SQLSTATE '45000'; END IF", poison[:]))
	var mu sync.Mutex
	refused := 0
	concurrentCalls(t, 32, 5, func(caller int) error {
		p := mysqlClaim(randomKey())
		if caller%8 == 0 {
			p.Key = poison
		}
		res, err := s.Claim(t.Context(), p)
		if caller%8 != 0 {
			if err == nil && res.Outcome != semel.ClaimAcquired {
				err = fmt.Errorf("a new key is %v", res.Outcome)
			}
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		refused++
		if !errors.Is(err, semel.ErrStoreUnavailable) || errors.Is(err, semel.ErrNoReply) {
			return fmt.Errorf("the refused claim: %v, %w; want that the store is unavailable", res.Outcome, err)
		}
		return nil
	})
	if refused != 20 {
		t.Errorf("%d refusals; want 20", refused)
	}
}

// A purge takes as long as a chunk, not as long as what is due.
func TestMySQLPurgeInChunks(t *testing.T) {
	t.Parallel()
	db := mysqlDB(t, engines.MariaDB(t).Database(t), nil)
	s := mysqlStore(t, db, nil)
	const records = 2_500
	mysqlExec(t, db, fmt.Sprintf("INSERT INTO semel_record SELECT UNHEX(MD5(seq)), 1, 3, 1, UNHEX(MD5(seq)), seq, 1, 1, seq, 1, 0, 0, REPEAT(x'00', 33), REPEAT(x'00', 8), 'x', '', 1, REPEAT('r', 300), NULL FROM seq_1_to_%d", records))
	purged, chunks := 0, 0
	for more := true; more; chunks++ {
		began := time.Now()
		res, err := s.Purge(t.Context(), semel.PurgeParams{Limit: records})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d records in %v", res.Purged, time.Since(began))
		purged, more = purged+res.Purged, res.More
	}
	if purged != records || chunks < 3 {
		t.Errorf("%d records purged in %d chunks; want %d in 3", purged, chunks, records)
	}
}

// I3: the highest fence of purged records is kept, and a new record begins above it,
// also after the clock was set back; here the floor is moved ahead of the clock.
func TestMySQLFenceGrowsOverPurgeAndClockStep(t *testing.T) {
	t.Parallel()
	db := mysqlDB(t, engines.MariaDB(t).Database(t), nil)
	s := mysqlStore(t, db, nil)
	const ahead = 9_000_000_000_000_000
	p := mysqlClaim(randomKey())
	acquire(t, s, p)
	mysqlExec(t, db, fmt.Sprintf("UPDATE semel_record SET fence = %d, lease_until = 1, expires_at = 1", ahead))
	if res, err := s.Purge(t.Context(), semel.PurgeParams{Limit: 10}); err != nil || res.Purged != 1 {
		t.Fatal(res, err)
	}
	for _, handle := range []*sqlstore.Store{s, mysqlStore(t, db, nil)} {
		concurrentCalls(t, 8, 2, func(int) error {
			p := mysqlClaim(randomKey())
			res, err := handle.Claim(t.Context(), p)
			if err != nil || res.Record.Fence <= ahead {
				return fmt.Errorf("claimed with fence %d, %w; want one above %d", res.Record.Fence, err, ahead)
			}
			r, err := handle.Read(t.Context(), semel.ReadParams{Key: p.Key})
			if err != nil || r.Fence != res.Record.Fence {
				return fmt.Errorf("the record has fence %d, %w; the claim said %d", r.Fence, err, res.Record.Fence)
			}
			return nil
		})
	}
}
