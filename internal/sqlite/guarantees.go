package sqlite

import (
	"context"
	"fmt"

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
	p.result, err = promise(t)
	return err
}

// promise: a file with WAL survives the death of any process, and a loss of
// power too if each commit is synced.
func promise(t *tx) (g semel.Guarantees, err error) {
	wal, _, err := t.number(stmtJournal)
	if err != nil {
		return g, err
	}
	level, _, err := t.number(stmtDurability)
	if err != nil {
		return g, err
	}
	g = semel.Guarantees{
		Store: "sqlite", SingleRegister: semel.Yes, SurvivesProcess: semel.Yes, SurvivesEngineCrash: semel.Yes,
		SurvivesPowerLoss: semel.Yes, SurvivesFailover: semel.No,
		Facts: []string{"One host: all processes that use the file must run on it, with the file on a local disk; there is no failover."},
	}
	if wal == 0 || level < synchronousFull {
		g.SurvivesPowerLoss = semel.No
		g.Notes = append(g.Notes, fmt.Sprintf("synchronous is %d on the writing connection, or the journal is no WAL: a loss of power loses the last commits.", level))
	}
	return g, nil
}
