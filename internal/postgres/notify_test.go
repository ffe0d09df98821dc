package postgres

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/semel-go/semel"
)

// Notifications take a lock that all of them share: only who is waited for sends one,
// and those that end meanwhile share the next.
func TestNotificationsOnlyForThoseWhoWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		text := NewText("semel_")
		gate := make(chan struct{})
		var mu sync.Mutex
		var sent []any
		s, f := newFake(t, func(_ context.Context, query string, args []any) ([][]any, error) {
			switch query {
			case text.notify:
				<-gate
				mu.Lock()
				defer mu.Unlock()
				sent = append(sent, args[1])
				return nil, nil
			case text.finish, text.done, text.renew:
				return [][]any{{args[1] != uuid(semel.KeyID{9})}}, nil
			}
			return nil, nil
		})
		for _, n := range []byte{9, 1, 2, 3} {
			if _, err := s.Finish(t.Context(), finishOf(n, semel.StateDone)); err != nil {
				t.Error(err)
			}
			synctest.Wait()
		}
		if _, err := s.Renew(t.Context(), semel.RenewParams{Key: semel.KeyID{4}, Token: semel.Token{1}, Lease: 1}); err != nil {
			t.Error(err)
		}
		close(gate)
		synctest.Wait()
		two := newArray(2, 32)
		two.uuid(semel.KeyID{2})
		two.uuid(semel.KeyID{3})
		if want := []any{"{" + uuid(semel.KeyID{1}) + "}", two.arg()}; !slices.Equal(sent, want) {
			t.Errorf("notifications %q; want %q", sent, want)
		}
		wantLog(t, f, "done", "done", "notify", "done", "done", "renew", "notify")
	})
}

func TestThisProcessIsToldAtOnce(t *testing.T) {
	t.Parallel()
	var told []semel.KeyID
	n := notifier{send: func([]semel.KeyID) {}, ended: func(key semel.KeyID) { told = append(told, key) }}
	n.add(semel.KeyID{7})
	n.close()
	if !slices.Equal(told, []semel.KeyID{{7}}) {
		t.Errorf("told of %v", told)
	}
}
