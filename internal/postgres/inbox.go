package postgres

import (
	"context"
	"database/sql"
	"strconv"
	"strings"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/internal/intx"
	"github.com/semel-go/semel/internal/sqlcode"
	"github.com/semel-go/semel/internal/sqlrecord"
	"github.com/semel-go/semel/internal/sqltx"
)

// InTx are the statements for records in transactions of their effects.
//
// Each transaction that holds a key has an advisory lock for it, so that another one
// learns at once that it is kept out, and that it is by that key: a lock_timeout may
// as well be met by a table that is being extended. The lock's number is made of the
// key and of the table, since stores share a database.
type InTx struct {
	text         *Text
	first        string
	fill, filled string
}

// NewInTx returns the statements for the tables of a store.
func NewInTx(s *Store) *InTx {
	prefix := strings.TrimSuffix(s.text.channel, channelName)
	x := func(text string) string {
		return strings.ReplaceAll(strings.NewReplacer(conditions...).Replace(text), sqlrecord.DefaultPrefix, prefix)
	}
	bounded, fill := x("{bounded}"), x(textFill)
	keeping := func(text string) string { return strings.ReplaceAll(text, bounded, x(boundedKeeping)) }
	return &InTx{
		text:   &Text{insert: keeping(s.text.insert), retake: keeping(s.text.retake)},
		first:  x(textFirst),
		fill:   fill,
		filled: "WITH filled AS (" + fill + ") SELECT 1 / count(*) FROM filled",
	}
}

const channelName = "changed"

// textFirst is textNew that does not wait for another transaction with the key: it
// fails with a division by zero.
var textFirst = insertFrom(`(SELECT {clock} AS now, $1::text AS wait, 1 / pg_try_advisory_xact_lock(uuid_hash_extended($2::uuid, 'semel_record'::regclass::oid::bigint))::integer AS locked) AS i`)

const (
	// boundedKeeping is {bounded} in a transaction that goes on: it keeps the
	// lock_timeout of the transaction in a setting of its own, bounds the wait, and then
	// takes the lock of the key. OFFSET 0 keeps this order.
	boundedKeeping = `(SELECT pg_advisory_xact_lock(uuid_hash_extended($2::uuid, 'semel_record'::regclass::oid::bigint))::text IS NOT NULL FROM (
	SELECT set_config('lock_timeout', $1::text, true) FROM (
	SELECT set_config('semel.lock_timeout', coalesce(nullif(current_setting('semel.lock_timeout', true), ''), current_setting('lock_timeout')), true)
	OFFSET 0) AS kept OFFSET 0) AS set)`
	textRestore = `SELECT set_config('lock_timeout', current_setting('semel.lock_timeout'), true), set_config('semel.lock_timeout', '', true)`
	// textFill puts the result into a record that was claimed as done, in the
	// transaction that claimed it.
	//
	// $1 key $2 token $3 result_kind $4 result $5 half of the retention, rounded up
	// $6 retention, negative for forever
	textFill = `
UPDATE semel_record AS r SET result_kind = $3::smallint, result = $4::bytea,
	expires_at = CASE WHEN r.expires_at - {clock} >= $5::bigint THEN r.expires_at WHEN $6::bigint < 0 THEN {never} ELSE {clock} + $6::bigint END
WHERE r.key = $1::uuid AND r.token = $2::uuid AND r.token <> {zero} AND r.format = 1 AND r.state = 3 AND r.result_kind = 3
RETURNING true`
)

// Claim is [Text.Claim] in a transaction that goes on. A wait below [LeastWait] is a
// look at the lock of the key.
func (x *InTx) Claim(ctx context.Context, q Querier, wait time.Duration, p *semel.ClaimParams) (res semel.ClaimResult, err error) {
	if wait < LeastWait {
		settled := false
		text, args := x.First(p)
		err := q.Query(ctx, text, args, func(r Row) (err error) {
			res, settled, err = ReadFirst(r, p)
			return err
		})
		if err != nil || settled {
			return res, err
		}
	}
	return x.Next(ctx, q, wait, p)
}

// LeastWait is the shortest wait that is one.
const LeastWait = 100 * time.Millisecond

// First claims a new key, if no other transaction holds it. Without a row there is a
// record, and the claim goes on with Next.
func (x *InTx) First(p *semel.ClaimParams) (text string, args []any) {
	return x.first, insertArgs("", p)
}

// ReadFirst reads the row of [InTx.First].
func ReadFirst(r Row, p *semel.ClaimParams) (res semel.ClaimResult, settled bool, err error) {
	var fence, started, now int64
	if err := r.Scan(&fence, &started, &now); err != nil {
		return res, false, err
	}
	return sqlrecord.Claimed(sqlrecord.Fresh(p, started, fence), p, now, semel.ClaimAcquired), true, nil
}

// Next claims a key whatever its record is, and waits for another transaction that
// holds it.
func (x *InTx) Next(ctx context.Context, q Querier, wait time.Duration, p *semel.ClaimParams) (semel.ClaimResult, error) {
	bound := Wait(strconv.FormatInt(max(wait.Milliseconds(), 1), 10))
	res, err := x.text.Claim(ctx, q, bound, p)
	if err != nil || res.Outcome != semel.ClaimAcquired {
		return res, err
	}
	return res, execute(ctx, q, textRestore)
}

// Fill is the statement that puts the result into the record; it answers one row if
// the record is as Claim has made it.
func (x *InTx) Fill(p *semel.FinishParams) (text string, args []any) {
	return x.fill, []any{
		uuid(p.Key), uuid(p.Token), int64(p.Result.Kind), null(p.Result.Data), sqlrecord.Half(p.Retention), micros(p.Retention),
	}
}

// MustFill is Fill for a pipeline that goes on with the commit: it fails, which
// [Unfilled] recognises, if the record is not as Claim has made it.
func (x *InTx) MustFill(p *semel.FinishParams) (text string, args []any) {
	_, args = x.Fill(p)
	return x.filled, args
}

// Unfilled reports the failure of [InTx.MustFill].
func Unfilled(err error) bool { return sqlcode.State(err) == divisionByZero }

// divisionByZero is how a statement refuses to go on.
const divisionByZero = "22012"

// ClassInTx says what an error means for a transaction, and whether it leaves the
// outcome open when a commit fails with it.
func ClassInTx(err error) (class intx.Class, open bool) {
	c, state := classOf(err), sqlcode.State(err)
	open = state == "" || c == classLost || c == classUnsent
	if state == divisionByZero {
		return intx.ClassLocked, open
	}
	switch c {
	case classAgain:
		return intx.ClassConflict, open
	case classHeld:
		return intx.ClassLocked, open
	case classLost, classUnsent:
		return intx.ClassLost, open
	}
	return intx.ClassOther, open
}

// SQLInTx is the dialect of package inbox.
func SQLInTx(s *Store) sqltx.Dialect { return sqlInTx{NewInTx(s)} }

type sqlInTx struct{ *InTx }

// ClaimTx is [sqltx.Dialect]'s.
func (x sqlInTx) ClaimTx(ctx context.Context, tx *sql.Tx, p *semel.ClaimParams, wait time.Duration) (semel.ClaimResult, error) {
	return x.Claim(ctx, OnTx(tx), wait, p)
}

// FinishTx is [sqltx.Dialect]'s.
func (x sqlInTx) FinishTx(ctx context.Context, tx *sql.Tx, p *semel.FinishParams) (found bool, err error) {
	text, args := x.Fill(p)
	err = OnTx(tx).Query(ctx, text, args, func(Row) error {
		found = true
		return nil
	})
	return found, err
}

// ClassTx is [sqltx.Dialect]'s.
func (x sqlInTx) ClassTx(err error) (intx.Class, bool) { return ClassInTx(err) }
