package kills

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/semel-go/semel"
)

// effect is a row that a worker wrote.
type effect struct {
	worker string
	fence  semel.Fence
}

// effects reads all of them, by key.
func (c *campaign) effects() map[int][]effect {
	c.t.Helper()
	rows, err := c.second.handle.DB.QueryContext(c.t.Context(), "SELECT job, worker, fence FROM effect ORDER BY fence")
	if err != nil {
		c.t.Fatal(err)
	}
	defer rows.Close()
	all := map[int][]effect{}
	for rows.Next() {
		var key int
		var e effect
		if err := rows.Scan(&key, &e.worker, &e.fence); err != nil {
			c.t.Fatal(err)
		}
		all[key] = append(all[key], e)
	}
	if err := rows.Err(); err != nil {
		c.t.Fatal(err)
	}
	return all
}

// finish lets the second worker do every job, several at once, and returns how many
// were in doubt.
func (c *campaign) finish() (doubts int) {
	c.t.Helper()
	var mu sync.Mutex
	var all sync.WaitGroup
	places := make(chan struct{}, 16)
	for _, j := range c.jobs {
		places <- struct{}{}
		all.Go(func() {
			defer func() { <-places }()
			err := c.finishOne(j)
			_, doubtful := errors.AsType[*semel.InDoubtError](err)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case doubtful && j.level == atMostOnce:
				doubts++
			case err != nil:
				c.t.Errorf("%v: the second worker: %v", j, err)
			}
		})
	}
	all.Wait()
	return doubts
}

// finishOne asks again when a claim of a dead worker, which was on its way, came in
// after the leases had run out.
func (c *campaign) finishOne(j job) (err error) {
	for range 3 {
		_, err = c.second.do(c.t.Context(), j, func(_ context.Context, effect func() error) error { return effect() })
		if _, running := errors.AsType[*semel.InProgressError](err); !running {
			return err
		}
		c.lapse(j)
	}
	return err
}

// recover clears up the doubts: whether an effect is there tells what happened.
func (c *campaign) recover() {
	c.t.Helper()
	for _, j := range c.jobs {
		if j.level != atMostOnce {
			continue
		}
		_, err := semel.DoRecover(c.t.Context(), c.second.engine, j.op(), func(ctx context.Context) (string, error) {
			return c.second.name, c.second.write(ctx, j)
		}, func(context.Context, semel.Recovery) semel.Recovered[string] {
			if there := c.effects()[j.key]; len(there) > 0 {
				return semel.Done(there[0].worker)
			}
			return semel.DidNotHappen[string]()
		})
		if err != nil {
			c.t.Errorf("%v: recovery: %v", j, err)
		}
	}
}

// checkAll checks the keys of a level, and returns how many effects there are more than
// keys.
func (c *campaign) checkAll(l level) (extra int) {
	c.t.Helper()
	made := c.effects()
	for _, j := range c.jobs {
		if j.level == l {
			c.check(j, made[j.key])
			c.checkDone(j, made[j.key])
			extra += len(made[j.key]) - 1
		}
	}
	return extra
}

// check compares the effects of a key with how its runs were cut short.
func (c *campaign) check(j job, made []effect) {
	c.t.Helper()
	fail := func(format string, args ...any) {
		c.t.Errorf("%v job %d, killed %v, effects %v: %s", j.level, j.key, c.kills[j.key], made, fmt.Sprintf(format, args...))
	}
	most := 1
	if j.level == atLeastOnce {
		most += len(c.kills[j.key])
	}
	if len(made) > most {
		fail("at most %d are allowed", most)
	}
	for _, k := range c.kills[j.key] {
		has := slices.ContainsFunc(made, func(e effect) bool { return e.worker == k.worker })
		if want := k.leaves(j.level); want != unknown && has != (want == one) {
			fail("%s left an effect: %t", k.worker, has)
		}
	}
	for i := 1; i < len(made); i++ {
		if made[i].fence <= made[i-1].fence && j.level != transactional {
			fail("two runs had the same fence")
		}
	}
}

// trace is what a killed run must have left.
type trace int

const (
	none trace = iota
	one
	unknown
)

func (k kill) leaves(l level) trace {
	switch {
	case k.point < effectWritten:
		return none
	case k.point == finished || l != transactional:
		return one
	case k.point == effectWritten:
		return none
	}
	return unknown
}

// checkDone finds the record done, with the name of somebody whose effect is there.
func (c *campaign) checkDone(j job, made []effect) {
	c.t.Helper()
	r := c.read(j)
	var author string
	if r.State == semel.StateDone {
		if err := json.Unmarshal(r.Result.Data, &author); err != nil {
			c.t.Errorf("job %d: result %q: %v", j.key, r.Result.Data, err)
		}
	}
	if !slices.ContainsFunc(made, func(e effect) bool { return e.worker == author }) {
		c.t.Errorf("%v job %d, killed %v: the record is %v by %q, the effects are %v", j.level, j.key, c.kills[j.key], r.State, author, made)
	}
	for _, k := range c.kills[j.key] {
		if k.point == finished && author != k.worker {
			c.t.Errorf("job %d: %s was told that it is done, and the record says %q", j.key, k.worker, author)
		}
	}
}
