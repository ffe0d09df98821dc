package cluster

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/semel-go/semel/integration/internal/gateway"
)

// answer is what a client got in the end.
type answer struct {
	status int
	body   string
}

func (a answer) String() string { return fmt.Sprintf("%d %q", a.status, a.body) }

// unknown says that an operator has to decide.
func (a answer) unknown() bool {
	return a.status == http.StatusConflict && strings.Contains(a.body, "outcome-unknown")
}

// client asks gateways as a shop's till does: until there is a final answer, and
// another gateway where one is gone.
type client struct {
	http     *http.Client
	gateways []*gateway.Process
}

func newClient(t *testing.T, gateways ...*gateway.Process) *client {
	transport := &http.Transport{MaxIdleConnsPerHost: 1000}
	t.Cleanup(transport.CloseIdleConnections)
	return &client{http: &http.Client{Transport: transport}, gateways: gateways}
}

// pay asks gateway number first, then the others, again and again.
func (c *client) pay(ctx context.Context, first int, key string) (answer, error) {
	for i := first; ; i++ {
		via := i % len(c.gateways)
		got, err := c.once(ctx, via, key)
		if err == nil && !again(got) {
			return got, nil
		}
		select {
		case <-ctx.Done():
			return got, fmt.Errorf("%s: no final answer: %v, %w", key, got, context.Cause(ctx))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// again says that an answer is none yet: in progress, or no store.
func again(a answer) bool {
	return a.status == http.StatusServiceUnavailable || a.status == http.StatusConflict && strings.Contains(a.body, "in-progress")
}

func (c *client) once(ctx context.Context, via int, key string) (answer, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.gateways[via].URL+"/pay", strings.NewReader("amount=42"))
	if err != nil {
		return answer{}, err
	}
	r.Header.Set("Idempotency-Key", key)
	r.Header.Set("X-Via", fmt.Sprint(via))
	res, err := c.http.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return answer{res.StatusCode, string(body)}, err
}
