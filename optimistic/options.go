package optimistic

import (
	"errors"
	"time"
)

// Options are the settings of [Retry] and [Update]. The zero value of each field means its
// default, and so does a nil *Options.
type Options struct {
	// Attempts is how often the work is tried, the first time included. Default 10.
	Attempts int
	// Pause is the longest pause after the first attempt. Each further one may be twice
	// as long as the one before; each is drawn anew between 0 and that. Default 5ms.
	Pause time.Duration
	// MaxPause bounds the pauses. Default 250ms.
	MaxPause time.Duration
}

func (o *Options) withDefaults() Options {
	filled := Options{Attempts: 10, Pause: 5 * time.Millisecond, MaxPause: 250 * time.Millisecond}
	if o == nil {
		return filled
	}
	if o.Attempts != 0 {
		filled.Attempts = o.Attempts
	}
	if o.Pause != 0 {
		filled.Pause = o.Pause
		filled.MaxPause = max(filled.MaxPause, filled.Pause)
	}
	if o.MaxPause != 0 {
		filled.MaxPause = o.MaxPause
	}
	return filled
}

func (o *Options) validate() error {
	var errs []error
	if o.Attempts < 1 {
		errs = append(errs, errors.New("optimistic: Attempts is negative; 1 means no repeat"))
	}
	if o.Pause < 0 {
		errs = append(errs, errors.New("optimistic: Pause is negative"))
	}
	if o.MaxPause < o.Pause {
		errs = append(errs, errors.New("optimistic: MaxPause is shorter than Pause"))
	}
	return errors.Join(errs...)
}
