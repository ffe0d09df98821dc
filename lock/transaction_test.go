package lock

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/semel-go/semel"
)

// A session of MySQL goes back to its pool with the setting that it came with.
func TestSessionIsRestoredAfterAPanic(t *testing.T) {
	t.Parallel()
	tx := new(said)
	func() {
		defer func() { _ = recover() }()
		_ = Within(t.Context(), tx, MySQL, time.Second, func() error { panic("work") })
	}()
	if len(tx.texts) != 2 || tx.texts[1] != popMySQL {
		t.Errorf("sent %q", tx.texts)
	}
}

// SHA-256 over the parts, each with its length before it; worked out by other means.
const (
	goldenAdvisory = 2842932730456342081
	goldenResource = "cc9961fcabadaa2b4d499b9810e5cf49"
)

// The numbers of names are public: two versions of a program have to mean the same lock
// and the same row.
func TestNamesKeepTheirNumbers(t *testing.T) {
	t.Parallel()
	if got := advisoryKey("rebuild"); got != goldenAdvisory {
		t.Errorf("the advisory lock has the number %d", got)
	}
	if got := fenceKey("report/2026").String(); got != goldenResource {
		t.Errorf("the resource has the key %s", got)
	}
}

// said is a transaction that notes what it is told.
type said struct{ texts []string }

func (s *said) ExecContext(ctx context.Context, query string, _ ...any) (sql.Result, error) {
	if ctx.Err() == nil {
		s.texts = append(s.texts, query)
	}
	return nil, ctx.Err()
}

func TestSchemas(t *testing.T) {
	t.Parallel()
	for dialect, want := range map[Dialect]string{
		Postgres: "resource uuid", MySQL: "ENGINE = InnoDB", SQLite: "WITHOUT ROWID",
	} {
		text, err := Fences{Dialect: dialect, Table: "app.fences"}.Schema()
		if err != nil || !strings.Contains(text, want) || !strings.HasPrefix(text, "CREATE TABLE IF NOT EXISTS app.fences (") {
			t.Errorf("%v: %s, %v", dialect, text, err)
		}
	}
	if _, err := (Fences{}).Schema(); !errors.Is(err, errNoDialect) {
		t.Errorf("no dialect: %v", err)
	}
	for _, table := range []string{"Fences", "a.b.c", "x; DROP TABLE y", "x y", strings.Repeat("x", 64)} {
		if _, err := (Fences{Dialect: Postgres, Table: table}).Schema(); err == nil {
			t.Errorf("the table %q was taken", table)
		}
	}
}

func TestUnknownDatabasesAreRefused(t *testing.T) {
	t.Parallel()
	tx := new(said)
	for _, err := range []error{
		Guard(t.Context(), tx, "a", 1),
		Fences{}.Create(t.Context(), tx),
		Fences{Dialect: MySQL}.Guard(t.Context(), tx, "a", 1),
		Within(t.Context(), tx, 0, time.Second, func() error { return nil }),
	} {
		if !errors.Is(err, errNoDialect) || len(tx.texts) > 0 {
			t.Errorf("got %v after %q", err, tx.texts)
		}
	}
}

// Where the wait is left to the database, nothing but the work is sent.
func TestUnboundedWaitsCostNothing(t *testing.T) {
	t.Parallel()
	for _, wait := range []time.Duration{0, semel.Forever} {
		for _, dialect := range []Dialect{Postgres, MySQL} {
			tx := new(said)
			worked := false
			if err := Within(t.Context(), tx, dialect, wait, func() error { worked = true; return nil }); err != nil || !worked || len(tx.texts) > 0 {
				t.Errorf("%v, waiting %v: %v, sent %q", dialect, wait, err, tx.texts)
			}
		}
	}
}

// What sets the transaction right is sent though the context has ended.
func TestSettingsAreRestoredAfterACancel(t *testing.T) {
	t.Parallel()
	for _, dialect := range []Dialect{Postgres, MySQL} {
		tx := new(said)
		ctx, cancel := context.WithCancel(t.Context())
		err := Within(ctx, tx, dialect, time.Second, func() error { cancel(); return context.Cause(ctx) })
		if !errors.Is(err, context.Canceled) || len(tx.texts) != 2 {
			t.Errorf("%v: %v, sent %q", dialect, err, tx.texts)
		}
	}
}
