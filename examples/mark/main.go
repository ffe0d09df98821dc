// Command mark does work once a day at most by a mark that expires, the recipe of SETNX,
// and shows what it is not good for.
//
//	go run ./examples/mark
//	REDIS_URL=redis://127.0.0.1:6379 go run ./examples/mark
//
// Without REDIS_URL the marks are in the memory of this process.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/examples/internal/scratch"
	"github.com/semel-go/semel/redisstore"
)

func main() { scratch.Main(run) }

func run(ctx context.Context) error { return scratch.Engine(ctx, story) }

func story(ctx context.Context, engine *semel.Engine) error {
	mark := engineMark(engine)
	if r, ok := engine.Store().(*redisstore.Store); ok { // a plain mark, of which the engine knows nothing
		mark = redisMark(r)
	}
	ada, bob := "ada-"+rand.Text(), "bob-"+rand.Text() // new customers in each run: a mark stays for a day
	var mail mailer
	err := scratch.AtOnce(8, func(int) error { return remind(ctx, mark, ada, mail.send) })
	fmt.Println("8 workers at once: mails", mail.sent.Swap(0))

	for _, mail.down = range []bool{true, false} {
		fmt.Println("by a mark:", remind(ctx, mark, bob, mail.send))
	}
	fmt.Println("mails", mail.sent.Swap(0)) // and there will be none today

	for _, mail.down = range []bool{true, false} {
		fmt.Println("by Do:", invoice(ctx, engine, bob, mail.send))
	}
	fmt.Println("mails", mail.sent.Swap(0))
	return err
}

type mailer struct {
	down bool
	sent atomic.Int64
}

func (m *mailer) send(context.Context) error {
	if m.down {
		return errors.New("the mail server is down")
	}
	m.sent.Add(1)
	return nil
}
