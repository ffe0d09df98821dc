package cluster

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/semel-go/semel/integration/internal/gateway"
)

// An expired record counts as none at once, whenever the purge comes by.
//
// Field fault: an expired row still answers while the purge is behind.
func TestExpiredRecords(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		store, shop := e.shared(t), newShop(t)
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		c := newClient(t, gateway.StartOn(t, binary, shop.URL, store, "--retention", "2s", "--lease", "1s"))
		once := mustPay(ctx, t, c, "order-1")
		until(ctx, t, "a new run", func() bool { return mustPay(ctx, t, c, "order-1") != once })
		if n := shop.effectsOf("order-1"); n != 2 {
			t.Errorf("%d effects, want another one after the retention", n)
		}
		until(ctx, t, "an empty list", func() bool {
			return must(t, "keys", "list", "--json", "--operation", http.MethodPost, "--store", store) == ""
		})
	})
}

// until asks again and again.
func until(ctx context.Context, t *testing.T, what string, good func() bool) {
	t.Helper()
	for !good() {
		select {
		case <-ctx.Done():
			t.Fatalf("no %s", what)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
