package mysql

import (
	"fmt"
	"sync"

	"github.com/semel-go/semel"
)

// gate lets calls in until it is closed, which waits for those inside.
type gate struct {
	mu     sync.RWMutex
	closed bool
}

// enter lets a call in; it must leave then.
func (g *gate) enter() error {
	g.mu.RLock()
	if g.closed {
		g.mu.RUnlock()
		return fmt.Errorf("%w: mysql: the store is closed", semel.ErrStoreUnavailable)
	}
	return nil
}

func (g *gate) leave() { g.mu.RUnlock() }

// close reports whether it was open.
func (g *gate) close() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	was := !g.closed
	g.closed = true
	return was
}
