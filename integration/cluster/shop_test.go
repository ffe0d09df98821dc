package cluster

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// shop is the service behind the gateways. It counts what takes effect.
type shop struct {
	URL string

	mu      sync.Mutex
	effects map[string]int
	total   int
	hold    func(r *http.Request) // before the answer; nil for none
}

func newShop(t *testing.T) *shop {
	s := &shop{effects: map[string]int{}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// ServeHTTP is [http.Handler]: each call is an effect with a receipt of its own.
func (s *shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key := r.Header.Get("Idempotency-Key")
	s.mu.Lock()
	s.effects[key]++
	s.total++
	receipt, hold := s.total, s.hold
	s.mu.Unlock()
	if hold != nil {
		hold(r)
	}
	w.WriteHeader(http.StatusCreated)
	fmt.Fprintf(w, "receipt %d for %s", receipt, key)
}

// holding lets f decide for how long answers are held back, from now on.
func (s *shop) holding(f func(r *http.Request)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hold = f
}

func (s *shop) effectsOf(key string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.effects[key]
}
