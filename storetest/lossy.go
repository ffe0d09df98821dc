package storetest

import (
	"context"
	"errors"

	"github.com/semel-go/semel"
)

// lossyStore executes every call, loses its reply, and sends it again with the
// same parameters, as a client library does: its callers see the second reply.
type lossyStore struct{ semel.Store }

func (l *lossyStore) Claim(ctx context.Context, p semel.ClaimParams) (semel.ClaimResult, error) {
	_, err := l.Store.Claim(ctx, p)
	res, again := l.Store.Claim(ctx, p)
	return res, errors.Join(err, again)
}

func (l *lossyStore) Renew(ctx context.Context, p semel.RenewParams) (semel.RenewResult, error) {
	_, err := l.Store.Renew(ctx, p)
	res, again := l.Store.Renew(ctx, p)
	return res, errors.Join(err, again)
}

func (l *lossyStore) Finish(ctx context.Context, p semel.FinishParams) (semel.FinishResult, error) {
	_, err := l.Store.Finish(ctx, p)
	res, again := l.Store.Finish(ctx, p)
	return res, errors.Join(err, again)
}

func (l *lossyStore) Resolve(ctx context.Context, p semel.ResolveParams) (semel.ResolveResult, error) {
	_, err := l.Store.Resolve(ctx, p)
	res, again := l.Store.Resolve(ctx, p)
	return res, errors.Join(err, again)
}
