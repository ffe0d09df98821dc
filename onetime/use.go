package onetime

import (
	"bytes"
	"context"
	"errors"

	"github.com/semel-go/semel"
)

// Use runs fn once for a token and returns its result; every later call with the same
// token gets that result without running fn. Purpose and subject are those for which
// the token has to have been issued, never what the request claims. Content is what the
// form says: [semel.InputBytes], [semel.InputJSON]; [semel.NoInput] where it says
// nothing.
//
// What fn returns decides, as in [semel.Do]. nil and [semel.Final] spend the token.
// [semel.Retryable] gives it back: say so of a form that failed validation, and the same
// token is good for the corrected one. Any other error or a panic gives it back under
// [semel.AtLeastOnce], and leaves it in doubt under [semel.AtMostOnce].
//
// Errors: [ErrRefused] and [ErrExpired], and nothing was stored. A
// [*ContentChangedError] where the token is spent and content differs, with the result
// of what was sent first. [*semel.InProgressError] for a second submit while the first
// runs, unless [Options.Wait] is enough. [*semel.InDoubtError] where the first died and
// the policy forbids to run it again. [*semel.ResultUnavailableError] where the result
// was not kept; whether the content was the same is not known then. Otherwise those of
// [semel.Do].
//
// The engine's codec gets a struct that holds the value; JSON and gob take it.
func Use[T any](ctx context.Context, s *Service, token, purpose, subject string, content semel.Input, fn func(context.Context) (T, error)) (semel.Result[T], error) {
	if s == nil || fn == nil {
		return semel.Result[T]{}, errNothingToDo
	}
	v, op, err := s.admit(ctx, token, purpose, subject)
	if err != nil {
		return semel.Result[T]{}, err
	}
	sum, err := v.Digest(content)
	if err != nil {
		return semel.Result[T]{}, err
	}
	var failed error
	res, err := semel.Do(ctx, s.engine, op, func(ctx context.Context) (spent[T], error) {
		value, err := fn(ctx)
		failed = err
		return seal(sum[:], value, err)
	})
	if err == nil && !res.Replayed {
		err = failed
	}
	return open(res, err, sum[:])
}

var errNothingToDo = errors.New("onetime: the service or the function is nil; make a service with onetime.New and pass the work")

// spent is what the record of a spent token keeps.
type spent[T any] struct {
	Content []byte   `json:"content"` // its digest
	Value   T        `json:"value"`
	Failure *failure `json:"failure,omitempty"`
}

// failure is a recorded failure, as [semel.FinalError] has it.
type failure struct {
	Code    string `json:"code,omitempty"`
	Message string `json:"message"`
	Data    []byte `json:"data,omitempty"`
}

// seal is what fn's return becomes. A recorded failure is kept as a value, so that the
// digest of the content stays with it.
func seal[T any](content []byte, value T, err error) (spent[T], error) {
	s := spent[T]{Content: content, Value: value}
	final, ok := final(err)
	if !ok {
		return s, err
	}
	s.Failure = &failure{Code: final.Code, Message: final.Message, Data: final.Data}
	return s, nil
}

// final is the recorded failure that err is, as [semel.Do] understands it.
func final(err error) (*semel.FinalError, bool) {
	if err == nil || new(semel.Recorder).Judge(nil, err).State != semel.StateDone {
		return nil, false
	}
	return errors.AsType[*semel.FinalError](err)
}

// open is the reverse of seal, for the caller who sent content.
func open[T any](res semel.Result[spent[T]], err error, content []byte) (semel.Result[T], error) {
	out := semel.Result[T]{Value: res.Value.Value, Replayed: res.Replayed, Attempt: res.Attempt, Fence: res.Fence}
	if err != nil || !res.Replayed {
		return out, err
	}
	if f := res.Value.Failure; f != nil {
		err = &semel.FinalError{Code: f.Code, Message: f.Message, Data: f.Data}
	}
	if !bytes.Equal(res.Value.Content, content) {
		return out, errors.Join(&ContentChangedError{}, err)
	}
	return out, err
}
