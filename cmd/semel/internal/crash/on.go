//go:build semelcrash

package crash

import (
	"context"
	"net/http"
	"os"

	"github.com/semel-go/semel"
)

const envName = "SEMEL_CRASH_AT"

// EnvNames are the environment variables that the package reads.
func EnvNames() []string { return []string{envName} }

// at kills the process if point is the one to die at. It does not return then.
func at(point string) {
	if os.Getenv(envName) != point {
		return
	}
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err != nil {
		panic("crash: cannot kill this process: " + err.Error())
	}
	select {} // the signal is on its way
}

// Store adds the points around claim and finish to s.
func Store(s semel.Store) semel.Store { return &store{Store: s} }

type store struct{ semel.Store }

func (s *store) Claim(ctx context.Context, p semel.ClaimParams) (semel.ClaimResult, error) {
	at("before-claim")
	res, err := s.Store.Claim(ctx, p)
	if err == nil && res.Outcome == semel.ClaimAcquired {
		at("after-claim")
	}
	return res, err
}

func (s *store) Finish(ctx context.Context, p semel.FinishParams) (semel.FinishResult, error) {
	at("before-save")
	res, err := s.Store.Finish(ctx, p)
	if err == nil {
		at("before-answer")
	}
	return res, err
}

// Transport adds the point after the upstream's answer to rt.
func Transport(rt http.RoundTripper) http.RoundTripper { return &transport{rt} }

type transport struct{ http.RoundTripper }

func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := t.RoundTripper.RoundTrip(r)
	at("after-upstream")
	return res, err
}
