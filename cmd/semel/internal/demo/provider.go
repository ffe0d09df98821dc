package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// provider is a payment provider: it tells the office of a payment by a webhook.
// Its deliveries go through the page's hops, where answers can be lost.
type provider struct {
	page   string // the base URL of the hops
	secret webhookSecret
	client *http.Client
}

func newProvider(page string, secret webhookSecret) *provider {
	return &provider{page: page, secret: secret, client: &http.Client{
		Timeout:   5 * time.Second,
		Transport: &http.Transport{DisableKeepAlives: true},
	}}
}

// ServeHTTP makes the provider deliver the form's event to one side of the
// office, once. It answers 204 if that was acknowledged, else 502.
func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	side := r.FormValue("side")
	if side != sidePlain && side != sideLibrary {
		http.Error(w, "the office has the sides plain and library", http.StatusBadRequest)
		return
	}
	if err := p.deliver(r.Context(), side, r.FormValue("event"), r.FormValue("order"), r.Header); err != nil {
		http.Error(w, "not acknowledged: the provider will deliver it again", http.StatusBadGateway)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// deliver posts the event. The faults that asked asks for go with it.
func (p *provider) deliver(ctx context.Context, side, id, order string, asked http.Header) error {
	body, err := json.Marshal(event{Type: eventPaid, Data: eventData{Order: order, Amount: price}})
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.page+"/"+side+"/webhooks", bytes.NewReader(body))
	if err != nil {
		return err
	}
	for _, name := range []string{faultHeader, attemptHeader} {
		if fault := asked.Get(name); fault != "" {
			r.Header.Set(name, fault)
		}
	}
	r.Header.Set("Content-Type", "application/json")
	p.secret.sign(r.Header, id, time.Now(), body)
	res, err := p.client.Do(r)
	if err != nil {
		return err
	}
	res.Body.Close()
	if res.StatusCode/100 != 2 {
		return fmt.Errorf("answered %s", res.Status)
	}
	return nil
}
