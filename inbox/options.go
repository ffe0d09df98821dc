package inbox

import (
	"database/sql"
	"log/slog"
	"time"

	"github.com/semel-go/semel"
)

// Options are the settings of a [Box]. The zero value of each field means its
// default, and so does a nil *Options.
type Options struct {
	// Retention is for how long a record stays, at least. Default 24h.
	Retention time.Duration
	// Wait is for how long a duplicate waits for the transaction that runs; negative:
	// it is told in-progress at once. Default 5s.
	Wait time.Duration
	// Waiters is how many duplicates may wait at once, each of which takes a
	// connection; one more is told in-progress. Default a quarter of the pool's limit, at
	// least 1, and 16 for a pool without one.
	Waiters int
	// Retries is how often a transaction is repeated that lost against another one
	// (deadlock, serialization failure) or lost its connection; negative: never.
	// Default 5.
	Retries int
	// Timeout bounds a claim, its wait apart, and a commit. Default 5s.
	Timeout time.Duration
	// Isolation is the level of the transactions. Default the database's.
	Isolation sql.IsolationLevel
	// MaxResult is the size in bytes of an encoded result from which on it is not
	// kept: the work is committed all the same, and retries learn "done, result not
	// available". Default 1 MiB.
	MaxResult int
	// Codec encodes results. Default [semel.JSON].
	Codec semel.Codec
	// Secret keys the fingerprints and scope ids: see [semel.Options]. All processes on
	// one store need the same. Default none.
	Secret []byte
	// StoreKeyText keeps the caller's key text in the record, for operators. Default false.
	StoreKeyText bool
	// PurgeEvery is the least time between two purges of expired records, which
	// commits set off: one chunk of at most 100 each, as long as some are due. Default
	// 1m; negative: never, somebody else purges.
	PurgeEvery time.Duration
	// Logger receives what an operator must know. Default slog.Default().
	Logger *slog.Logger
	// Observer is told of every transition, with the events of an engine. Default none.
	Observer semel.Observer
}
