package idgen

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/semel-go/semel/idgen"
	"github.com/semel-go/semel/integration/internal/backends"
)

// issuerBatch is how many ids a killed issuer may have had without writing them down.
const issuerBatch = 64

// issuer takes a worker id from the backend and database of its first two arguments,
// with as many bits as the third, says "worker id", and waits for a line. Then it issues
// the fourth's number of ids and writes them to the fifth's file; it says "half" in the
// middle and "done" at the end, and holds the worker id until it gets another line.
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
	node, err := patientNode(ctx, handle.Store, bits)
	if err != nil {
		return err
	}
	fmt.Println("worker", node.Worker())
	lines := bufio.NewReader(os.Stdin)
	if _, err := lines.ReadString('\n'); err != nil {
		return err
	}
	if err := issue(ctx, node, count, file); err != nil {
		return err
	}
	fmt.Println("done", node.Worker())
	if _, err := lines.ReadString('\n'); err != nil {
		return err
	}
	return errors.Join(node.Close(ctx), handle.Close(), file.Close())
}

// patientNode waits until a worker id is free.
func patientNode(ctx context.Context, store backends.Store, bits int) (*idgen.Node, error) {
	for {
		node, err := idgen.NewNode(ctx, store, &idgen.Options{Layout: idgen.Layout{WorkerBits: bits}, Lease: 2 * time.Second})
		_, taken := errors.AsType[*idgen.WorkersError](err)
		_, early := errors.AsType[*idgen.ClockError](err)
		if !taken && !early {
			return node, err
		}
		<-time.After(20 * time.Millisecond)
	}
}

func issue(ctx context.Context, node *idgen.Node, count int, file *os.File) error {
	batch := make([]byte, 0, 8*issuerBatch)
	for n := range count {
		id, err := node.Next(ctx)
		if err != nil {
			return err
		}
		batch = binary.LittleEndian.AppendUint64(batch, uint64(id))
		if len(batch) == cap(batch) || n == count-1 {
			if _, err := file.Write(batch); err != nil {
				return err
			}
			batch = batch[:0]
		}
		if n == count/2 {
			fmt.Println("half")
		}
	}
	return nil
}
