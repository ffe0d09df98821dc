package postgres

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/semel-go/semel"
)

// fake is a database that answers by a script: for what a real one does not do on
// demand.
type fake struct {
	text *Text
	// answer says what a statement gives.
	answer func(ctx context.Context, text string, args []any) ([][]any, error)

	mu  sync.Mutex
	log []string // what the statements were, see nameOf
}

func (f *fake) Query(ctx context.Context, text string, args []any, each func(Row) error) error {
	f.mu.Lock()
	f.log = append(f.log, f.nameOf(text))
	f.mu.Unlock()
	rows, err := f.answer(ctx, text, args)
	for _, row := range rows {
		if err := each(fakeRow(row)); err != nil {
			return err
		}
	}
	return err
}

// nameOf names the statements of batches.
func (f *fake) nameOf(text string) string {
	for name, other := range map[string]string{
		"new": f.text.insertNew, "insert": f.text.insert, "insert many": f.text.insertMany, "take": f.text.retake, "read": f.text.read,
		"finish": f.text.finish, "finish many": f.text.finishMany, "finish why": f.text.finishWhy,
		"done": f.text.done, "done many": f.text.doneMany, "done why": f.text.doneWhy,
		"renew": f.text.renew, "renew many": f.text.renewMany, "renew why": f.text.renewWhy, "notify": f.text.notify,
	} {
		if text == other {
			return name
		}
	}
	return "other"
}

func (f *fake) QueryOnce(context.Context, string, []any, func(Row) error) error {
	return errors.New("not scripted")
}

func (f *fake) Transact(context.Context, func(Querier) error) error {
	return errors.New("not scripted")
}

func (f *fake) Close() error { return nil }

// took returns the statements since the last call.
func (f *fake) took() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	log := f.log
	f.log = nil
	return log
}

// fakeRow assigns as drivers do.
type fakeRow []any

func (r fakeRow) Scan(dest ...any) error {
	if len(dest) != len(r) {
		return fmt.Errorf("%d places for %d columns", len(dest), len(r))
	}
	for i, value := range r {
		to := reflect.ValueOf(dest[i]).Elem()
		to.Set(reflect.ValueOf(value).Convert(to.Type()))
	}
	return nil
}

// newFake returns a store on a scripted database, in order but for the script.
func newFake(t *testing.T, answer func(ctx context.Context, text string, args []any) ([][]any, error)) (*Store, *fake) {
	t.Helper()
	f := &fake{text: NewText("semel_"), answer: answer}
	s := newStore(f, Options{Prefix: "semel_", Timeout: 5 * time.Second, MaxBatch: 512, Direct: 1})
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, f
}

const fakeNow = int64(1_750_000_000_000_000)

// newRow answers textNew, for a fresh record.
func newRow() []any { return []any{fakeNow, fakeNow, fakeNow} }

// freshRow answers textInsertMany, for a fresh record of this key.
func freshRow(key semel.KeyID) []any {
	return append([]any{key[:]}, recordRow(true, semel.StateRunning, key, semel.Token{}, fakeNow)...)
}

// recordRow is a record as most statements tell of it.
func recordRow(moved bool, state semel.State, key semel.KeyID, token semel.Token, lease int64) []any {
	none := []byte{}
	return []any{
		moved, fakeNow, false, key[:], 1, state, 1, token[:], fakeNow, 1, lease, fakeNow + 1e12, fakeNow, 0, 0,
		make([]byte, 33), make([]byte, 8), none, none, 0, none, none,
	}
}

// keys reads the keys of a batch out of its parameters.
func keysOf(args []any) (keys []semel.KeyID) {
	text := args[1].(string)
	for i := 1; i+32 < len(text)+1 && text != "{}"; i += 33 {
		key, err := semel.ParseKeyID(text[i : i+32])
		if err != nil {
			panic(err)
		}
		keys = append(keys, key)
	}
	return keys
}

// coded is an error of the server.
type coded string

func (c coded) Error() string { return "state " + string(c) }

func (c coded) SQLState() string { return string(c) }

// safe is an error of a driver that knows that nothing was sent.
type safe struct{}

func (safe) Error() string { return "not sent" }

func (safe) SafeToRetry() bool { return true }
