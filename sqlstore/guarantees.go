package sqlstore

import (
	"context"

	"github.com/semel-go/semel"
)

// Guarantees is [semel.Store.Guarantees]. It asks the writing connection for its
// settings, as they are now.
func (s *Store) Guarantees(ctx context.Context, _ semel.GuaranteesParams) (semel.Guarantees, error) {
	op := &probe{}
	if err := s.do(ctx, op); err != nil {
		return semel.Guarantees{}, err
	}
	return op.result, nil
}

type probe struct{ result semel.Guarantees }

func (*probe) sortKey() []byte { return nil }

func (p *probe) apply(t *tx) (err error) {
	p.result, err = t.w.dialect.promise(t)
	return err
}
