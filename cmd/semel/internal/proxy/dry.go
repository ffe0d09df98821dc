package proxy

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"log/slog"
	"strings"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/cmd/semel/internal/metrics"
	"github.com/semel-go/semel/cmd/semel/internal/settings"
	"github.com/semel-go/semel/memstore"
	"github.com/semel-go/semel/semelhttp"
)

// Check reports what is wrong with a configuration and shows only when its gateway
// is made. It opens nothing.
func Check(cfg *settings.Proxy) error {
	_, err := dry(cfg)
	return err
}

// dry makes a gateway that is not to serve.
func dry(cfg *settings.Proxy) (*Gateway, error) {
	log := slog.New(slog.DiscardHandler)
	store, err := memstore.New(nil)
	if err != nil {
		return nil, err
	}
	engine, err := semel.New(store, EngineOptions(cfg, nil, log, nil))
	if err != nil {
		return nil, err
	}
	return New(cfg, Deps{Engine: engine, Log: log, Metrics: metrics.New(""), ReadFile: noFile})
}

// noFile stands for a secret that may be on another machine: each file has another one.
func noFile(name string) ([]byte, error) {
	sum := sha256.Sum256([]byte(name))
	return []byte("whsec_" + base64.StdEncoding.EncodeToString(sum[:])), nil
}

// OpenAPI describes the guarded routes to their clients: see
// [semelhttp.OpenAPIFragment]. Observed routes are not guarded yet, and of requests
// that no route matches nobody knows the paths.
func OpenAPI(cfg *settings.Proxy) ([]byte, error) {
	g, err := dry(cfg)
	if err != nil {
		return nil, err
	}
	var operations []semelhttp.OpenAPIRoute
	for _, route := range cfg.Routes {
		if !route.Enabled || route.Observe {
			continue
		}
		for _, method := range route.Methods {
			operations = append(operations, semelhttp.OpenAPIRoute{Method: method, Path: withoutHost(route.Path), Options: g.options(route)})
		}
	}
	if len(operations) == 0 {
		return nil, errors.New("there are no guarded routes to describe; write them under routes: in the file of --config")
	}
	return semelhttp.OpenAPIFragment(operations...)
}

func withoutHost(pattern string) string { return pattern[strings.Index(pattern, "/"):] }
