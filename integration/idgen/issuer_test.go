package idgen

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/idgen"
	"github.com/semel-go/semel/integration/internal/backends"
)

// issuerBatch is how many ids a killed issuer may have had without writing them down.
const issuerBatch = 64

// processLease is the lease of an issuer.
const processLease = 2 * time.Second

// issuer takes a worker id from the backend and database of its first two arguments,
// with as many bits as the third, says "worker id", and waits for a line. Then it issues
// the fourth's number of ids by the clock of the sixth and writes them to the fifth's
// file; it says "first", "half" in the middle and "done" at the end, and holds the worker
// id until it gets another line. Where its clock is one that sleeps, it is done as well
// when its worker id is lost, and says "lost" before.
func issuer(args []string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	bits, err1 := strconv.Atoi(args[2])
	count, err2 := strconv.Atoi(args[3])
	backend, err3 := backends.Named(args[0])
	file, err4 := os.Create(args[4])
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return err
	}
	handle, err := backend.Open(ctx, args[1])
	if err != nil {
		return err
	}
	node, err := patientNode(ctx, handle.Store, bits, clockOf(args[5]))
	if err != nil {
		return err
	}
	fmt.Println("worker", node.Worker())
	lines := bufio.NewReader(os.Stdin)
	if _, err := lines.ReadString('\n'); err != nil {
		return err
	}
	err = issue(ctx, node, count, file)
	switch {
	case errors.Is(err, semel.ErrLeaseLost) && args[5] == sleepingClock:
		fmt.Println("lost")
	case err != nil:
		return err
	}
	fmt.Println("done", node.Worker())
	if _, err := lines.ReadString('\n'); err != nil {
		return err
	}
	return errors.Join(node.Close(ctx), handle.Close(), file.Close())
}

// patientNode waits until a worker id is free.
func patientNode(ctx context.Context, store backends.Store, bits int, now func() time.Time) (*idgen.Node, error) {
	for {
		node, err := idgen.NewNode(ctx, store, &idgen.Options{Layout: idgen.Layout{WorkerBits: bits}, Lease: processLease, Now: now})
		_, taken := errors.AsType[*idgen.WorkersError](err)
		_, early := errors.AsType[*idgen.ClockError](err)
		if !taken && !early {
			return node, err
		}
		<-time.After(20 * time.Millisecond)
	}
}

func issue(ctx context.Context, node *idgen.Node, count int, file *os.File) error {
	out := bufio.NewWriterSize(file, 8*issuerBatch)
	for n := range count {
		id, err := node.Next(ctx)
		if err != nil {
			return errors.Join(err, out.Flush())
		}
		if _, err := out.Write(binary.LittleEndian.AppendUint64(nil, uint64(id))); err != nil {
			return err
		}
		switch n {
		case 0:
			fmt.Println("first")
		case count / 2:
			fmt.Println("half")
		}
	}
	return out.Flush()
}

// Wall clocks of processes.
const (
	rightClock    = "right"
	clockBehind   = "behind"   // by more than a lease
	sleepingClock = "sleeping" // while the process is stopped, as after a snapshot
)

func clockOf(kind string) func() time.Time {
	switch kind {
	case clockBehind:
		return func() time.Time { return time.Now().Add(-processLease * 5 / 4) }
	case sleepingClock:
		c := &sleeper{last: time.Now()}
		return c.now
	}
	return time.Now
}

// sleeper is a clock that is always asked, but while its process is stopped.
type sleeper struct {
	mu    sync.Mutex
	last  time.Time
	slept time.Duration
}

func (c *sleeper) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if gap := now.Sub(c.last); gap > processLease/4 {
		c.slept += gap
	}
	c.last = now
	return now.Add(-c.slept)
}
