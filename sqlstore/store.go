package sqlstore

import (
	"context"
	"database/sql"

	"github.com/semel-go/semel"
)

// Store keeps records in a SQL database. Make one with [OpenSQLite], [NewSQLite],
// [NewPostgres] or [NewMySQL]. All methods may be called concurrently.
//
// Its errors, beside those of the contract: [semel.ErrStoreUnavailable] when the
// database could not be written to in time, or the context ended before the call
// was started; [semel.ErrNoReply] when the context ended later, or the commit
// failed in a way that leaves its outcome open; [semel.ErrStoreFull] when the disk
// is full.
type Store struct {
	methods methods
	db      *sql.DB
}

// methods are what a dialect brings.
type methods interface {
	semel.Store
	semel.Lister
	semel.Purger
	semel.Checkpointer
	Close() error
}

var _ methods = (*Store)(nil)

// DB returns the database, for the caller's own tables beside Semel's.
func (s *Store) DB() *sql.DB { return s.db }

// Close waits for calls under way and gives the connections back; a database that
// [OpenSQLite] opened is closed. Calls from then on answer
// [semel.ErrStoreUnavailable].
func (s *Store) Close() error { return s.methods.Close() }

// Claim is [semel.Store.Claim].
func (s *Store) Claim(ctx context.Context, p semel.ClaimParams) (semel.ClaimResult, error) {
	return s.methods.Claim(ctx, p)
}

// Renew is [semel.Store.Renew].
func (s *Store) Renew(ctx context.Context, p semel.RenewParams) (semel.RenewResult, error) {
	return s.methods.Renew(ctx, p)
}

// Finish is [semel.Store.Finish].
func (s *Store) Finish(ctx context.Context, p semel.FinishParams) (semel.FinishResult, error) {
	return s.methods.Finish(ctx, p)
}

// Read is [semel.Store.Read].
func (s *Store) Read(ctx context.Context, p semel.ReadParams) (semel.Record, error) {
	return s.methods.Read(ctx, p)
}

// Resolve is [semel.Store.Resolve].
func (s *Store) Resolve(ctx context.Context, p semel.ResolveParams) (semel.ResolveResult, error) {
	return s.methods.Resolve(ctx, p)
}

// Guarantees is [semel.Store.Guarantees]. It asks the database for its settings,
// as they are now.
func (s *Store) Guarantees(ctx context.Context, p semel.GuaranteesParams) (semel.Guarantees, error) {
	return s.methods.Guarantees(ctx, p)
}

// List is [semel.Lister].
func (s *Store) List(ctx context.Context, p semel.ListParams) (semel.ListResult, error) {
	return s.methods.List(ctx, p)
}

// Purge is [semel.Purger]. A chunk has 1,000 records at most, whatever the limit.
func (s *Store) Purge(ctx context.Context, p semel.PurgeParams) (semel.PurgeResult, error) {
	return s.methods.Purge(ctx, p)
}

// Checkpoint is [semel.Checkpointer].
func (s *Store) Checkpoint(ctx context.Context, p semel.CheckpointParams) (semel.CheckpointResult, error) {
	return s.methods.Checkpoint(ctx, p)
}
