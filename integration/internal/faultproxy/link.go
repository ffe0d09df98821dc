package faultproxy

import (
	"bufio"
	"errors"
	"io"
	"net"
	"sync"
)

// link is one connection of a client and its counterpart to the server.
type link struct {
	protocol
	proxy          *Proxy
	client, server *net.TCPConn

	once sync.Once
	over chan struct{} // closed with both connections

	mu       sync.Mutex
	asked    int    // turns that the client has ended
	answered int    // turns whose reply has ended
	held     *Armed // the fault that waits for the reply to turn
	turn     int
	deaf     bool // nothing goes to the client any more
}

var errCut = errors.New("faultproxy: cut")

// run passes messages on in both directions until both have ended.
func (l *link) run() {
	var pumps sync.WaitGroup
	pumps.Go(func() {
		l.up()
		// The server still executes what it has got, and then closes.
		l.server.CloseWrite()
	})
	pumps.Go(func() {
		l.down()
		l.close()
	})
	pumps.Wait()
}

func (l *link) close() {
	l.once.Do(func() {
		l.client.Close()
		l.server.Close()
		close(l.over)
	})
}

// resetClient ends the client's connection as a crash or a firewall does.
func (l *link) resetClient() {
	l.client.SetLinger(0)
	l.client.Close()
}

// up passes on what the client sends.
func (l *link) up() {
	r := bufio.NewReader(l.client)
	for {
		m, err := l.fromClient(r)
		if err != nil {
			return
		}
		if m.answer != nil {
			_, err = l.client.Write(m.answer)
		} else {
			err = l.pass(m)
		}
		if err != nil {
			return
		}
	}
}

// pass passes on a message of the client, unless a fault prevents it.
func (l *link) pass(m message) error {
	if m.cancels && l.proxy.losesCancels() {
		return errCut
	}
	if a := l.proxy.trigger(m.statement); a != nil {
		if err := l.before(a); err != nil {
			return err
		}
	}
	l.mu.Lock()
	held := l.held
	last := m.ends && held != nil && l.asked == l.turn
	if m.ends {
		l.asked++
	}
	l.mu.Unlock()
	if _, err := l.server.Write(m.raw); err != nil {
		return err
	}
	if last {
		return l.after(held)
	}
	return nil
}

// before does what a fault does at its statement.
func (l *link) before(a *Armed) error {
	switch a.kind {
	case cutBefore:
		l.ignoreServer()
		l.resetClient()
		a.fire()
		return errCut
	case blackhole:
		l.ignoreServer()
		a.fire()
		io.Copy(io.Discard, l.client)
		<-l.over
		return errCut
	case delay:
		a.fire()
		l.await(a.until)
	default:
		l.mu.Lock()
		l.held, l.turn = a, l.asked
		l.mu.Unlock()
	}
	return nil
}

// after does what a fault does when the server has got its statement and whatever
// makes it reply. What the client has sent beyond that does not arrive after a cut.
func (l *link) after(a *Armed) error {
	switch a.kind {
	case reset:
		l.ignoreServer()
		l.resetClient()
		a.fire()
		return errCut
	case cutReply, closeReply:
		<-l.over
		return errCut
	}
	return nil
}

func (l *link) ignoreServer() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.deaf = true
}

func (l *link) await(signal <-chan struct{}) {
	select {
	case <-signal:
	case <-l.over:
	}
}

// down passes on what the server sends. It reads on when the client has gone: the
// server must not notice before it has done its work.
func (l *link) down() {
	r := bufio.NewReader(l.server)
	var kept []byte // a reply that is held back
	for {
		m, err := l.fromServer(r)
		if err != nil {
			return
		}
		held, last := l.reply(m)
		if held != nil {
			kept = append(kept, m.raw...)
			if !last {
				continue
			}
			if m.raw = kept; !l.replied(held) {
				return
			}
			kept = nil
		}
		if l.hears() {
			if _, err := l.client.Write(m.raw); err != nil {
				l.ignoreServer()
			}
		}
	}
}

// reply says which fault holds a message of the server back, and whether it is the
// last that it does.
func (l *link) reply(m message) (held *Armed, last bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held != nil && l.answered == l.turn {
		held, last = l.held, m.ends
	}
	if m.ends {
		l.answered++
	}
	if last {
		l.held = nil
	}
	return held, last
}

// replied does what a fault does when the reply is complete, and says whether the
// connection goes on.
func (l *link) replied(a *Armed) bool {
	switch a.kind {
	case cutReply:
		l.resetClient()
		a.fire()
		return false
	case closeReply:
		l.client.CloseWrite()
		a.fire()
		return false
	case reset: // the reply is faster than the reset
		l.ignoreServer()
	case delayReply:
		a.fire()
		l.await(a.until)
	}
	return true
}

func (l *link) hears() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.deaf
}
