package memstore_test

import (
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/memstore"
)

func newStore(tb testing.TB, opts *memstore.Options) *memstore.Store {
	tb.Helper()
	store, err := memstore.New(opts)
	if err != nil {
		tb.Fatal(err)
	}
	return store
}

func claimOf(key semel.KeyID) semel.ClaimParams {
	return semel.ClaimParams{
		Key: key, Token: semel.Token(key), Policy: semel.AtLeastOnce,
		Lease: 30 * time.Second, Retention: 24 * time.Hour, Operation: "charge",
	}
}

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	if _, err := memstore.New(&memstore.Options{MaxBytes: 100}); err == nil {
		t.Error("a budget of 100 bytes was accepted")
	}
	if _, err := memstore.New(&memstore.Options{MaxBytes: -1}); err == nil {
		t.Error("a negative budget was accepted")
	}
}

// A full store refuses what is new; it never forgets what is there.
func TestFullStoreRefusesInsteadOfForgetting(t *testing.T) {
	t.Parallel()
	store := newStore(t, &memstore.Options{MaxBytes: 64 << 10})
	held := fill(t, store, 0)
	for i := range held {
		r, err := store.Read(t.Context(), semel.ReadParams{Key: randomKey(i)})
		if err != nil || r.State != semel.StateRunning {
			t.Fatalf("record %d of %d: %v, %v; want running", i, held, r.State, err)
		}
	}
	if st := store.Stats(); st.Records != held || st.Bytes > st.MaxBytes {
		t.Errorf("stats %+v; want %d records within the budget", st, held)
	}
}

// A run that has its claim can still save a result when new claims are refused.
func TestFullStoreLeavesRoomForResults(t *testing.T) {
	t.Parallel()
	store := newStore(t, &memstore.Options{MaxBytes: 64 << 10})
	fill(t, store, 0)
	done := semel.FinishParams{Key: randomKey(0), Token: semel.Token(randomKey(0)), State: semel.StateDone, Retention: time.Hour}
	done.Result.Data = make([]byte, 1<<20)
	if _, err := store.Finish(t.Context(), done); !errors.Is(err, semel.ErrStoreFull) {
		t.Errorf("finish with a result larger than the budget: %v; want ErrStoreFull", err)
	}
	done.Result.Data = make([]byte, 1<<10)
	if _, err := store.Finish(t.Context(), done); err != nil {
		t.Errorf("finish with a small result: %v", err)
	}
	done.Key, done.Token, done.Result.Data = randomKey(1), semel.Token(randomKey(1)), nil
	if _, err := store.Finish(t.Context(), done); err != nil {
		t.Errorf("finish without data: %v", err)
	}
}

// Expired records make room for new ones, in whatever shard they lie.
func TestFullStoreForgetsTheExpired(t *testing.T) {
	t.Parallel()
	clock := &handClock{now: time.Unix(1_700_000_000, 0)}
	store := newStore(t, &memstore.Options{MaxBytes: 64 << 10, Now: clock.Now})
	before := fill(t, store, 0)
	clock.now = clock.now.Add(25 * time.Hour)
	if again := fill(t, store, 1_000); again != before {
		t.Errorf("%d records fit, then %d after all had expired", before, again)
	}
}

// fill claims keys from the given number on until the store is full, and returns
// how many claims it took.
func fill(t *testing.T, store *memstore.Store, from int) int {
	t.Helper()
	for i := range 1000 {
		_, err := store.Claim(t.Context(), claimOf(randomKey(from+i)))
		if errors.Is(err, semel.ErrStoreFull) && i > 0 {
			return i
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("1000 records fit into 64 KiB")
	return 0
}

// A busy key leaves nothing behind: neither queue entries nor bytes.
func TestBusyKeyTakesOneRecord(t *testing.T) {
	t.Parallel()
	store := newStore(t, nil)
	p := claimOf(randomKey(0))
	var once int64
	for i := range 10_000 {
		p.Token = semel.NewToken()
		if res, err := store.Claim(t.Context(), p); err != nil || res.Outcome != semel.ClaimAcquired {
			t.Fatal(res.Outcome, err)
		}
		release := semel.FinishParams{Key: p.Key, Token: p.Token, State: semel.StateReleased, Retention: p.Retention}
		if _, err := store.Finish(t.Context(), release); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			once = store.Stats().Bytes
		}
	}
	if st := store.Stats(); st.Records != 1 || st.Bytes != once || store.Queued() != 1 {
		t.Errorf("%+v and %d queue entries after 10,000 runs of one key; want 1 record of %d bytes, 1 entry", st, store.Queued(), once)
	}
}

// What is counted against the budget is what the heap really holds.
func TestBytesAreCountedTruthfully(t *testing.T) {
	store := newStore(t, nil)
	before := heapInUse()
	const records = 100_000
	for i := range records {
		cycle(t, store, randomKey(i), make([]byte, 300))
	}
	held, counted := float64(heapInUse()-before), float64(store.Stats().Bytes)
	t.Logf("heap %.0f B a key, counted %.0f", held/records, counted/records)
	if held < 0.8*counted || held > 1.2*counted {
		t.Errorf("the heap grew by %.0f bytes, the store counted %.0f", held, counted)
	}
	runtime.KeepAlive(store)
}
