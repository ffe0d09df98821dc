package engines

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
)

// mine is the servers of this test binary. It is global because the tests of a
// package have nothing else in common.
var mine struct {
	sync.Mutex
	group    *group // nil outside of Main
	postgres *PostgresServer
	mariadb  *MariaDBServer
	redis    *RedisServer
}

// Main is the TestMain of packages that use engines: it runs the tests, ends all
// servers, removes their data and returns the exit code. When the test binary is
// killed, its servers end with it, and the next one removes the data.
func Main(m *testing.M) (code int) {
	g := &group{}
	mine.Lock()
	mine.group = g
	mine.Unlock()
	defer func() {
		if err := g.close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}()
	return m.Run()
}

// share returns the server in slot, which the first test starts.
func share[S sharer](t testing.TB, slot *S, start func(*group) (S, error)) S {
	t.Helper()
	mine.Lock()
	defer mine.Unlock()
	var none S
	if *slot == none {
		*slot = need(t, mine.group, start)
		(*slot).share()
	}
	return *slot
}

type sharer interface {
	comparable
	share()
}

// private starts a server that ends with the test.
func private[S ender](t testing.TB, start func(*group) (S, error)) S {
	t.Helper()
	mine.Lock()
	g := mine.group
	mine.Unlock()
	s := need(t, g, start)
	t.Cleanup(func() {
		if err := s.end(); err != nil {
			t.Error(err)
		}
	})
	return s
}

type ender interface{ end() error }

// need starts a server, or ends the test.
func need[S any](t testing.TB, g *group, start func(*group) (S, error)) S {
	t.Helper()
	if g == nil {
		t.Fatal("nobody would end the server; let TestMain call os.Exit(engines.Main(m))")
	}
	s, err := start(g)
	if _, missing := errors.AsType[missingError](err); missing && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}
