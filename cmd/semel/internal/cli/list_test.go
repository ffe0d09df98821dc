package cli_test

import (
	"database/sql"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/cmd/semel/internal/admin"
)

// lines is how many records a list has.
func (s *shop) lines(args ...string) int {
	s.t.Helper()
	got := run(s.t, "", nil, append([]string{"keys", "list", "--json", s.flag}, args...)...)
	got.want(s.t, 0)
	return strings.Count(got.out, "\n")
}

func TestListSelects(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	engine, err := semel.New(s.open.Store, nil)
	if err != nil {
		t.Fatal(err)
	}
	nothing := func() error { return nil }
	if err := admin.NewChecker(engine, nothing, func(error) {}).Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[int]string{5: "", 1: "--operation=self-check", 2: "--limit=2", 0: "--older-than=1h"} {
		if n := s.lines(strings.Fields(args)...); n != want {
			t.Errorf("list %s: %d records, want %d", args, n, want)
		}
	}
	for _, args := range []string{"--operation=POST", "--limit=99", "--older-than=0s"} {
		if n := s.lines(args); n != 5 {
			t.Errorf("list %s: %d records, want 5", args, n)
		}
	}
	run(t, "", nil, "keys", "list", s.flag, "--limit=-1").want(t, 1, "are not negative")
}

// A record of a newer version hides no other, and is seen.
func TestListShowsUnreadable(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	db, err := sql.Open("sqlite", strings.TrimPrefix(s.flag, "--store=sqlite:"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	key := id("released")
	if _, err := db.Exec("UPDATE semel_record SET format = 99 WHERE key = ?", key[:]); err != nil {
		t.Fatal(err)
	}
	got := run(t, "", nil, "keys", "list", s.flag)
	got.want(t, 0, key.String()+"  unreadable  -", "of a newer format, or damaged")
	if n := strings.Count(got.out, "\n"); n != 6 {
		t.Errorf("%d lines, want a header and five records:\n%s", n, got.out)
	}
	if n := s.lines("--operation=POST"); n != 4 {
		t.Errorf("%d records of POST, want the four that can be read", n)
	}
}
