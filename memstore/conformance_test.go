package memstore_test

import (
	"context"
	"testing"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/memstore"
	"github.com/semel-go/semel/storetest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	storetest.Run(t, storetest.Harness{New: newSubject})
}

func newSubject(context.Context) (*storetest.Subject, error) {
	clock := storetest.NewClock()
	store, err := memstore.New(&memstore.Options{Now: clock.Now})
	if err != nil {
		return nil, err
	}
	return &storetest.Subject{
		Store:   store,
		Advance: clock.Advance,
		SetFormat: func(_ context.Context, key semel.KeyID, format int) error {
			store.SetFormat(key, format)
			return nil
		},
	}, nil
}
