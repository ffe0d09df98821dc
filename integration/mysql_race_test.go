package integration

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/integration/internal/engines"
	"github.com/semel-go/semel/integration/internal/faultproxy"
	"github.com/semel-go/semel/sqlstore"
)

// isMySQLTakeover tells the statement that takes a record over.
func isMySQLTakeover(statement string) bool {
	return strings.Contains(statement, "r.attempt = ?, r.doubt_since")
}

// isMySQLFinish tells the statements that write results.
func isMySQLFinish(statement string) bool { return strings.Contains(statement, "UPDATE semel_record") }

// Field fault: takeover by read-then-write overwrites a live record. What happens
// between the look at a lapsed record and the statement that takes it over is not lost:
// a renewal keeps the record, and a checkpoint is seen by the next run.
func TestMySQLTakeoverHeedsWhatHappenedMeanwhile(t *testing.T) {
	t.Parallel()
	server := engines.MariaDB(t)
	dsn := server.Database(t)
	db := mysqlDB(t, dsn, nil)
	owner := mysqlStore(t, db, nil)
	proxy := faultproxy.MySQL(t, server.Addr())
	other := mysqlStore(t, mysqlDB(t, engines.Through(dsn, proxy.Addr()), nil), nil)
	for _, c := range []struct {
		name      string
		meanwhile func(p semel.ClaimParams) error
		want      semel.Outcome
		note      string
	}{
		{"renewed", func(p semel.ClaimParams) error {
			_, err := owner.Renew(t.Context(), semel.RenewParams{Key: p.Key, Token: p.Token, Lease: time.Hour})
			return err
		}, semel.ClaimRunning, "first"},
		{"checkpoint", func(p semel.ClaimParams) error {
			_, err := owner.Checkpoint(t.Context(), semel.CheckpointParams{Key: p.Key, Token: p.Token, Data: []byte("second")})
			return err
		}, semel.ClaimAcquired, "second"},
		{"finished", func(p semel.ClaimParams) error {
			_, err := owner.Finish(t.Context(), mysqlDone(p.Key, p.Token, "result"))
			return err
		}, semel.ClaimDone, ""},
		{"deleted", func(p semel.ClaimParams) error {
			r, err := owner.Read(t.Context(), semel.ReadParams{Key: p.Key})
			if err != nil {
				return err
			}
			_, err = owner.Resolve(t.Context(), semel.ResolveParams{Key: p.Key, Token: semel.NewToken(), Fence: r.Fence, Resolution: semel.ResolveDelete})
			return err
		}, semel.ClaimAcquired, ""},
	} {
		p := mysqlClaim(randomKey())
		acquire(t, owner, p)
		if _, err := owner.Checkpoint(t.Context(), semel.CheckpointParams{Key: p.Key, Token: p.Token, Data: []byte("first")}); err != nil {
			t.Fatal(err)
		}
		if err := mysqlAdvance(t.Context(), db, "semel_", 2*time.Minute); err != nil {
			t.Fatal(err)
		}
		goOn := make(chan struct{})
		late := proxy.Arm(isMySQLTakeover, faultproxy.Delay(goOn))
		answered := make(chan error, 1)
		go func() {
			q := mysqlClaim(p.Key)
			res, err := other.Claim(t.Context(), q)
			if err == nil && (res.Outcome != c.want || string(res.Record.Checkpoint) != c.note) {
				err = fmt.Errorf("%v with checkpoint %q; want %v with %q", res.Outcome, res.Record.Checkpoint, c.want, c.note)
			}
			answered <- err
		}()
		<-late.Fired()
		if err := c.meanwhile(p); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		close(goOn)
		if err := <-answered; err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// Results that share a statement are judged one by one: those of stale owners, of
// records that are gone and of keys that never were there are refused, a result that
// was given before stands, and the others are kept.
func TestMySQLFinishesOfABatchAreJudgedOneByOne(t *testing.T) {
	t.Parallel()
	server := engines.MariaDB(t)
	dsn := server.Database(t)
	proxy := faultproxy.MySQL(t, server.Addr())
	s := mysqlStore(t, mysqlDB(t, engines.Through(dsn, proxy.Addr()), nil), nil)
	begin := func() semel.ClaimParams {
		p := mysqlClaim(randomKey())
		acquire(t, s, p)
		return p
	}
	first := begin()
	var cases []batchedFinish
	for i := range 8 {
		p := begin()
		cases = append(cases, batchedFinish{p, p.Token, nil, fmt.Sprint("result ", i)})
		stale := begin()
		cases = append(cases, batchedFinish{stale, semel.NewToken(), semel.ErrFenced, ""})
		zero := spend(t, s)
		cases = append(cases, batchedFinish{zero, semel.Token{}, semel.ErrFenced, ""})
		cases = append(cases, batchedFinish{mysqlClaim(randomKey()), p.Token, semel.ErrFenced, ""})
		done := begin()
		if _, err := s.Finish(t.Context(), mysqlDone(done.Key, done.Token, "stands")); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, batchedFinish{done, done.Token, nil, "stands"})
	}
	goOn := make(chan struct{})
	slow := proxy.Arm(isMySQLFinish, faultproxy.DelayReply(goOn))
	slowly := make(chan error, 1)
	go func() { _, err := s.Finish(t.Context(), mysqlDone(first.Key, first.Token, "first")); slowly <- err }()
	<-slow.Fired()
	var finishing sync.WaitGroup // they queue behind the slow one, and overtake it together
	for i, c := range cases {
		finishing.Go(func() {
			data := c.result
			if data == "" || data == "stands" {
				data = fmt.Sprint("other ", i)
			}
			if _, err := s.Finish(t.Context(), mysqlDone(c.claim.Key, c.token, data)); !errors.Is(err, c.want) || c.want == nil && err != nil {
				t.Errorf("finish %d: %v; want %v", i, err, c.want)
			}
		})
	}
	finishing.Wait()
	close(goOn)
	if err := <-slowly; err != nil {
		t.Errorf("the slow one: %v", err)
	}
	for i, c := range cases {
		r, err := s.Read(t.Context(), semel.ReadParams{Key: c.claim.Key})
		if err != nil || string(r.Result.Data) != c.result {
			t.Errorf("finish %d: the record has the result %q, %v; want %q", i, r.Result.Data, err, c.result)
		}
	}
}

// spend leaves a record in doubt, since its attempts are used up, that nobody owns.
func spend(t *testing.T, s *sqlstore.Store) semel.ClaimParams {
	t.Helper()
	p := mysqlClaim(randomKey())
	acquire(t, s, p)
	if _, err := s.Finish(t.Context(), semel.FinishParams{Key: p.Key, Token: p.Token, State: semel.StateReleased, Retention: time.Hour}); err != nil {
		t.Fatal(err)
	}
	p.MaxAttempts = 1
	if res, err := s.Claim(t.Context(), p); err != nil || res.Outcome != semel.ClaimInDoubt {
		t.Fatal(res.Outcome, err)
	}
	return p
}

// batchedFinish is a finish in a batch: its answer, and the result after it.
type batchedFinish struct {
	claim  semel.ClaimParams
	token  semel.Token
	want   error
	result string
}
