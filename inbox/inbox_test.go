package inbox

import (
	"context"
	"database/sql"
	"strings"
	"testing"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/sqlstore"
)

func TestNilIsRefused(t *testing.T) {
	t.Parallel()
	for what, err := range map[string]error{
		"sqlstore.OpenSQLite": func() error { _, err := New(nil, nil); return err }(),
		"no transactional":    func() error { _, err := New(new(sqlstore.Store), nil); return err }(),
		"inbox.New": func() error {
			_, err := Do(t.Context(), nil, semel.Op{}, func(context.Context, *sql.Tx) (int, error) { return 0, nil })
			return err
		}(),
		"pass the work": func() error { _, err := Do[int](t.Context(), new(Box), semel.Op{}, nil); return err }(),
		"make a box":    func() error { _, err := Mark(t.Context(), nil, nil, semel.Op{}); return err }(),
	} {
		if err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("error %v; want one that says %q", err, what)
		}
	}
}

func TestNoTransactionOutsideOfWork(t *testing.T) {
	t.Parallel()
	if tx, ok := TxFrom(t.Context()); tx != nil || ok {
		t.Error("a transaction in a bare context")
	}
}
