package mysql

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestPatienceBoundsACall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &patience{timeout: 4 * time.Second}
		for _, parent := range []context.Context{context.Background(), t.Context()} {
			for range 5 { // calls at other times of the shared context
				began := time.Now()
				ctx, cancel := p.bound(parent)
				<-ctx.Done()
				if took := time.Since(began); took < 4*time.Second || took > 5*time.Second || !errors.Is(context.Cause(ctx), errTooSlow) {
					t.Errorf("ended after %v, by %v; want 4s to 5s, by the store's patience", took, context.Cause(ctx))
				}
				cancel()
				time.Sleep(300 * time.Millisecond)
			}
		}
	})
}

func TestCallerHasLessPatience(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &patience{timeout: 4 * time.Second}
		parent, leave := context.WithCancel(t.Context())
		ctx, cancel := p.bound(parent)
		defer cancel()
		leave()
		synctest.Wait()
		if !errors.Is(context.Cause(ctx), context.Canceled) {
			t.Errorf("the caller left, and the call goes on: %v", context.Cause(ctx))
		}
		short, end := context.WithTimeout(t.Context(), time.Second)
		defer end()
		if same, _ := p.bound(short); same != short {
			t.Error("a context that ends soon was bounded again")
		}
	})
}
