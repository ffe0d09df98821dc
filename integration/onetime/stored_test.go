package onetime

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/onetime"
)

// Field fault: check then delete in two steps, two submits pass. And a wrong user
// neither consumes a token nor learns whether it exists.
func TestStoredTokens(t *testing.T) {
	t.Parallel()
	everywhere(t, onetime.Options{}, func(t *testing.T, w *world) {
		token, err := w.stored[0].Issue(t.Context(), "order", "alice")
		if err != nil {
			t.Fatal(err)
		}
		for _, other := range [][2]string{{"order", "bob"}, {"refund", "alice"}} {
			if err := w.stored[1].Consume(t.Context(), token, other[0], other[1]); err != onetime.ErrRefused {
				t.Errorf("%q got %v", other, err)
			}
		}
		var passed, refused atomic.Int64
		var group sync.WaitGroup
		for i := range 64 {
			group.Go(func() {
				switch err := w.stored[i%2].Consume(t.Context(), token, "order", "alice"); err {
				case nil:
					passed.Add(1)
				case onetime.ErrRefused:
					refused.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		group.Wait()
		if passed.Load() != 1 || refused.Load() != 63 {
			t.Errorf("%d passed, %d refused; want 1 and 63", passed.Load(), refused.Load())
		}
	})
}

// A stored token is one record, which expires by the store's clock.
func TestStoredTokenExpires(t *testing.T) {
	t.Parallel()
	everywhere(t, onetime.Options{}, func(t *testing.T, w *world) {
		token, err := w.stored[0].Issue(t.Context(), "order", "alice")
		if err != nil {
			t.Fatal(err)
		}
		page, err := w.handle.Store.List(t.Context(), semel.ListParams{Limit: 10})
		if err != nil || len(page.Records) != 1 {
			t.Fatalf("%d records, %v; want 1", len(page.Records), err)
		}
		if err := w.handle.Pass(t.Context(), time.Hour, true, page.Records[0].Key); err != nil {
			t.Fatal(err)
		}
		if err := w.stored[1].Consume(t.Context(), token, "order", "alice"); err != onetime.ErrRefused {
			t.Errorf("got %v, want ErrRefused", err)
		}
	})
}
