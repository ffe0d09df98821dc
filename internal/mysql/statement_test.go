package mysql

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/internal/combiner"
)

func TestParametersAreFoundByTheirNumbers(t *testing.T) {
	t.Parallel()
	text := positional("a ?2 b ?10 c ?2 d ?1")
	if text.sql != "a ? b ? c ? d ?" || !slices.Equal(text.order, []int{1, 9, 1, 0}) {
		t.Errorf("%+v", text)
	}
	if got := positional("?2 ?1").args([]any{"x", "y"}); !slices.Equal(got, []any{"y", "x"}) {
		t.Errorf("arguments %v", got)
	}
}

// MySQL has no statement that MariaDB alone knows, and no statement has a condition
// that was not filled in.
func TestStatementsAreForTheirServer(t *testing.T) {
	t.Parallel()
	for _, mariadb := range []bool{true, false} {
		d := newDialect("app_", mariadb)
		for id, text := range d.statements() {
			if text.sql == "" || strings.ContainsAny(text.sql, "{}") || strings.Contains(text.sql, "semel_") {
				t.Errorf("statement %d: %q", id, text.sql)
			}
			if strings.Contains(text.sql, "SET STATEMENT") && !mariadb || strings.Contains(text.sql, "RETURNING") {
				t.Errorf("statement %d is not MySQL's: %q", id, text.sql)
			}
			if writes := strings.Contains(text.sql, "UPDATE semel") || strings.Contains(text.sql, "INSERT INTO"); mariadb && writes && id != int(stmtFill) &&
				!strings.HasPrefix(text.sql, "SET STATEMENT innodb_lock_wait_timeout = 1 FOR ") {
				t.Errorf("statement %d waits without a bound: %q", id, text.sql)
			}
		}
	}
}

// A single-table UPDATE assigns from left to right and reads what it has assigned. A
// column that the assignment of another one reads must come after it.
func TestAssignmentsReadNoColumnAssignedBefore(t *testing.T) {
	t.Parallel()
	for id, text := range newDialect("semel_", true).statements() {
		_, set, ok := strings.Cut(text.sql, "UPDATE semel_record AS r SET")
		if !ok {
			continue
		}
		set, _, _ = strings.Cut(set, "WHERE")
		var assigned []string
		for _, assignment := range topLevel(set) {
			column, value, _ := strings.Cut(strings.TrimSpace(assignment), " = ")
			for _, other := range assigned {
				// The state that a finish aims at reads the cause, which it has set so
				// that the answer is the same.
				if strings.Contains(value, other) && !(id == int(stmtFinish) && column == "r.state" && other == "r.cause") {
					t.Errorf("statement %d: the value of %s reads %s, which is assigned before it", id, column, other)
				}
			}
			assigned = append(assigned, column)
		}
		if len(assigned) == 0 {
			t.Errorf("statement %d assigns nothing: %s", id, text.sql)
		}
	}
}

// topLevel splits at the commas that stand in no parentheses.
func topLevel(list string) (parts []string) {
	depth, begin := 0, 0
	for i, c := range list {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth == 0 {
				parts = append(parts, list[begin:i])
				begin = i + 1
			}
		}
	}
	return append(parts, list[begin:])
}

// A semicolon at the end of a line of comment would make a statement of the comment,
// which MySQL refuses.
func TestMigrationsAreStatements(t *testing.T) {
	t.Parallel()
	all, err := Migrations("semel_")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		for _, sql := range m.Statements() {
			if !strings.Contains(sql, "\nCREATE TABLE IF NOT EXISTS") && !strings.HasPrefix(sql, "INSERT INTO") {
				t.Errorf("%s: %q cannot be repeated, or is no statement", m.Name, sql)
			}
		}
	}
}

// Keys and texts with any bytes stand in a statement as hexadecimal digits alone.
func TestBatchTextQuotesNothing(t *testing.T) {
	t.Parallel()
	c := &claim{p: claimOf('\'', '\\')}
	c.p.Operation, c.p.KeyText = "'); DROP TABLE semel_record; --", "\x00\\'\""
	text := newDialect("semel_", false).insertText([]*claim{c, {p: claimOf(2, 2)}}, 7)
	for _, word := range []string{"DROP", "\x00", "\\", "\""} {
		if strings.Contains(text, word) {
			t.Errorf("%q is in the statement", word)
		}
	}
	if !strings.Contains(text, "GREATEST(started_at,7)") {
		t.Error("the statement does not heed the floor")
	}
}

func TestEqualColumnsAreWrittenOnce(t *testing.T) {
	t.Parallel()
	same := []*combiner.Call[*finish]{{Op: &finish{p: finishOf(1, 1)}}, {Op: &finish{p: finishOf(2, 2)}}}
	mixed := []*combiner.Call[*finish]{same[0], {Op: &finish{p: finishOf(2, 2)}}}
	mixed[1].Op.p.Retention, mixed[1].Op.p.Result.Kind = semel.Forever, semel.ResultHTTP
	d := newDialect("semel_", false)
	if n := strings.Count(d.finishText(same), "ELT("); n != 2 {
		t.Errorf("%d columns differ by row; want 2: token and result", n)
	}
	text := d.finishText(mixed)
	if n := strings.Count(text, "CAST(ELT("); n != 4 {
		t.Errorf("%d numbers differ by row; want 4: half, both parts of the expiry, and the kind", n)
	}
	if !strings.Contains(text, ",0)") && !strings.Contains(text, "1,0") {
		t.Errorf("%q does not know that forever is no time from now", text)
	}
}

func TestBatchesAreSplitBySize(t *testing.T) {
	t.Parallel()
	s := &Store{maxText: 10_000}
	var claims []*combiner.Call[*claim]
	for i := range 100 {
		claims = append(claims, &combiner.Call[*claim]{Op: &claim{p: claimOf(byte(i), 1)}})
	}
	if n := s.fitting(claims); n < 10 || n > 25 {
		t.Errorf("%d claims in a statement of at most 10 kB", n)
	}
	claims[0].Op.p.KeyText = strings.Repeat("x", 20_000)
	if n := s.fitting(claims); n != 1 {
		t.Errorf("%d claims beside one that is too large for any other", n)
	}
}

func TestFloorIsReadOnceASecond(t *testing.T) {
	t.Parallel()
	var f floor
	reads := 0
	read := func(context.Context) (int64, error) { reads++; return 41, nil }
	for range 5 {
		if least, err := f.least(t.Context(), read); least != 42 || err != nil {
			t.Fatalf("least %d, %v; want 42", least, err)
		}
	}
	if reads != 1 {
		t.Errorf("%d reads; want 1", reads)
	}
	f.raise(50, time.Time{})
	if least, _ := f.least(t.Context(), read); least != 51 {
		t.Errorf("least %d after a purge; want 51", least)
	}
}
