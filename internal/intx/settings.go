package intx

import (
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/semel-go/semel"
)

// Settings are the options of package inbox, which explains them; the fields are
// the same, so that one converts into the other.
type Settings struct {
	Retention    time.Duration
	Wait         time.Duration
	Waiters      int
	Retries      int
	Timeout      time.Duration
	Isolation    sql.IsolationLevel
	MaxResult    int
	Codec        semel.Codec
	Secret       []byte
	StoreKeyText bool
	PurgeEvery   time.Duration
	Logger       *slog.Logger
	Observer     semel.Observer
}

// defaultWaiters is for a pool without a limit.
const defaultWaiters = 16

func (s Settings) withDefaults(conns int) Settings {
	setDefault(&s.Retention, 24*time.Hour)
	setDefault(&s.Wait, 5*time.Second)
	setDefault(&s.Retries, 5)
	setDefault(&s.Timeout, 5*time.Second)
	setDefault(&s.PurgeEvery, time.Minute)
	if conns > 0 {
		setDefault(&s.Waiters, max(conns/4, 1))
	}
	setDefault(&s.Waiters, defaultWaiters)
	if s.Logger == nil {
		s.Logger = slog.Default()
	}
	return s
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// validate reports every contradiction at once, each with its fix.
func (s *Settings) validate(conns int) error {
	return errors.Join(
		checkTimes(s.Retention, s.Wait),
		refuse(s.Waiters < 0, "Waiters %d is negative; leave it 0 for a quarter of the pool", s.Waiters),
		refuse(conns > 1 && s.Waiters >= conns, "Waiters %d leaves none of the pool's %d connections to the work that is waited for; leave it 0 for a quarter of the pool", s.Waiters, conns),
		refuse(s.Timeout < 0, "Timeout %v is negative; leave it 0 for 5s", s.Timeout),
		refuse(s.Isolation == sql.LevelReadUncommitted, "Isolation %v lets the work read what may never be committed; use LevelReadCommitted or higher", s.Isolation),
	)
}

func checkTimes(retention, wait time.Duration) error {
	return errors.Join(
		refuse(retention < time.Second, "Retention %v is below 1s; use 1s or more, or semel.Forever", retention),
		refuse(wait >= retention, "Wait %v is not below Retention %v: the result could expire before it is read; lower Wait", wait, retention),
	)
}

func refuse(bad bool, format string, args ...any) error {
	if !bad {
		return nil
	}
	return fmt.Errorf("inbox: "+format, args...)
}
