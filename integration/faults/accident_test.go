package faults

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/integration/internal/faultproxy"
)

// accident is what happens to a statement of a call.
type accident struct {
	name  string
	fault func(until <-chan struct{}) faultproxy.Fault
	// reaches: the server executes the statement, sooner or later.
	reaches bool
	// silent: nothing comes back. The caller's deadline passes while it waits.
	silent bool
	// lingers: the connection stays open at the server, with all that it has locked.
	lingers bool
}

func accidents() []accident {
	at := func(f func() faultproxy.Fault) func(<-chan struct{}) faultproxy.Fault {
		return func(<-chan struct{}) faultproxy.Fault { return f() }
	}
	return []accident{
		{name: "cut before", fault: at(faultproxy.CutBefore)},
		{name: "cut reply", fault: at(faultproxy.CutReply), reaches: true},
		{name: "reset", fault: at(faultproxy.Reset), reaches: true},
		{name: "delay", fault: faultproxy.Delay, reaches: true, silent: true},
		{name: "delayed reply", fault: faultproxy.DelayReply, reaches: true, silent: true},
		{name: "blackhole", fault: at(faultproxy.Blackhole), silent: true, lingers: true},
	}
}

// during has the accident at the nth statement that call sends, and returns when call
// has. What was held back has been let go by then.
func (a accident) during(t *testing.T, p *faultproxy.Proxy, nth int, call func(ctx context.Context) error) error {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	until := make(chan struct{})
	defer close(until)
	armed := p.Arm(number(nth), a.fault(until))
	if a.silent {
		go func() {
			select {
			case <-armed.Fired():
				cancel()
			case <-ctx.Done():
			}
		}()
	}
	err := call(ctx)
	if a.lingers {
		p.Cut()
	}
	if p.Disarm(armed) {
		t.Errorf("%s: the call sent no statement %d", a.name, nth)
	}
	return err
}

// number matches the nth statement on records, or script. What opens or ends a
// transaction is counted with them.
func number(n int) func(string) bool {
	return func(statement string) bool {
		if !counts(statement) {
			return false
		}
		n--
		return n == 0
	}
}

// counts is false for what a driver says to itself when it opens a connection, and for
// the look at the floor, which a store takes now and then.
func counts(statement string) bool {
	s := strings.ToUpper(strings.TrimSpace(statement))
	if strings.HasPrefix(s, "SELECT") && !strings.Contains(s, "SEMEL_RECORD") {
		return false
	}
	for _, word := range []string{"BEGIN", "START", "COMMIT", "ROLLBACK", "EVALSHA"} {
		if strings.HasPrefix(s, word) {
			return true
		}
	}
	return strings.Contains(s, "SEMEL_")
}

// statements is how many statements call sends.
func statements(p *faultproxy.Proxy, call func()) (n int) {
	var seen int
	armed := p.Arm(func(statement string) bool {
		if counts(statement) {
			seen++
		}
		return false
	}, faultproxy.CutBefore())
	call()
	p.Disarm(armed)
	return seen
}

// What a caller is told when a call fails.
func unavailable(err error) bool {
	return errors.Is(err, semel.ErrStoreUnavailable) && !errors.Is(err, semel.ErrNoReply)
}

func noReply(err error) bool { return errors.Is(err, semel.ErrNoReply) }
