package semelhttp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/semelhttp"
)

func TestProblemOf(t *testing.T) {
	t.Parallel()
	busy := &semel.InProgressError{RetryAfter: 3 * time.Second}
	tests := []struct {
		err        error
		code       semelhttp.Code // "": none
		retryAfter time.Duration
	}{
		{busy, "in-progress", 3 * time.Second},
		{&semel.InProgressError{Err: semel.ErrFenced}, "in-progress", time.Second},
		{&semel.InProgressError{Err: semel.ErrWaitersFull, RetryAfter: time.Hour}, "overloaded", time.Second},
		{fmt.Errorf("vote: %w", busy), "in-progress", 3 * time.Second},
		{&semel.MismatchError{}, "key-reused", 0},
		{&semel.InDoubtError{}, "outcome-unknown", 0},
		{&semel.InDoubtError{Err: busy}, "outcome-unknown", 0}, // the inner operation's
		{&semel.ResultUnavailableError{Err: io.EOF}, "result-unavailable", 0},
		{&semel.StoreError{Err: &semel.RecordFormatError{Format: 9}}, "result-unavailable", 0},
		{&semel.StoreError{Err: semel.ErrStoreFull}, "overloaded", time.Second},
		{&semel.StoreError{Err: semel.ErrNoReply}, "store-unavailable", time.Second},
		{semel.ErrClosed, "store-unavailable", time.Second},
		{semel.ErrAmbiguousInput, "ambiguous-body", 0},
		{semel.Final(busy), "", 0},
		{errors.New("the handler's"), "", 0},
		{semel.Retryable(io.EOF), "", 0},
		{context.Canceled, "", 0},
		{nil, "", 0},
	}
	for _, tt := range tests {
		p, ok := semelhttp.ProblemOf(tt.err)
		if ok != (tt.code != "") || p.Code != tt.code || p.RetryAfter != tt.retryAfter {
			t.Errorf("%v: %q after %v, %v; want %q after %v", tt.err, p.Code, p.RetryAfter, ok, tt.code, tt.retryAfter)
		}
		if ok && p.Status < 400 {
			t.Errorf("%v: status %d", tt.err, p.Status)
		}
	}
}
