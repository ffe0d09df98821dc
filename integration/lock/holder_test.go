package lock_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"syscall"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/integration/internal/backends"
	"github.com/semel-go/semel/lock"
)

// lease is the shortest that there is.
const lease = time.Second

// holder is a process that holds the lock "n" and is killed, or pauses itself for longer
// than its lease and then tries what it may not do any more. It says what came of that.
func holder(args []string) error {
	name, dsn, how := args[0], args[1], args[2]
	ctx := context.Background()
	b, err := backends.Named(name)
	if err != nil {
		return err
	}
	h, err := b.Open(ctx, dsn)
	if err != nil {
		return err
	}
	locker, err := lock.New(h.Store, &lock.Config{Lease: lease, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	held, err := locker.Acquire(ctx, "n", nil)
	if err != nil {
		return err
	}
	fmt.Println("held", held.Fence())
	if how == "pause" {
		err = late(ctx, h, held)
	} else {
		_, err = bufio.NewReader(os.Stdin).ReadString('\n') // it is killed meanwhile
	}
	return errors.Join(err, locker.Close(ctx), h.Close())
}

// late stands still until somebody continues the process. The signal may take a moment
// to stop this thread too.
func late(ctx context.Context, h *backends.Handle, held *lock.Held) error {
	began := time.Now()
	if err := syscall.Kill(os.Getpid(), syscall.SIGSTOP); err != nil {
		return err
	}
	for time.Since(began) < lease {
		runtime.Gosched()
	}
	lost := held.Lost()
	<-held.Context().Done()
	write := guardedWrite(ctx, h.DB, held.Fence())
	release := held.Release()
	fmt.Println("late", errors.Is(lost, semel.ErrLeaseLost), errors.Is(write, semel.ErrFenced), errors.Is(release, semel.ErrFenced))
	return nil
}
