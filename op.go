package semel

import (
	"cmp"
	"errors"
	"time"
)

// Op describes one operation. Key and Input are required; the zero value of the
// rest means the engine's setting.
type Op struct {
	Key   Key
	Input Input

	// Former are the inputs by which this request may be known from before a change of
	// what Input is made of. A record with one of these fingerprints is the same
	// request. Set it for one retention, so that two versions work side by side: the
	// old one has to know the new input before anybody writes it.
	Former []Input

	Policy      Policy        // guarantee level. Default Options.Policy
	Lease       time.Duration // Default Options.Lease
	Retention   time.Duration // Default Options.Retention
	Wait        time.Duration // Default Options.Wait; negative: do not wait
	MaxAttempts int           // Default Options.MaxAttempts; negative: no limit

	// Label is the short name of the operation in records and metrics. It is no
	// part of the key: at most 200 bytes of text, without control characters, and few
	// different ones. Default: the scope's Operation.
	Label string

	// Detached lets the work outlive its caller: claim and wait end with the caller's
	// context, the run keeps only that context's values and deadline.
	Detached bool

	// Recovering claims a record in doubt, for a caller who can find out what
	// happened; [Run.Recovery] then tells of the doubt.
	Recovering bool
}

// resolve fills the engine's settings in and checks the operation.
func (o Op) resolve(e *Options) (Op, error) {
	if err := o.checkIdentity(); err != nil {
		return o, err
	}
	return o.settle(e)
}

// checkIdentity reports what is wrong about key and inputs.
func (o *Op) checkIdentity() error {
	err := errors.Join(o.Key.check(), o.Input.check())
	for _, former := range o.Former {
		err = errors.Join(err, former.check())
	}
	return err
}

// settle fills the engine's settings in and checks the times.
func (o Op) settle(e *Options) (Op, error) {
	o.Policy = cmp.Or(o.Policy, e.Policy)
	o.Lease = cmp.Or(o.Lease, e.Lease)
	o.Retention = cmp.Or(o.Retention, e.Retention)
	o.Wait = max(cmp.Or(o.Wait, e.Wait), 0)
	o.MaxAttempts = max(cmp.Or(o.MaxAttempts, e.MaxAttempts), 0)
	o.Label = cmp.Or(o.Label, o.Key.scope.Operation)
	if err := checkLabel(o.Label); err != nil {
		return o, err
	}
	return o, checkTimes(o.Policy, o.Lease, o.Retention, o.Wait, o.MaxAttempts)
}

// Defaults returns an operation with the engine's settings and neither key nor
// input: for layers that show them.
func (e *Engine) Defaults() Op {
	o := &e.opts
	return Op{Policy: o.Policy, Lease: o.Lease, Retention: o.Retention, Wait: o.Wait, MaxAttempts: o.MaxAttempts}
}

// Check reports whether the engine takes operations with the settings of op,
// whatever their key and input: for layers that know them at start.
func (e *Engine) Check(op Op) error {
	_, err := op.settle(&e.opts)
	return err
}

const maxLabel = 200

func checkLabel(label string) error {
	if len(label) <= maxLabel && isPlain(label) {
		return nil
	}
	return errors.New("semel: the label is over 200 bytes or no plain text; set Op.Label to a short name, such as charge")
}
