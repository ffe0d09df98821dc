package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/internal/intx"
	"github.com/semel-go/semel/internal/sqlrecord"
	"github.com/semel-go/semel/internal/sqltx"
)

var (
	_ sqltx.Dialect = (*Store)(nil)
	_ sqltx.Locker  = (*Store)(nil)
)

// ClaimTx is [sqltx.Dialect]'s. It takes the write lock first, as BEGIN IMMEDIATE
// does, which database/sql has no way to say; the clock is read behind it.
func (s *Store) ClaimTx(ctx context.Context, stx *sql.Tx, p *semel.ClaimParams, _ time.Duration) (semel.ClaimResult, error) {
	t := &tx{runner: inside{ctx, stx, &s.inTx}}
	if _, err := t.change(stmtTakeLock); err != nil {
		return semel.ClaimResult{}, err
	}
	t.now = s.now()
	c := &claim{p: *p}
	err := c.apply(t)
	return c.result, err
}

// FinishTx is [sqltx.Dialect]'s.
func (s *Store) FinishTx(ctx context.Context, stx *sql.Tx, p *semel.FinishParams) (bool, error) {
	t := &tx{runner: inside{ctx, stx, &s.inTx}, now: s.now()}
	return t.change(stmtFill, t.now, p.Key[:], p.Token[:], int64(p.Result.Kind), p.Result.Data,
		sqlrecord.Half(p.Retention), sqlrecord.After(t.now, p.Retention))
}

// ClassTx is [sqltx.Dialect]'s.
func (s *Store) ClassTx(err error) (class intx.Class, open bool) {
	if errors.Is(err, errSameKey) {
		return intx.ClassLocked, false
	}
	c := classOf(err)
	if f, ok := errors.AsType[*failure](err); ok {
		c = f.class
	}
	switch c {
	case classBusy:
		return intx.ClassConflict, false
	case classBroken:
		return intx.ClassLost, true
	case classFull:
		return intx.ClassOther, false
	}
	return intx.ClassOther, !answered(err)
}

// answered reports an error that SQLite itself gave.
func answered(err error) bool {
	var coded interface{ Code() int }
	return errors.As(err, &coded) || strings.Contains(err.Error(), "constraint failed")
}

// inside runs statements in a transaction of database/sql. Each connection of the pool
// prepares them once.
type inside struct {
	ctx   context.Context
	tx    *sql.Tx
	stmts *stmts
}

type stmts [statements]*sql.Stmt

// prepare prepares what a transaction may need.
func (p *stmts) prepare(ctx context.Context, db *sql.DB, text *[statements]string) (err error) {
	for _, id := range []statement{stmtTakeLock, stmtFloor, stmtInsert, stmtSelect, stmtClaim, stmtFill} {
		if p[id], err = db.PrepareContext(ctx, text[id]); err != nil {
			return errors.Join(err, p.close())
		}
	}
	return nil
}

func (p *stmts) close() (err error) {
	for _, stmt := range p {
		if stmt != nil {
			err = errors.Join(err, stmt.Close())
		}
	}
	return err
}

func (i inside) exec(id statement, args ...any) (sql.Result, error) {
	return i.tx.StmtContext(i.ctx, i.stmts[id]).ExecContext(i.ctx, args...)
}

func (i inside) query(id statement, args ...any) (*sql.Rows, error) {
	return i.tx.StmtContext(i.ctx, i.stmts[id]).QueryContext(i.ctx, args...)
}
