package semel

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
)

// Recorder is the part of an engine that touches no store: what a record says of
// its operation, and of a result. [Engine] has one; layers that keep records by
// other means, such as package inbox, make their own. All methods may be called
// concurrently.
type Recorder struct {
	codec     Codec
	maxResult int
	secret    []byte
	keyText   bool
}

// NewRecorder returns a recorder with the Codec, MaxResult, Secret and StoreKeyText
// of opts; nil means the defaults. All mistakes in opts are reported at once.
func NewRecorder(opts *Options) (*Recorder, error) {
	o := opts.withDefaults()
	return newRecorder(&o), o.validate()
}

func newRecorder(o *Options) *Recorder {
	return &Recorder{codec: o.Codec, maxResult: o.MaxResult, secret: o.Secret, keyText: o.StoreKeyText}
}

// ClaimOf checks key, inputs and label of op and returns the claim of its record,
// with a new token. The times and limits are taken from op as they are. The
// fingerprints are made here, once, the former ones too.
func (r *Recorder) ClaimOf(op Op) (p *ClaimParams, former []Fingerprint, err error) {
	if err := op.checkIdentity(); err != nil {
		return nil, nil, err
	}
	op.Label = cmp.Or(op.Label, op.Key.scope.Operation)
	if err := checkLabel(op.Label); err != nil {
		return nil, nil, err
	}
	for _, in := range op.Former {
		former = append(former, in.fingerprint(r.secret))
	}
	return r.claimOf(op), former, nil
}

func (r *Recorder) claimOf(op Op) *ClaimParams {
	p := &ClaimParams{
		Key: op.Key.id, Token: NewToken(), Fingerprint: op.Input.fingerprint(r.secret),
		Policy: op.Policy, Lease: op.Lease, Retention: op.Retention, MaxAttempts: op.MaxAttempts,
		Recovering: op.Recovering,
		ScopeID:    ScopeIDOf(r.secret, op.Key.scope.Principal), Operation: op.Label,
	}
	if r.keyText {
		p.KeyText = op.Key.text
	}
	return p
}

// Refusal is the error for a claim that was neither acquired nor found done:
// [*MismatchError], [*InDoubtError] or [*InProgressError]; nil for those two.
func Refusal(res *ClaimResult) error {
	rec := &res.Record
	switch res.Outcome {
	case ClaimAcquired, ClaimDone:
		return nil
	case ClaimMismatch:
		return &MismatchError{}
	case ClaimInDoubt:
		return &InDoubtError{Since: rec.Since, Cause: rec.Cause, Attempt: rec.Attempt}
	case ClaimRunning:
		return &InProgressError{RetryAfter: retryAfter(rec.LeaseLeft), fence: rec.Fence, left: rec.LeaseLeft}
	}
	return &StoreError{Call: "claim", Err: errors.New("the store gave an answer outside its contract: " + res.Outcome.String())}
}

// Judgement is what the return of a handler means for its record.
type Judgement struct {
	// State is done, released or in doubt as the handler said, and none where it
	// failed without saying.
	State  State
	Result StoredResult // when done; a tombstone if the result could not be kept
	Bytes  int          // of the encoded result, kept or not
	Err    error        // why it could not be encoded
}

// Judge says what a handler meant who returned value and err: see [Do].
func (r *Recorder) Judge(value any, err error) Judgement {
	if err == nil {
		return r.keep(ResultValue, value)
	}
	final, isFinal := errors.AsType[*FinalError](err)
	said, isSaid := errors.AsType[*verdictError](err)
	switch {
	case isSaid && (!isFinal || errors.Is(said, error(final))): // the outer one counts
		return Judgement{State: said.state}
	case isFinal:
		return r.keep(ResultFinal, final)
	}
	return Judgement{}
}

// keep encodes what is to be replayed, or leaves a tombstone.
func (r *Recorder) keep(kind ResultKind, value any) Judgement {
	data, err := r.encode(kind, value)
	j := Judgement{State: StateDone, Bytes: len(data), Err: err}
	switch {
	case err != nil:
		j.Result.Data = []byte("it could not be encoded")
	case len(data) > r.maxResult:
		j.Result.Data = fmt.Appendf(nil, "its %d bytes are over the limit of %d", len(data), r.maxResult)
	default:
		j.Result = StoredResult{Kind: kind, Data: data}
	}
	return j
}

func (r *Recorder) encode(kind ResultKind, value any) (data []byte, err error) {
	defer func() {
		if p := recover(); p != nil { // a value's own marshaller
			err = fmt.Errorf("semel: encoding the result panicked: %v", p)
		}
	}()
	if kind == ResultFinal {
		return json.Marshal(value)
	}
	return r.codec.Marshal(value)
}

// Replay turns a done record back into what its run returned: a value, a
// [*FinalError], or a [*ResultUnavailableError].
func Replay[T any](r *Recorder, rec *Record) (Result[T], error) {
	res := Result[T]{Replayed: true, Attempt: rec.Attempt, Fence: rec.Fence}
	switch rec.Result.Kind {
	case ResultValue:
		if err := r.codec.Unmarshal(rec.Result.Data, &res.Value); err != nil {
			return Result[T]{}, &ResultUnavailableError{Err: fmt.Errorf("decode: %w", err)}
		}
		return res, nil
	case ResultFinal:
		final := new(FinalError)
		if err := json.Unmarshal(rec.Result.Data, final); err != nil {
			return Result[T]{}, &ResultUnavailableError{Err: fmt.Errorf("decode: %w", err)}
		}
		return res, final
	case ResultTombstone:
		return Result[T]{}, &ResultUnavailableError{Remark: string(rec.Result.Data)}
	case ResultMark:
		return Result[T]{}, &ResultUnavailableError{Remark: "it was only marked"}
	}
	return Result[T]{}, &ResultUnavailableError{Remark: fmt.Sprintf("it is of another kind (%d)", rec.Result.Kind)}
}
