package cluster

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/semel-go/semel/integration/internal/engines"
	"github.com/semel-go/semel/integration/internal/gateway"
)

// Behind PgBouncer in transaction mode, where each statement may run in another
// session, gateways are one as ever. Waiting duplicates are told of the end through
// the direct connection that semel_listen names.
//
// Field fault: session state is stranded behind a pooler.
func TestThroughPgBouncer(t *testing.T) {
	t.Parallel()
	pg := engines.Postgres(t)
	owner := pg.Database(t)
	store := engines.Through(owner, pg.Bouncer(t).Addr()) + "&semel_listen=" + pg.Addr()
	shop := newShop(t)
	first := gateway.StartOn(t, binary, shop.URL, store)
	second := gateway.StartOn(t, binary, shop.URL, store, "--wait", "1m")
	c := newClient(t, first, second)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()

	arrived, release := make(chan struct{}), make(chan struct{})
	shop.holding(func(*http.Request) { close(arrived); <-release })
	answers := make(chan answer, 2)
	ask := func(via int) {
		got, err := c.once(ctx, via, "order-1")
		if err != nil {
			t.Error(err)
		}
		answers <- got
	}
	go ask(0)
	<-arrived
	go ask(1)
	db := connect(t, owner)
	for listening := 0; listening == 0; {
		err := db.QueryRowContext(ctx, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'").Scan(&listening)
		if err != nil {
			t.Fatalf("nobody listens for the end: %v", err)
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case got := <-answers:
			t.Fatalf("an answer before the end: %v", got)
		}
	}
	close(release)
	one, other := <-answers, <-answers
	if one != other || one.status != http.StatusCreated || shop.effectsOf("order-1") != 1 {
		t.Errorf("got %v and %v, %d effects", one, other, shop.effectsOf("order-1"))
	}
	wantReady(ctx, t, first, http.StatusOK)
	must(t, "keys", "get", "order-1", "--principal", "global", "--store", store)
}
