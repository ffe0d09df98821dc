//go:build !semelcrash

package crash

import (
	"net/http"

	"github.com/semel-go/semel"
)

// Store returns s.
func Store(s semel.Store) semel.Store { return s }

// Transport returns rt.
func Transport(rt http.RoundTripper) http.RoundTripper { return rt }

// EnvNames are the environment variables that the package reads: none.
func EnvNames() []string { return nil }
