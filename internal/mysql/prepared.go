package mysql

import (
	"context"
	"database/sql"
	"strings"
	"sync"
)

// preparedInserts is up to how many claims an insert is prepared for. So few callers
// at once would spend more time on parsing than on the rest.
const preparedInserts = 8

// inserts are insertRecord for several keys, prepared when so many first come together.
type inserts struct {
	mu    sync.Mutex
	stmts [preparedInserts + 1]*sql.Stmt
	spare []*sql.Stmt // that came second: while one is closed, database/sql keeps the pool locked
}

// of does not hold its lock while it prepares, which may hang.
func (p *inserts) of(ctx context.Context, n int, db *sql.DB, d dialect) (*sql.Stmt, error) {
	if stmt := p.at(n); stmt != nil {
		return stmt, nil
	}
	stmt, err := db.PrepareContext(ctx, d.insertOf(n).sql)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if first := p.stmts[n]; first != nil {
		p.spare = append(p.spare, stmt)
		return first, nil
	}
	p.stmts[n] = stmt
	return stmt, nil
}

func (p *inserts) at(n int) *sql.Stmt {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stmts[n]
}

func (p *inserts) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, stmt := range append(p.spare, p.stmts[:]...) {
		if stmt != nil {
			_ = stmt.Close()
		}
	}
}

// insertOf is insertRecord for n keys; its order is that of one of them.
func (d dialect) insertOf(n int) text {
	row := positional(d.expand(insertRow))
	row.sql = d.expand("{bounded} "+insertHead) + row.sql + strings.Repeat(","+row.sql, n-1) + insertTail
	return row
}

// insertAll executes the insert of several claims.
func (s *Store) insertAll(ctx context.Context, claims []*claim, least int64) (done, error) {
	n := len(claims)
	if n > preparedInserts {
		return doneOf(s.db.ExecContext(ctx, s.dialect.insertText(claims, least)))
	}
	stmt, err := s.inserts.of(ctx, n, s.db, s.dialect)
	if err != nil {
		return done{}, unsent{err}
	}
	var args []any
	for _, c := range claims {
		args = append(args, s.texts[stmtInsert].args(insertArgs(&c.p, least))...)
	}
	return doneOf(stmt.ExecContext(ctx, args...))
}

// unsent is an error of a statement that was not sent.
type unsent struct{ error }

func (u unsent) Unwrap() error { return u.error }
