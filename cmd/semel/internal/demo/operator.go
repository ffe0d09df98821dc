package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/cmd/semel/internal/keys"
	"github.com/semel-go/semel/cmd/semel/internal/storeurl"
)

// operator settles records in doubt as `semel keys resolve` does: from outside
// the gateway, on the gateway's store, after a look into the shop's books.
type operator struct {
	store  *storeurl.Handle
	shop   string
	client *http.Client
	log    *slog.Logger
}

func newOperator(ctx context.Context, file, shop string, log *slog.Logger) (*operator, error) {
	store, err := storeurl.OpenExisting(ctx, "sqlite:"+file)
	if err != nil {
		return nil, fmt.Errorf("the operator: %w", err)
	}
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	return &operator{store: store, shop: shop, client: client, log: log}, nil
}

func (o *operator) close() error { return o.store.Close() }

// finding is what the operator found in the books, and so decided.
type finding struct {
	Happened bool  `json:"happened"`
	Charge   int64 `json:"charge,omitempty"`
}

// resolve decides the record of key by what the shop's books say.
func (o *operator) resolve(ctx context.Context, key string) (finding, error) {
	id, err := keys.Which{Key: key, Principal: "header:Authorization=" + credential}.Resolve()
	if err != nil {
		return finding{}, err
	}
	rec, err := keys.Read(ctx, o.store.Store, id)
	if err != nil {
		return finding{}, err
	}
	if rec.State != semel.StateInDoubt {
		return finding{}, fmt.Errorf("the record is %s: there is nothing to settle", rec.State)
	}
	found, err := o.look(ctx, key)
	if err != nil {
		return finding{}, fmt.Errorf("the books cannot be read, and nothing was decided: %w", err)
	}
	decision, f, err := decide(found)
	if err != nil {
		return f, err
	}
	_, err = decision.Apply(ctx, o.store.Store, rec, o.log)
	return f, err
}

// look asks the shop which charges carry the key as their reference.
func (o *operator) look(ctx context.Context, key string) ([]json.RawMessage, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+o.shop+"/charges?reference="+url.QueryEscape(key), nil)
	if err != nil {
		return nil, err
	}
	res, err := o.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, errors.New("the shop answers " + res.Status)
	}
	var answer struct{ Charges []json.RawMessage }
	err = json.NewDecoder(io.LimitReader(res.Body, 1<<20)).Decode(&answer)
	return answer.Charges, err
}

// decide makes "it happened, with this answer" of a charge, and "it did not
// happen" of none.
func decide(found []json.RawMessage) (keys.Decision, finding, error) {
	d := keys.Decision{Resolution: semel.ResolveDidNotHappen, Retention: 24 * time.Hour, Reason: "the shop's books hold no such charge"}
	if len(found) == 0 {
		return d, finding{}, nil
	}
	var c charge
	if err := json.Unmarshal(found[0], &c); err != nil {
		return d, finding{}, err
	}
	answer := "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nLocation: /charges?order=" + url.QueryEscape(c.Order) + "\r\n\r\n" + string(found[0])
	result, err := keys.ReadResponse(strings.NewReader(answer))
	d.Resolution, d.Result, d.Reason = semel.ResolveDone, result, fmt.Sprintf("the shop's books hold charge %d", c.ID)
	return d, finding{Happened: true, Charge: c.ID}, err
}
