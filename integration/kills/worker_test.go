package kills

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"sync"

	"github.com/semel-go/semel"
)

// point is where a worker is killed.
type point int

const (
	beforeClaim   point = iota // nothing was sent
	claimSent                  // the claim is on its way, or was executed, or answered
	claimed                    // the claim is held
	effectWritten              // the effect is there; in a transaction, not yet committed
	finishSent                 // the finish, or the commit, is on its way
	finished                   // it was acknowledged; the caller knows nothing of it
	points                     // their number
)

func (p point) String() string {
	return [...]string{"before claim", "claim sent", "claimed", "effect written", "finish sent", "finished"}[p]
}

// level is the guarantee level of a key's runs.
type level int

const (
	atLeastOnce level = iota
	atMostOnce
	transactional
)

func (l level) String() string {
	return [...]string{"at-least-once", "at-most-once", "transactional"}[l]
}

// job is a key and where its run is to be cut short.
type job struct {
	key   int
	level level
	point point
}

func (j job) String() string { return fmt.Sprintf("%d:%d:%d", j.key, j.level, j.point) }

func parseJob(s string) (j job, err error) {
	_, err = fmt.Sscanf(s, "%d:%d:%d", &j.key, &j.level, &j.point)
	return j, err
}

// op is the operation of a job. Its lease, if it has one, outlasts the test; see
// campaign.lapse.
func (j job) op() semel.Op {
	scope := semel.Scope{Principal: semel.Global, Operation: "kill"}
	op := semel.Op{Key: semel.KeyOf(scope, strconv.Itoa(j.key)), Input: semel.NoInput}
	switch j.level {
	case atLeastOnce:
		op.Policy = semel.AtLeastOnce
	case atMostOnce:
		op.Policy = semel.AtMostOnce
	}
	return op
}

// work is the worker: it runs all its jobs at once, says "at KEY here" at the point
// where a job is to be killed, and goes no further. A job that others have done already,
// or left in doubt, is "at KEY over".
//
// Of jobs that are killed while a call is under way, the call is sent when all others
// stand still, so that the kill comes a moment later.
func work(args []string) error {
	name, backend, dsn := args[0], args[1], args[2]
	e, err := open(context.Background(), name, backend, dsn)
	if err != nil {
		return err
	}
	w := &worker{executor: e}
	for _, arg := range args[3:] {
		j, err := parseJob(arg)
		if err != nil {
			return err
		}
		w.jobs = append(w.jobs, j)
		if !j.races() {
			w.still.Add(1)
		}
	}
	for _, j := range w.jobs {
		go w.run(j)
	}
	_, err = io.Copy(io.Discard, os.Stdin) // until the test ends, if it does not kill
	return err
}

// races says that the job is killed while a call is under way.
func (j job) races() bool { return j.point == claimSent || j.point == finishSent }

type worker struct {
	*executor
	jobs  []job
	still sync.WaitGroup // jobs that have not come to their point

	mu   sync.Mutex
	said []int
}

func (w *worker) run(j job) {
	w.stop(j, beforeClaim)
	w.race(j, claimSent)
	replayed, err := w.do(context.Background(), j, func(_ context.Context, effect func() error) error {
		if j.point == claimSent {
			select {}
		}
		w.stop(j, claimed)
		if err := effect(); err != nil {
			return err
		}
		w.stop(j, effectWritten)
		w.race(j, finishSent)
		return nil
	})
	if err == nil && !replayed {
		w.stop(j, finished)
	}
	w.say(j, over)
	if err != nil && !refused(err) {
		fmt.Fprintln(os.Stderr, w.name, j, err)
	}
}

// refused says that somebody else has the record.
func refused(err error) bool {
	_, running := errors.AsType[*semel.InProgressError](err)
	_, doubtful := errors.AsType[*semel.InDoubtError](err)
	return running || doubtful
}

// stop says that the job is at its point, and ends there.
func (w *worker) stop(j job, at point) {
	if j.point == at {
		w.say(j, here)
		select {}
	}
}

// race says that the job is at its point when all others are, and goes on.
func (w *worker) race(j job, at point) {
	if j.point == at {
		w.still.Wait()
		w.say(j, here)
	}
}

// What a worker says of a job.
const (
	here = "here"
	over = "over"
)

// say says how far a job has come, once.
func (w *worker) say(j job, how string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if slices.Contains(w.said, j.key) {
		return
	}
	w.said = append(w.said, j.key)
	fmt.Println("at", j.key, how)
	if !j.races() {
		w.still.Done()
	}
}
