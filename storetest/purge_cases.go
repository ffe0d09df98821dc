package storetest

import (
	"github.com/semel-go/semel"
)

func purgeCases() []Case {
	return []Case{
		{
			Name:  "purge/in chunks",
			Why:   "one delete of everything stops the store for all others; and what is not counted cannot be watched",
			needs: needsPurger, check: purgeChunks,
		},
		{
			Name:  "purge/only the expired",
			Why:   "a purge that takes a live lease or a doubt makes work run twice",
			needs: needsPurger, check: purgeSpares,
		},
	}
}

// purgeAll purges until nothing is left to purge.
func (t *T) purgeAll() {
	purger := t.subject.Store.(semel.Purger)
	for range 1000 {
		res, err := purger.Purge(t.ctx, semel.PurgeParams{Limit: 100})
		if err != nil {
			t.fatalf("Purge: %v", err)
		}
		if !res.More {
			return
		}
	}
	t.fatalf("Purge says that there is more, 1000 times")
}

func purgeChunks(t *T) {
	keys := t.keysIn(doneRecord)
	t.advance(retention + 10*lease)
	purger := t.subject.Store.(semel.Purger)
	for range len(keys) {
		res, err := purger.Purge(t.ctx, semel.PurgeParams{Limit: 5})
		if err != nil || res.Purged > 5 || res.Purged < 0 {
			t.fatalf("Purge with limit 5: %+v, %v", res, err)
		}
		if res.More && (res.Lag <= 0 || !near(res.Lag, 10*lease) && res.Lag < 10*lease) {
			t.errorf("Purge says that there is more, due for %v; want about %v", res.Lag, 10*lease)
		}
		if !res.More {
			break
		}
	}
	res, err := purger.Purge(t.ctx, semel.PurgeParams{Limit: 5})
	if err != nil || res.Purged != 0 || res.More || res.Lag != 0 {
		t.errorf("Purge when all is purged: %+v, %v; want nothing", res, err)
	}
}

func purgeSpares(t *T) {
	type spared struct {
		name string
		in   situation
		want semel.State
	}
	rows := []spared{
		{"a live lease past its retention", leaseAlivePastRetention, semel.StateRunning},
		{"a record in doubt", doubtByHandler, semel.StateInDoubt},
		{"a lapsed AtMostOnce run", running(semel.AtMostOnce), semel.StateInDoubt},
		{"a record in doubt by attempts", doubtByAttempts(releasedRecord), semel.StateInDoubt},
		{"a lapsed recovery", underRecovery, semel.StateInDoubt},
	}
	keys := make([]semel.KeyID, len(rows))
	for i, row := range rows[1:] {
		keys[i+1] = t.key()
		row.in(t, keys[i+1])
	}
	t.advance(2 * retention)
	keys[0] = t.key()
	leaseAlivePastRetention(t, keys[0])
	fresh := t.key()
	doneRecord(t, fresh)
	t.purgeAll()
	for i, row := range rows {
		t.wantState("after a purge, "+row.name+":", keys[i], row.want)
	}
	t.wantState("after a purge, a record that is not expired:", fresh, semel.StateDone)
}
