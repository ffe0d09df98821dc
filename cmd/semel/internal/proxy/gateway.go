package proxy

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"slices"
	"sync"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/cmd/semel/internal/authorize"
	"github.com/semel-go/semel/cmd/semel/internal/crash"
	"github.com/semel-go/semel/cmd/semel/internal/metrics"
	"github.com/semel-go/semel/cmd/semel/internal/settings"
	"github.com/semel-go/semel/cmd/semel/internal/token"
	"github.com/semel-go/semel/cmd/semel/internal/webhook"
	"github.com/semel-go/semel/semelhttp"
)

// Deps are what a gateway works with, and what outlives it.
type Deps struct {
	Engine  *semel.Engine
	Log     *slog.Logger
	Metrics *metrics.Metrics
	// Keys verify tokens; nil where no principal is a claim.
	Keys *token.Keys
	// ReadFile reads a file of secrets, of webhooks and of form tokens.
	ReadFile func(name string) ([]byte, error)
}

// Gateway is the handler that one configuration makes: for each route its
// authoriser and its guard around a reverse proxy.
type Gateway struct {
	http.Handler
	cfg      *settings.Proxy
	deps     Deps
	upstream *upstream
	asker    *authorize.Asker             // nil: nobody is asked
	senders  map[string]*webhook.Verifier // by the file of their secrets
	forms    map[string]*semelhttp.Forms  // by their purpose
	budget   *semelhttp.BodyBudget
	buffers  *buffers
}

// New returns the gateway of cfg. It reads the files of secrets and opens nothing else.
func New(cfg *settings.Proxy, deps Deps) (*Gateway, error) {
	g := &Gateway{
		cfg: cfg, deps: deps,
		upstream: newUpstream(patience{
			idle: cfg.UpstreamIdleTimeout, answer: cfg.UpstreamTimeout,
			stall: cfg.UpstreamStall, stream: cfg.UpstreamStream,
		}),
		budget:  semelhttp.NewBodyBudget(bodyMemory(cfg)),
		buffers: &buffers{sync.Pool{New: func() any { return new([copyBuffer]byte) }}},
	}
	if cfg.Authorize.URL != nil {
		g.asker = authorize.New(authorize.Options{
			URL: cfg.Authorize.URL, Timeout: cfg.Authorize.Timeout, Headers: cfg.Authorize.Headers,
			Keep: scopeHeaders(cfg), Tell: deps.Metrics.Authorized, Log: deps.Log,
		})
	}
	if err := errors.Join(g.readSenders(), g.readFormTokens()); err != nil {
		return nil, err
	}
	handler, err := g.routes()
	if err != nil {
		return nil, err
	}
	g.Handler = handler
	return g, nil
}

// Close frees idle connections. Requests under way go on.
func (g *Gateway) Close() {
	g.upstream.close()
	if g.asker != nil {
		g.asker.Close()
	}
}

const (
	// maxHeader is what an encoded answer may have on top of its body.
	maxHeader = 1 << 20
	// defaultClaimTimeout bounds a claim where the lease is long enough.
	defaultClaimTimeout = 2 * time.Second
	// allBodies is the memory of all request bodies together, if no single one may
	// be larger.
	allBodies = 256 << 20
)

// bodyMemory has room for the largest body of any route.
func bodyMemory(cfg *settings.Proxy) int64 {
	largest := cfg.MaxRequestBody
	for _, route := range cfg.Routes {
		largest = max(largest, route.MaxRequestBody)
	}
	const copies = 2 // where a key is read from the body it is there twice for a moment
	return max(allBodies, copies*largest+maxHeader)
}

// EngineOptions are the engine's settings under cfg. Whatever differs between
// routes, or may change while the process runs, each operation says for itself.
func EngineOptions(cfg *settings.Proxy, secret []byte, log *slog.Logger, o semel.Observer) *semel.Options {
	shortest := cfg.Lease
	for _, route := range cfg.Routes {
		shortest = min(shortest, route.Lease)
	}
	return &semel.Options{
		Policy:       policy(cfg.Hold),
		Lease:        cfg.Lease,
		Retention:    cfg.Retention,
		ClaimTimeout: min(defaultClaimTimeout, shortest/2),
		MaxResult:    settings.MaxBody + maxHeader,
		Secret:       secret,
		StoreKeyText: cfg.StoreKeyText,
		Cache:        cfg.Cache,
		Logger:       log,
		Observer:     o,
	}
}

func policy(hold bool) semel.Policy {
	if hold {
		return semel.AtMostOnce
	}
	return semel.AtLeastOnce
}

// guarded is the handler of a route.
func (g *Gateway) guarded(route settings.Route) (http.Handler, error) {
	handler := bodyFirst(g.reverseProxy(route), g.cfg.BodyTimeout)
	if route.Enabled {
		guard, err := semelhttp.New(g.deps.Engine, g.principalOf(route.Principal), g.options(route))
		if err != nil {
			return nil, inRoute(route, err)
		}
		handler = withWildcards(route, guard(handler))
	}
	if g.asker != nil {
		handler = g.asker.Guard(mayClaim(route), handler)
	}
	return plainly(handler), nil
}

// inRoute says which route an error is about.
func inRoute(route settings.Route, err error) error {
	if route.Path == "" {
		return err
	}
	return fmt.Errorf("%s: the route %s: %w", route.Place(), route, err)
}

// options are the middleware's settings on a route.
func (g *Gateway) options(route settings.Route) *semelhttp.Options {
	o := &semelhttp.Options{
		RequireKey:        route.RequireKey,
		Methods:           route.Methods,
		Policy:            policy(route.Hold),
		Lease:             route.Lease,
		Retention:         route.Retention,
		Wait:              route.Wait,
		MaxRequestBody:    route.MaxRequestBody,
		MaxResponseBody:   int(route.MaxResponseBody),
		BodyBudget:        g.budget,
		BodyTimeout:       bodyTimeout(g.cfg),
		StoreServerErrors: route.StoreErrors,
		Keys:              g.keysOf(route),
		Derived:           (*semelhttp.DerivedKey)(route.Derived),
		JSON:              (*semelhttp.JSONFingerprint)(route.JSON),
		Quota:             (*semelhttp.Quota)(route.Quota),
		Observe:           route.Observe,
		Route:             func(r *http.Request) string { return label(r, route.Name) },
		Logger:            g.deps.Log,
	}
	if sender := g.senders[route.Verify]; sender != nil {
		o.Verify = sender.Verify
	}
	if route.Observe {
		o.OnObserved = g.deps.Metrics.Observed
	}
	return o
}

// bodyTimeout is --body-timeout as semelhttp takes it, where 0 is a default.
func bodyTimeout(cfg *settings.Proxy) time.Duration {
	if cfg.BodyTimeout == 0 {
		return -1
	}
	return cfg.BodyTimeout
}

// operations are the labels that requests may have under cfg.
func operations(cfg *settings.Proxy) []string {
	var labels []string
	for _, route := range append(slices.Clone(cfg.Routes), cfg.Rest()) {
		for _, method := range route.Methods {
			labels = append(labels, labelOf(method, route.Name))
		}
	}
	return labels
}

// label names a request in records and metrics: by its method, and by the route.
func label(r *http.Request, name string) string { return labelOf(r.Method, name) }

func labelOf(method, name string) string {
	if name == "" {
		return method
	}
	return method + " " + name
}

func (g *Gateway) reverseProxy(route settings.Route) http.Handler {
	j := &judge{hold: route.Hold, name: route.Name, maxBody: route.MaxResponseBody, failures: g.deps.Metrics.UpstreamFailed, log: g.deps.Log}
	rw := &rewriter{
		upstream: g.cfg.Upstream, principal: route.Principal, forward: g.cfg.KeyForward,
		granted: g.cfg.Authorize.Headers, keys: keyHeadersOf(route),
	}
	return &httputil.ReverseProxy{
		Rewrite:        rw.rewrite,
		Transport:      crash.Transport(g.upstream),
		ModifyResponse: j.answered,
		ErrorHandler:   j.failed,
		ErrorLog:       slog.NewLogLogger(g.deps.Log.Handler(), slog.LevelDebug),
		BufferPool:     g.buffers,
	}
}

const copyBuffer = 32 << 10

// buffers lends ReverseProxy the memory it copies bodies with.
type buffers struct{ pool sync.Pool }

func (b *buffers) Get() []byte  { return b.pool.Get().(*[copyBuffer]byte)[:] }
func (b *buffers) Put(p []byte) { b.pool.Put((*[copyBuffer]byte)(p)) }
