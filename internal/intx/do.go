package intx

import (
	"context"

	"github.com/semel-go/semel"
)

// Do is package inbox's, for any kind of transaction.
func Do[X, T any](ctx context.Context, f *Flow[X], op semel.Op, fn func(context.Context, X) (T, error)) (semel.Result[T], error) {
	var value T
	var failure error
	answer, err := f.Run(ctx, op, func(ctx context.Context, tx X) Finding {
		value, failure = fn(ctx, tx)
		return Finding{Judgement: f.recorder.Judge(value, failure), Undo: failure != nil, Failure: failure}
	})
	switch {
	case err != nil:
		return semel.Result[T]{}, err
	case answer.Replay != nil:
		return semel.Replay[T](f.recorder, answer.Replay)
	}
	return semel.Result[T]{Value: value, Attempt: answer.Attempt, Fence: answer.Fence}, failure
}

// Transact is package inbox's, for any kind of transaction.
func (f *Flow[X]) Transact(ctx context.Context, op semel.Op, work func(context.Context, X) (v semel.Verdict, undo bool)) (*semel.Record, error) {
	answer, err := f.Run(ctx, op, func(ctx context.Context, tx X) Finding {
		v, undo := work(ctx, tx)
		return Finding{Judgement: semel.Judgement{State: v.State, Result: v.Result, Bytes: len(v.Result.Data)}, Undo: undo}
	})
	return answer.Replay, err
}
