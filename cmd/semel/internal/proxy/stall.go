package proxy

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

var errStalled = errors.New("the answer stood still for too long; see --upstream-stall-timeout and --upstream-stream-timeout")

// watched sends a guarded request. An answer that has begun and stands still fails:
// its run would hold the key, and renew it, for as long as the upstream hangs.
func (u *upstream) watched(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	res, err := roundTrip(u.guarded, r.WithContext(ctx))
	if err != nil {
		cancel(nil)
		return nil, err
	}
	res.Body = &stallBody{
		ReadCloser: res.Body,
		limit:      u.patience.of(res),
		end:        cancel,
		cause:      func() error { return context.Cause(ctx) },
	}
	return res, nil
}

// of is how long the body of res may stand still.
func (p patience) of(res *http.Response) time.Duration {
	if isStream(res) {
		return p.stream
	}
	return p.stall
}

// stallBody is a body of which no read may wait for longer than its limit. The time
// between two reads, in which a client may be slow, does not count.
type stallBody struct {
	io.ReadCloser
	limit time.Duration // 0: none
	end   context.CancelCauseFunc
	cause func() error
}

func (b *stallBody) Read(p []byte) (int, error) {
	if b.limit > 0 {
		timer := time.AfterFunc(b.limit, func() { b.end(errStalled) })
		defer timer.Stop()
	}
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF && b.cause() == errStalled {
		err = errStalled
	}
	return n, err
}

func (b *stallBody) Close() error {
	err := b.ReadCloser.Close()
	b.end(nil)
	return err
}
