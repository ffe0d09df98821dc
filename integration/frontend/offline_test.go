package frontend

import (
	"context"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"
)

// conditions is a command that cdproto no longer has; its successor is too new for the
// Chromium of some distributions.
var conditions = cdp.Command[network, cdp.Empty]{Method: "Network.emulateNetworkConditions"}

type network struct {
	Offline bool    `json:"offline"`
	Latency float64 `json:"latency"`
	Down    float64 `json:"downloadThroughput"`
	Up      float64 `json:"uploadThroughput"`
}

// offline takes the tab's network away, or gives it back.
func (b *tab) offline(is bool) {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, conditions, network{Offline: is, Down: -1, Up: -1})
		return err
	}))
}

// The user submits without a network, which comes back: the form was busy meanwhile,
// and the order is made once.
func TestOfflineThenOnline(t *testing.T) {
	s := open(t, form("/orders", "", `fetch: (...tried) => { document.title += "."; return fetch(...tried); }`))
	b := s.tab()
	b.offline(true)
	b.click(1)
	b.await(`document.title.endsWith("...")`) // two tries have failed
	b.check("offline", true, "true", "Sending...")
	b.offline(false)
	b.on("/orders/1")
	s.has(t, "10")
	s.oneKey(1)
}

// Offline for longer than the client tries, then online: the user submits again.
func TestOfflineForLong(t *testing.T) {
	s := open(t, form("/orders", "", "horizon: 1"))
	b := s.tab()
	b.offline(true)
	b.click(1)
	b.says("No answer yet. Sending again is safe.")
	b.enabled()
	b.offline(false)
	b.click(1)
	b.on("/orders/1")
	s.has(t, "10")
}
