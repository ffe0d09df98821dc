package semelhttp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"time"
)

// NoAnswerError says that an operation got no answer: it may have been executed or
// not. Send the same request again with Key ([WithKey]) to find out; with another
// key it could be executed twice.
type NoAnswerError struct {
	// Key is the key that was sent. Error does not print it.
	Key string
	// Tries is how often the request was sent.
	Tries int
	// Err is why the last try got no answer, or the context's error.
	Err error
}

func (e *NoAnswerError) Error() string {
	return fmt.Sprintf("semelhttp: no answer after %d tries; the request may have been executed, send it again with the same key: %v", e.Tries, e.Err)
}

// Unwrap returns Err.
func (e *NoAnswerError) Unwrap() error { return e.Err }

// Timeout is Err's, so that a [net/url.Error] around it tells timeouts as usual.
func (e *NoAnswerError) Timeout() bool {
	t, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](e.Err)
	return ok && t.Timeout()
}

// tries are the tries of one request.
type tries struct {
	t        *Transport
	op       *operation
	template *http.Request // all of it but the body
	body     *sentBody
	made     int
}

func (x *tries) context() context.Context { return x.template.Context() }

// run tries until there is an answer to return.
func (x *tries) run() (*http.Response, error) {
	for {
		resp, err := x.try()
		wait, again := x.again(resp, err)
		if !again {
			return resp, x.noAnswer(err)
		}
		if resp != nil {
			discard(resp)
		}
		if err := pause(x.context(), wait); err != nil {
			return nil, x.noAnswer(err)
		}
	}
}

func (x *tries) noAnswer(err error) error {
	if err == nil || x.made == 0 {
		return err
	}
	return &NoAnswerError{Key: x.op.key, Tries: x.made, Err: err}
}

// try sends the request once.
func (x *tries) try() (*http.Response, error) {
	watch := newWatch(x.context(), x.t.opts.TryTimeout)
	req := x.template.Clone(watch.ctx)
	if err := x.body.attach(req, !x.t.opts.SingleTry); err != nil {
		watch.stop()
		return nil, err
	}
	x.made++
	resp, err := x.t.base.RoundTrip(req)
	if err == nil && wantsWhole(resp, x.t.opts.MaxAnswer) {
		err = readWhole(resp, x.t.opts.MaxAnswer)
	}
	if err != nil {
		watch.stop()
		return nil, watch.explain(err)
	}
	resp.Request = req
	watch.leave(resp)
	return resp, nil
}

// again reports whether to try again, and after what time.
func (x *tries) again(resp *http.Response, err error) (time.Duration, bool) {
	if x.context().Err() != nil || x.made == 0 {
		return 0, false
	}
	if err != nil {
		return x.wait(0, !isPermanent(err))
	}
	return x.wait(retryAfterOf(resp), saysAgain(resp))
}

// saysAgain reports whether the same request, sent again, can get another answer.
func saysAgain(resp *http.Response) bool {
	if p := problemOf(resp); p != nil {
		return p.Retry == RetrySameKey
	}
	busy := resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusServiceUnavailable
	return busy && !Replayed(resp)
}

// isPermanent is true for errors that another try cannot help: nothing of the
// request was sent.
func isPermanent(err error) bool {
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	return untrusted || errors.Is(err, http.ErrSchemeMismatch)
}

// wait is what is asked for and a random time on top (full jitter). It refuses if
// the horizon or the caller's deadline comes first; the horizon of SingleTry is 0.
func (x *tries) wait(asked time.Duration, again bool) (time.Duration, bool) {
	left := time.Until(x.op.until)
	if deadline, ok := x.context().Deadline(); ok {
		left = min(left, time.Until(deadline))
	}
	wait := asked + rand.N(x.t.opts.backoff(x.made))
	return wait, again && wait < left
}

// backoff bounds the random wait after a number of tries.
func (o *TransportOptions) backoff(tries int) time.Duration {
	bound := o.Backoff
	for range tries - 1 {
		if bound >= o.MaxBackoff/2 {
			return o.MaxBackoff
		}
		bound *= 2
	}
	return bound
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// watch bounds the time until a try's answer is there.
type watch struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer // nil without a bound
}

var errSilence error = silence{}

// silence is a timeout in the sense of [net.Error].
type silence struct{}

func (silence) Error() string { return "semelhttp: the try took longer than TryTimeout" }
func (silence) Timeout() bool { return true }

func newWatch(ctx context.Context, d time.Duration) *watch {
	w := &watch{}
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	if d > 0 {
		w.timer = time.AfterFunc(d, func() { w.cancel(errSilence) })
	}
	return w
}

func (w *watch) stop() {
	if w.timer != nil {
		w.timer.Stop()
	}
	w.cancel(context.Canceled)
}

// explain names the bound as the reason if it was.
func (w *watch) explain(err error) error {
	if context.Cause(w.ctx) == errSilence {
		return errSilence
	}
	return err
}

// leave ends the watch, and the try's context with the answer's body.
func (w *watch) leave(resp *http.Response) {
	if w.timer != nil {
		w.timer.Stop()
	}
	resp.Body = &watched{ReadCloser: resp.Body, cancel: w.cancel}
}

type watched struct {
	io.ReadCloser
	cancel context.CancelCauseFunc
}

// Close ends the try's context too.
func (b *watched) Close() error {
	defer b.cancel(context.Canceled)
	return b.ReadCloser.Close()
}
