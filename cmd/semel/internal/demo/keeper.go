package demo

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// keeper runs the shop and starts it again, on the same address and the same
// table, when it has died.
type keeper struct {
	file     string
	addr     string
	cardTime time.Duration
	slowTime time.Duration
	downTime time.Duration
	charged  func(order string)

	closing chan struct{}
	done    chan error // of run, once
}

// startKeeper listens and opens the shop. [keeper.close] has to follow.
func startKeeper(ctx context.Context, file string, o Options, charged func(order string)) (*keeper, error) {
	listener, err := net.Listen("tcp", anyPort)
	if err != nil {
		return nil, fmt.Errorf("the shop: %w", err)
	}
	books, err := openLedger(ctx, file)
	if err != nil {
		listener.Close()
		return nil, err
	}
	k := &keeper{
		file: file, addr: listener.Addr().String(), cardTime: o.CardTime, slowTime: o.slowTime(), downTime: o.RestartTime, charged: charged,
		closing: make(chan struct{}), done: make(chan error, 1),
	}
	go func() { k.done <- k.run(listener, books) }()
	return k, nil
}

func (k *keeper) run(listener net.Listener, books *ledger) error {
	for {
		if err := k.live(listener, books); err != nil || !k.rest() {
			return err
		}
		var err error
		if listener, err = net.Listen("tcp", k.addr); err != nil {
			return fmt.Errorf("the shop cannot come back: %w", err)
		}
		if books, err = openLedger(context.Background(), k.file); err != nil {
			listener.Close()
			return err
		}
	}
}

// live is one life of the shop: it ends by die or with the demo, all connections
// cut.
func (k *keeper) live(listener net.Listener, books *ledger) error {
	dead := make(chan struct{})
	server := &http.Server{ReadHeaderTimeout: 5 * time.Second}
	die := sync.OnceFunc(func() { close(dead); server.Close() })
	s := &shop{ledger: books, cardTime: k.cardTime, slowTime: k.slowTime, charged: k.charged, die: die, dead: dead}
	server.Handler = s.handler()
	watch := make(chan struct{})
	go func() {
		defer close(watch)
		select {
		case <-k.closing:
			die()
		case <-dead:
		}
	}()
	server.Serve(listener)
	die()
	<-watch
	return books.Close() // waits for a commit under way
}

// rest waits until the shop may come back; false means that the demo ends.
func (k *keeper) rest() bool {
	timer := time.NewTimer(k.downTime)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-k.closing:
		return false
	}
}

// close ends the shop for good. It may be called once.
func (k *keeper) close() error {
	close(k.closing)
	return <-k.done
}
