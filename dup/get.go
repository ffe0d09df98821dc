package dup

import (
	"context"

	"github.com/semel-go/semel/internal/sqlcall"
)

// Statements are those of [InsertOrGet].
type Statements struct {
	// Insert is an INSERT of one row, as [Insert] takes it.
	Insert     string
	InsertArgs []any
	// Select finds the row by the key that Insert may meet.
	Select     string
	SelectArgs []any
	// Constraints are those whose violation means "there already", as [Is] names them. In a
	// table with more than one, name that of Select: a duplicate of another one is then an
	// error, and not an [*UnseenError] that no repeat mends. Default any.
	Constraints []string
}

// tries bounds how often a row may come and go between the two statements.
const tries = 4

// InsertOrGet inserts a row unless one with its key is there, and returns the one that is
// there then, with inserted telling whether this call made it. It is [Insert] followed by
// the query; scan is called for the query's first row.
//
// A row that was there and is gone when the query comes, is inserted: that is tried a
// few times. An [*UnseenError] says that the query finds nothing all the same. In a
// transaction its snapshot may be older than the row: PostgreSQL under REPEATABLE READ
// and SERIALIZABLE then has no way to read it, and the transaction has to begin again.
// MySQL and MariaDB read it with LOCK IN SHARE MODE, which is put behind the query if it
// found nothing.
//
// inserted is right also beside an error of the query or of scan.
func InsertOrGet[T any](ctx context.Context, q Querier, s Statements, scan func(Row) (T, error)) (row T, inserted bool, err error) {
	i, err := Constraints(s.Constraints).insertion(q, s.Insert, s.InsertArgs)
	if err != nil {
		return row, false, err
	}
	get := func(query string) (found bool, err error) {
		return sqlcall.First(ctx, q, query, s.SelectArgs, func(r sqlcall.Row) (err error) {
			row, err = scan(r)
			return err
		})
	}
	for range tries {
		out, err := i.run(ctx)
		if err != nil {
			return row, false, err
		}
		if found, err := s.get(out, sqlcall.KindOf(q) != sqlcall.IsPool, get); found || err != nil {
			return row, out.inserted, err
		}
		if out.inserted {
			return row, true, &UnseenError{Inserted: true}
		}
	}
	return row, false, &UnseenError{}
}

// get reads the row that an insert made or met. shared: the statements may share a
// snapshot.
func (s *Statements) get(out outcome, shared bool, get func(query string) (bool, error)) (bool, error) {
	found, err := get(s.Select)
	if found || err != nil || out.met != mysql || !shared || sqlcall.Locks(s.Select) {
		return found, err
	}
	return get(sqlcall.Behind(s.Select, "LOCK IN SHARE MODE"))
}
