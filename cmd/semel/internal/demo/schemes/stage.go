package schemes

import (
	"context"
	"crypto/rand"
	"database/sql"
	"log/slog"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/lock"
	"github.com/semel-go/semel/onetime"
)

// Options are what a [Player] works with. All fields but Pace are required.
type Options struct {
	DB      *sql.DB     // with the tables of [Tables]
	Store   semel.Store // for tokens, locks and worker ids
	Log     *slog.Logger
	Changed func() // told of each step
	// Pace is how long the audience gets to read a step. Default 500ms.
	Pace time.Duration
}

// stage is what all scenes play on.
type stage struct {
	db     *sql.DB
	store  semel.Store
	log    *slog.Logger
	pace   time.Duration
	engine *semel.Engine
	forms  *onetime.Service
}

// newStage makes an engine. [stage.close] has to follow.
func newStage(o Options) (*stage, error) {
	if o.Pace == 0 {
		o.Pace = 500 * time.Millisecond
	}
	s := &stage{db: o.DB, store: o.Store, log: o.Log, pace: o.Pace}
	if err := (lock.Fences{}).Create(context.Background(), o.DB); err != nil {
		return nil, err
	}
	secret := make([]byte, 32)
	rand.Read(secret)
	issuer, err := onetime.NewIssuer([][]byte{secret}, nil)
	if err != nil {
		return nil, err
	}
	if s.engine, err = semel.New(o.Store, &semel.Options{Logger: o.Log}); err != nil {
		return nil, err
	}
	s.forms, err = onetime.New(s.engine, issuer, &onetime.Options{Wait: 10 * time.Second})
	return s, err
}

func (s *stage) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	return s.engine.Close(ctx)
}
