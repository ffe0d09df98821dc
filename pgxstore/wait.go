package pgxstore

import (
	"context"
	"fmt"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/internal/postgres"
)

var errNoEar = fmt.Errorf("pgxstore: no direct connection to listen on; set Options.Listen: %w", semel.ErrUnsupported)

// WaitChange is [semel.ChangeWaiter]. It comes back every two seconds at least, and with
// an error that matches [semel.ErrUnsupported] where nothing can listen.
func (s *Store) WaitChange(ctx context.Context, p semel.WaitParams) (semel.WaitResult, error) {
	if s.line.config == nil {
		return semel.WaitResult{}, errNoEar
	}
	return semel.WaitResult{}, s.room.Wait(ctx, p.Key, func(ctx context.Context) (bool, error) {
		return postgres.Await(ctx, s.inner, p)
	})
}
