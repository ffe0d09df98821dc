package proxy

import (
	"log/slog"
	"net/http"
	"net/http/httputil"
	"sync"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/cmd/semel/internal/crash"
	"github.com/semel-go/semel/cmd/semel/internal/settings"
	"github.com/semel-go/semel/semelhttp"
)

// Deps are what a gateway works with.
type Deps struct {
	Engine *semel.Engine
	Log    *slog.Logger
	// UpstreamFailed is told the code of each round trip without a whole answer.
	UpstreamFailed func(code string)
}

// New returns the gateway's handler: semelhttp around a reverse proxy.
func New(cfg *settings.Proxy, deps Deps) (http.Handler, error) {
	guard, err := semelhttp.New(deps.Engine, principalOf(cfg.Principal), &semelhttp.Options{
		RequireKey:        cfg.RequireKey,
		Methods:           cfg.Methods,
		Wait:              cfg.Wait,
		MaxRequestBody:    cfg.MaxRequestBody,
		MaxResponseBody:   int(cfg.MaxResponseBody),
		StoreServerErrors: cfg.StoreErrors,
		Route:             func(r *http.Request) string { return r.Method },
		Logger:            deps.Log,
	})
	if err != nil {
		return nil, err
	}
	return guard(bodyFirst(reverseProxy(cfg, deps))), nil
}

const (
	// maxHeader is what an encoded answer may have on top of its body.
	maxHeader = 1 << 20
	// defaultClaimTimeout bounds a claim where the lease is long enough.
	defaultClaimTimeout = 2 * time.Second
)

// EngineOptions are the engine's settings under cfg.
func EngineOptions(cfg *settings.Proxy, secret []byte, log *slog.Logger, o semel.Observer) *semel.Options {
	policy := semel.AtLeastOnce
	if cfg.Hold {
		policy = semel.AtMostOnce
	}
	return &semel.Options{
		Policy:       policy,
		Lease:        cfg.Lease,
		Retention:    cfg.Retention,
		ClaimTimeout: min(defaultClaimTimeout, cfg.Lease/2),
		MaxResult:    int(cfg.MaxResponseBody) + maxHeader,
		Secret:       secret,
		Logger:       log,
		Observer:     o,
	}
}

func reverseProxy(cfg *settings.Proxy, deps Deps) http.Handler {
	j := &judge{hold: cfg.Hold, maxBody: cfg.MaxResponseBody, failures: deps.UpstreamFailed, log: deps.Log}
	rw := &rewriter{upstream: cfg.Upstream, principal: cfg.Principal, forward: cfg.KeyForward}
	return &httputil.ReverseProxy{
		Rewrite:        rw.rewrite,
		Transport:      crash.Transport(newUpstream(cfg.UpstreamIdleTimeout, cfg.UpstreamTimeout)),
		ModifyResponse: j.answered,
		ErrorHandler:   j.failed,
		ErrorLog:       slog.NewLogLogger(deps.Log.Handler(), slog.LevelDebug),
		BufferPool:     &buffers{sync.Pool{New: func() any { return new([copyBuffer]byte) }}},
	}
}

const copyBuffer = 32 << 10

// buffers lends ReverseProxy the memory it copies bodies with.
type buffers struct{ pool sync.Pool }

func (b *buffers) Get() []byte  { return b.pool.Get().(*[copyBuffer]byte)[:] }
func (b *buffers) Put(p []byte) { b.pool.Put((*[copyBuffer]byte)(p)) }
