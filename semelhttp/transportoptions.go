package semelhttp

import (
	"errors"
	"net/http"
	"slices"
	"time"
)

// TransportOptions are the settings of a [Transport]. The zero value of each
// field means its default.
type TransportOptions struct {
	// Preset says how the server takes keys. Default [SemelPreset].
	Preset Preset
	// Methods get a key: of POST, PATCH, PUT and DELETE. Where the caller gives a
	// key himself, each of the four is sent with it. Default the preset's.
	Methods []string
	// NewKey makes the key of a new operation. Default [NewKey].
	NewKey func() string
	// Label names calls that are made inside a semel operation and have no
	// [WithLabel]; it must return another label for each call within one operation,
	// and the same on every attempt. Default none: such calls are refused.
	Label func(r *http.Request) string

	// Horizon is for how long after the first try another one may begin. Default 1m,
	// or half of Retention if that is less.
	Horizon time.Duration
	// Retention is for how long the server keeps answers at least; Horizon has to be
	// shorter. Default the preset's, or 24h if that is not documented.
	Retention time.Duration
	// Backoff bounds the wait after the first try. It doubles with each try up to
	// MaxBackoff, and the wait is random below it, on top of what Retry-After asks
	// for. Default 100ms.
	Backoff time.Duration
	// MaxBackoff bounds the random wait. Default 5s, or Backoff if that is more.
	MaxBackoff time.Duration
	// TryTimeout is how long one try may take until its answer is there; then it is
	// given up like one whose connection was lost. It includes the upload. Default 0:
	// as long as the request's context allows.
	TryTimeout time.Duration
	// SingleTry sends each request once, and keeps net/http from sending it again by
	// itself: for servers that ignore keys. Default false.
	SingleTry bool

	// MaxBody is the size in bytes up to which a request body without GetBody is
	// kept for further tries; a larger one is refused. Default 10 MiB.
	MaxBody int64
	// MaxAnswer is the size in bytes up to which an answer is read whole before it is
	// returned, so that one that was cut is asked for again. It counts for answers of
	// known length and for JSON; others are returned as they come. Default 1 MiB.
	MaxAnswer int64
}

func (o *TransportOptions) withDefaults() TransportOptions {
	var c TransportOptions
	if o != nil {
		c = *o
	}
	if c.Preset.Header == "" && c.Preset.BodyField == "" {
		c.Preset = SemelPreset()
	}
	c.Preset.Header = http.CanonicalHeaderKey(c.Preset.Header)
	if len(c.Methods) == 0 {
		c.Methods = c.Preset.Methods
	}
	if len(c.Methods) == 0 {
		c.Methods = SemelPreset().Methods
	}
	c.Methods = slices.Clone(c.Methods)
	if c.NewKey == nil {
		c.NewKey = NewKey
	}
	setDefault(&c.Retention, c.Preset.Retention)
	setDefault(&c.Retention, 24*time.Hour)
	if !c.SingleTry {
		setDefault(&c.Horizon, min(time.Minute, c.Retention/2))
	}
	setDefault(&c.Backoff, 100*time.Millisecond)
	setDefault(&c.MaxBackoff, max(5*time.Second, c.Backoff))
	setDefault(&c.MaxBody, 10<<20)
	setDefault(&c.MaxAnswer, 1<<20)
	return c
}

// validate reports every contradiction at once, each with its fix.
func (o *TransportOptions) validate() error {
	return errors.Join(
		o.Preset.validate(),
		o.validateMethods(),
		refuse(o.Horizon < 0, "Horizon is negative; leave it 0 for 1m, or say SingleTry"),
		refuse(o.Retention < 0, "Retention is negative; leave it 0 for the preset's"),
		refuse(o.Horizon > 0 && o.Horizon >= o.Retention, "Horizon %v is not below Retention %v: a late try could be executed as a new request; lower Horizon", o.Horizon, o.Retention),
		refuse(o.SingleTry && o.Horizon > 0, "SingleTry makes no second try; take Horizon out"),
		refuse(o.Backoff < 0 || o.MaxBackoff < 0, "Backoff and MaxBackoff may not be negative; leave them 0 for 100ms and 5s"),
		refuse(o.Backoff > o.MaxBackoff, "Backoff %v is above MaxBackoff %v; lower it", o.Backoff, o.MaxBackoff),
		refuse(o.TryTimeout < 0, "TryTimeout is negative; leave it 0 for none"),
		refuse(o.Horizon > 0 && o.TryTimeout >= o.Horizon, "TryTimeout %v is not below Horizon %v: there would be no second try; lower it", o.TryTimeout, o.Horizon),
		refuse(o.MaxBody < 0, "MaxBody is negative; leave it 0 for 10 MiB"),
		refuse(o.MaxAnswer < 0, "MaxAnswer is negative; leave it 0 for 1 MiB"),
		o.validateNewKey(),
	)
}

func (o *TransportOptions) validateMethods() error {
	var errs []error
	for _, m := range o.Methods {
		errs = append(errs, refuse(!takesKey(m), "Methods: %q takes no key; use POST, PATCH, PUT and DELETE", m))
	}
	return errors.Join(errs...)
}

// validateNewKey makes a key, so that one that the server would refuse is refused
// here.
func (o *TransportOptions) validateNewKey() error {
	if err := o.Preset.check(o.NewKey()); err != nil {
		return errors.Join(errors.New("semelhttp: NewKey makes keys that do not fit the preset"), err)
	}
	return nil
}

func takesKey(method string) bool {
	switch method {
	case http.MethodPost, http.MethodPatch, http.MethodPut, http.MethodDelete:
		return true
	}
	return false
}
