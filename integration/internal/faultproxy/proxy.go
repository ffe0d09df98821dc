package faultproxy

import (
	"net"
	"slices"
	"sync"
	"testing"
)

// Proxy passes connections on to a server. Its methods may be called concurrently.
type Proxy struct {
	server   string
	speak    func() protocol
	listener net.Listener
	running  sync.WaitGroup

	mu     sync.Mutex
	closed bool
	links  map[*link]bool
	armed  []*Armed
	lost   bool // a statement is on its way that its client cannot call back
}

// Postgres is a proxy in front of a PostgreSQL server (or PgBouncer) at addr, for
// sslmode=disable. It ends with the test, and so do its connections.
func Postgres(t testing.TB, addr string) *Proxy {
	t.Helper()
	return start(t, addr, func() protocol { return newPostgres() })
}

// MySQL is a proxy in front of a MySQL or MariaDB server at addr, without TLS and
// compression. It ends with the test, and so do its connections.
func MySQL(t testing.TB, addr string) *Proxy {
	t.Helper()
	return start(t, addr, func() protocol { return newMySQL() })
}

func start(t testing.TB, addr string, speak func() protocol) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{server: addr, speak: speak, listener: l, links: map[*link]bool{}}
	p.running.Go(p.accept)
	t.Cleanup(func() {
		p.close()
		for _, a := range p.armed {
			t.Errorf("a fault was armed and no statement came that matched: %s", a.kind)
		}
	})
	return p
}

// Addr is where clients connect, as host:port.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Arm lets the fault happen to the next statement that matches, on any connection. Of
// several faults that match, the one that was armed first happens. A fault that is
// still armed at the end fails the test: it would have tested nothing.
func (p *Proxy) Arm(match func(statement string) bool, f Fault) *Armed {
	a := &Armed{Fault: f, match: match, fired: make(chan struct{})}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.armed = append(p.armed, a)
	return a
}

// Disarm takes a fault back and says whether it was still armed.
func (p *Proxy) Disarm(a *Armed) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := len(p.armed)
	p.armed = slices.DeleteFunc(p.armed, func(b *Armed) bool { return a == b })
	return len(p.armed) < before
}

// Cut ends all connections that are open now, at both ends, those in a black hole too: as
// keepalives do after a while. The server rolls back what they had begun.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		l.close()
	}
}

// trigger returns the fault that is to happen to a statement, or nil.
func (p *Proxy) trigger(statement string) *Armed {
	if statement == "" {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.armed, func(a *Armed) bool { return a.match(statement) })
	if i < 0 {
		return nil
	}
	a := p.armed[i]
	p.armed = slices.Delete(p.armed, i, i+1)
	p.lost = p.lost || a.kind == reset || a.kind == delay
	return a
}

// losesCancels says that requests to cancel do not arrive either. Otherwise they would
// decide by their speed whether the statement is executed.
func (p *Proxy) losesCancels() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lost
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.running.Go(func() { p.serve(client.(*net.TCPConn)) })
	}
}

// serve passes one connection on. A server that cannot be reached is an end of file to
// the client.
func (p *Proxy) serve(client *net.TCPConn) {
	defer client.Close()
	server, err := net.Dial("tcp", p.server)
	if err != nil {
		return
	}
	defer server.Close()
	l := &link{proxy: p, protocol: p.speak(), client: client, server: server.(*net.TCPConn), over: make(chan struct{})}
	if p.add(l) {
		defer p.remove(l)
		l.run()
	}
}

func (p *Proxy) add(l *link) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.links[l] = true
	}
	return !p.closed
}

func (p *Proxy) remove(l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.links, l)
}

// close ends all connections and waits for them.
func (p *Proxy) close() {
	p.listener.Close()
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.Cut()
	p.running.Wait()
}
