package admin

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/semel-go/semel"
)

// SelfCheck is the operation of self-checks in records and metrics.
const SelfCheck = "self-check"

// The scope of self-checks: no principal of the gateway begins with a zero byte.
var selfCheckScope = semel.Scope{Principal: "\x00semel/self-check", Operation: SelfCheck}

const (
	checkEvery     = 5 * time.Second
	checkTimeout   = 4 * time.Second
	checkRetention = time.Minute
)

// Checker proves again and again that a replay works: a new key is claimed, run
// and finished, asked for again, and must not run twice.
type Checker struct {
	engine  *semel.Engine
	present func() error
	tell    func(error)
	now     func() time.Time

	mu   sync.Mutex
	last time.Time
	err  error
}

// NewChecker checks engine, and by present that its store is still in its place, and
// reports each check to tell.
func NewChecker(engine *semel.Engine, present func() error, tell func(error)) *Checker {
	return &Checker{engine: engine, present: present, tell: tell, now: time.Now}
}

// Check returns the outcome of a check that is at most five seconds old; callers
// who come while one is under way wait for it.
func (c *Checker) Check(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.last.IsZero() && c.now().Sub(c.last) < checkEvery {
		return c.err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkTimeout)
	defer cancel()
	c.err = c.run(ctx)
	c.last = c.now()
	c.tell(c.err)
	return c.err
}

func (c *Checker) run(ctx context.Context) error {
	if err := c.present(); err != nil {
		return err
	}
	nonce := rand.Text()
	first, err := c.once(ctx, nonce, nonce)
	if err != nil {
		return fmt.Errorf("self-check: the first run failed: %w", err)
	}
	again, err := c.once(ctx, nonce, "run twice")
	switch {
	case err != nil:
		return fmt.Errorf("self-check: the replay failed: %w", err)
	case first.Replayed || !again.Replayed || again.Value != nonce:
		return errors.New("self-check: the second request was not answered with the result of the first; look at the store and its logs")
	}
	return nil
}

func (c *Checker) once(ctx context.Context, nonce, answer string) (semel.Result[string], error) {
	op := semel.Op{
		Key:       semel.KeyOf(selfCheckScope, nonce),
		Input:     semel.InputString(nonce),
		Policy:    semel.AtLeastOnce,
		Lease:     checkTimeout,
		Retention: checkRetention,
		Wait:      -1,
	}
	return semel.Do(ctx, c.engine, op, func(context.Context) (string, error) { return answer, nil })
}
