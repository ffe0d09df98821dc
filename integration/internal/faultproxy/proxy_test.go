package faultproxy

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"testing"
)

// recorder is a test that may fail without failing this one.
type recorder struct {
	testing.TB
	cleanups []func()
	failed   []string
}

func (r *recorder) Helper()           {}
func (r *recorder) Cleanup(do func()) { r.cleanups = append(r.cleanups, do) }
func (r *recorder) Errorf(format string, args ...any) {
	r.failed = append(r.failed, fmt.Sprintf(format, args...))
}

func TestFaultThatNeverHappensFailsTheTest(t *testing.T) {
	t.Parallel()
	r := &recorder{TB: t}
	p := Postgres(r, "127.0.0.1:1")
	p.Arm(isInsert, CutReply())
	if taken := p.Arm(isCommit, CutReply()); !p.Disarm(taken) || p.Disarm(taken) {
		t.Error("a fault is to be taken back once")
	}
	for _, do := range r.cleanups {
		do()
	}
	if len(r.failed) != 1 {
		t.Errorf("the test failed with %q, want one message about INSERT", r.failed)
	}
}

func TestServerThatIsDown(t *testing.T) {
	t.Parallel()
	client, err := net.Dial("tcp", Postgres(t, "127.0.0.1:1").Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if n, err := client.Read(make([]byte, 1)); err == nil {
		t.Errorf("read %d bytes from nobody", n)
	}
}

func TestStarts(t *testing.T) {
	t.Parallel()
	for statement, want := range map[string]bool{"COMMIT": true, " commit;": true, "COMMI": false, "": false} {
		if got := Starts("commit")(statement); got != want {
			t.Errorf("%q: %v", statement, got)
		}
	}
}

// FuzzProtocols: neither side of a connection can crash the proxy, and what is passed
// on is what came.
func FuzzProtocols(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x08\x04\xd2\x16\x2f\x00\x00\x00\x09\x00\x03\x00\x00\x00Q\x00\x00\x00\x08abc\x00"), []byte("Z\x00\x00\x00\x05I"))
	f.Add([]byte("\x05\x00\x00\x00\x17\x01\x00\x00\x00"), []byte("\x09\x00\x00\x00\x00\x01\x00\x00\x00\x01\x00\x01\x00"))
	f.Fuzz(func(t *testing.T, client, server []byte) {
		for _, p := range []protocol{newPostgres(), newMySQL()} {
			passed(t, p.fromClient, client)
			passed(t, p.fromServer, server)
		}
	})
}

func passed(t *testing.T, next func(*bufio.Reader) (message, error), stream []byte) {
	t.Helper()
	r, whole := bufio.NewReader(bytes.NewReader(stream)), 0
	for {
		m, err := next(r)
		if err != nil {
			return
		}
		if whole += len(m.raw); whole > len(stream) {
			t.Fatalf("%d bytes were made of %d", whole, len(stream))
		}
	}
}
