package demo

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// The faults that a request of the demo can ask for in the header Demo-Fault.
const (
	faultHeader = "Demo-Fault"
	// faultLoseAnswer makes the hop drop the answer when it has come.
	faultLoseAnswer = "lose-answer"
	// faultDie makes the shop die between its commit and its answer.
	faultDie = "die-after-charge"
	// faultSlow makes the shop's card network slower than the gateway waits.
	faultSlow = "slow-card"
)

// shop is a service as many are: it charges what it is asked to, each time. It
// knows nothing of idempotency keys.
type shop struct {
	ledger   *ledger
	cardTime time.Duration
	slowTime time.Duration
	charged  func(order string) // told of each commit
	die      func()             // cuts all connections and the listener
	dead     <-chan struct{}
}

func (s *shop) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /charges", s.charge)
	mux.HandleFunc("GET /charges", s.list)
	mux.HandleFunc("GET /{$}", sayHello("This is the demo's shop, straight or through the gateway: it takes POST /charges and lists GET /charges."))
	return http.MaxBytesHandler(mux, 64<<10)
}

func (s *shop) charge(w http.ResponseWriter, r *http.Request) {
	var c charge
	if err := json.NewDecoder(r.Body).Decode(&c); err != nil {
		http.Error(w, "the body is no order: "+err.Error(), http.StatusBadRequest)
		return
	}
	if c.Order == "" || c.Amount <= 0 {
		http.Error(w, "an order needs a number and an amount", http.StatusUnprocessableEntity)
		return
	}
	cardTime := s.cardTime
	if r.Header.Get(faultHeader) == faultSlow {
		cardTime = s.slowTime
	}
	c, err := s.take(c, r.Header.Get("Idempotency-Key"), cardTime)
	if errors.Is(err, http.ErrServerClosed) {
		panic(http.ErrAbortHandler)
	}
	if err != nil {
		http.Error(w, "the ledger cannot be written", http.StatusInternalServerError)
		return
	}
	if r.Header.Get(faultHeader) == faultDie {
		s.die()
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Location", "/charges?order="+url.QueryEscape(c.Order))
	writeJSON(w, http.StatusCreated, c)
}

// take charges the card, whether or not the client still listens, unless the shop
// dies first.
func (s *shop) take(c charge, reference string, cardTime time.Duration) (charge, error) {
	network := time.NewTimer(cardTime)
	defer network.Stop()
	select {
	case <-network.C:
	case <-s.dead:
		return c, http.ErrServerClosed
	}
	c.Reference, c.ChargedAt = reference, time.Now().UTC().Truncate(time.Millisecond)
	c, err := s.ledger.add(context.Background(), c)
	if err == nil {
		s.charged(c.Order)
	}
	return c, err
}

// books is the answer to a question about the ledger.
type books struct {
	Count   int      `json:"count"`
	Total   int64    `json:"total"`
	Charges []charge `json:"charges"`
}

func (s *shop) list(w http.ResponseWriter, r *http.Request) {
	found, err := s.ledger.find(r.Context(), r.FormValue("order"), r.FormValue("reference"))
	if err != nil {
		http.Error(w, "the ledger cannot be read", http.StatusInternalServerError)
		return
	}
	b := books{Count: len(found), Charges: found}
	for _, c := range found {
		b.Total += c.Amount
	}
	writeJSON(w, http.StatusOK, b)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	w.Write(body)
}
