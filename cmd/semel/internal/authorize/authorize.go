// Package authorize asks another service whether a caller may do what a request
// asks for, before the request is claimed or answered from a record.
//
// The question is a GET to the authoriser with the request's headers, without
// its body, and with X-Forwarded-Method, -Uri, -Host, -Proto and -For. Any 2xx is
// a yes. 401 and 403 are a no, which the caller gets. Everything else, silence
// too, is no answer: the caller gets 503. Nothing passes without a yes.
package authorize

import (
	"context"
	"crypto/tls"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/semel-go/semel/cmd/semel/internal/reason"
	"github.com/semel-go/semel/semelhttp"
)

// The answers that [Options.Tell] is told.
const (
	Yes    = "yes"
	No     = "no"
	Silent = "none"
)

// Options are the settings of an [Asker]. All are required.
type Options struct {
	URL     *url.URL
	Timeout time.Duration
	// Headers of a yes replace the request's own (canonical names).
	Headers []string
	// Keep names the headers that stay although Connection lists them: the
	// authoriser has to see the caller whom the gateway sees.
	Keep []string
	// Tell is told each answer and how long it took.
	Tell func(answer string, d time.Duration)
	Log  *slog.Logger
}

// Asker asks one authoriser. It may be used concurrently.
type Asker struct {
	opts      Options
	transport *http.Transport
}

// New returns an asker. [Asker.Close] frees its idle connections.
func New(opts Options) *Asker {
	dialer := &net.Dialer{Timeout: opts.Timeout}
	return &Asker{opts: opts, transport: &http.Transport{ // as RoundTripper it follows no redirect
		DialContext:            dialer.DialContext,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    opts.Timeout,
		MaxIdleConnsPerHost:    256,
		IdleConnTimeout:        30 * time.Second,
		DisableCompression:     true,
		MaxResponseHeaderBytes: 64 << 10,
		ForceAttemptHTTP2:      true,
	}}
}

// Close frees idle connections. Questions under way go on.
func (a *Asker) Close() { a.transport.CloseIdleConnections() }

// Guard lets a request that asks reports through to next after a yes. Other
// requests pass. From none does next see the headers of a yes that the client
// has made up.
func (a *Asker) Guard(asks func(*http.Request) bool, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, name := range a.opts.Headers {
			r.Header.Del(name)
		}
		if !asks(r) {
			next.ServeHTTP(w, r)
			return
		}
		if p, ok := a.ask(r); !ok {
			semelhttp.WriteProblem(w, p)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// ask returns the problem that a no or a silence is, and puts the headers of a
// yes into r.
func (a *Asker) ask(r *http.Request) (semelhttp.Problem, bool) {
	begun := time.Now()
	ctx, cancel := context.WithTimeout(r.Context(), a.opts.Timeout)
	defer cancel()
	res, err := a.transport.RoundTrip(a.question(ctx, r))
	if err != nil {
		a.opts.Tell(Silent, time.Since(begun))
		a.opts.Log.Warn("the authoriser gave no answer, so the request was refused", "error", reason.Of(err))
		return unavailable(), false
	}
	defer discard(res.Body)
	switch {
	case res.StatusCode/100 == 2:
		a.opts.Tell(Yes, time.Since(begun))
		a.copyHeaders(r.Header, res.Header)
		return semelhttp.Problem{}, true
	case res.StatusCode == http.StatusUnauthorized || res.StatusCode == http.StatusForbidden:
		a.opts.Tell(No, time.Since(begun))
		return refusal(res), false
	}
	a.opts.Tell(Silent, time.Since(begun))
	a.opts.Log.Warn("the authoriser's answer is neither 2xx, 401 nor 403, so the request was refused", "status", res.StatusCode)
	return unavailable(), false
}

func (a *Asker) copyHeaders(to, from http.Header) {
	for _, name := range a.opts.Headers {
		if values := from[name]; len(values) > 0 {
			to[name] = values
		}
	}
}

// refusal is a no with the authoriser's status.
func refusal(res *http.Response) semelhttp.Problem {
	if res.StatusCode == http.StatusUnauthorized {
		p := semelhttp.NewProblem(semelhttp.CodeNoPrincipal)
		p.Challenge = "Bearer"
		if lines := res.Header["Www-Authenticate"]; len(lines) > 0 {
			p.Challenge = strings.Join(lines, ", ")
		}
		return p
	}
	p := semelhttp.NewProblem(semelhttp.CodeReplayForbidden)
	p.Title = "Refused"
	p.Detail = "The caller may not do this. Nothing was executed for this request."
	return p
}

func unavailable() semelhttp.Problem {
	p := semelhttp.NewProblem(semelhttp.CodeStoreUnavailable)
	p.Title = "Authorisation unavailable"
	p.Detail = "Whether the caller may do this cannot be found out now. Nothing was executed for this request."
	return p
}

// discard reads a little, so that the connection can be used again.
func discard(body io.ReadCloser) {
	const enough = 4 << 10
	io.CopyN(io.Discard, body, enough)
	body.Close()
}
