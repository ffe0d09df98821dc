package metrics

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/semel-go/semel/cmd/semel/internal/token"
	"github.com/semel-go/semel/semelhttp"
)

// gatewayMetrics count what happens around the engine.
type gatewayMetrics struct {
	upstream   *prometheus.CounterVec
	selfCheck  *prometheus.CounterVec
	authorized *prometheus.HistogramVec
	tokens     *prometheus.CounterVec
	keySets    *prometheus.CounterVec
	reloads    *prometheus.CounterVec
	observed   *prometheus.CounterVec
}

func (m *Metrics) registerGateway() {
	m.upstream = m.counter("semel_upstream_failures_total", "Round trips without a whole answer from the upstream.", "code")
	m.selfCheck = m.counter("semel_self_checks_total", "Self-checks that a replay works.", "result")
	m.authorized = m.histogram("semel_authorize_seconds", "Questions to the authoriser, by answer: yes, no or none.", prometheus.DefBuckets, "answer")
	m.tokens = m.counter("semel_tokens_refused_total", "Tokens that name no principal, by reason.", "reason")
	m.keySets = m.counter("semel_jwks_reads_total", "Reads of the key set.", "result")
	m.reloads = m.counter("semel_config_reloads_total", "Reloads of the configuration.", "result")
	m.observed = m.counter("semel_observed_total", "Requests on observed routes that a guard would have answered itself, by how.", "operation", "would")
}

// StoreConnections tells of the pool to a database's server, when the metrics are
// asked for.
func (m *Metrics) StoreConnections(ask func() (inUse, idle, most int)) {
	pool := func(name, help string, labels prometheus.Labels, pick func() int) {
		opts := prometheus.GaugeOpts{Name: name, Help: help, ConstLabels: labels}
		m.registry.MustRegister(prometheus.NewGaugeFunc(opts, func() float64 { return float64(pick()) }))
	}
	const help = "Connections to the database's server, by state."
	pool("semel_store_connections", help, prometheus.Labels{"state": "in-use"}, func() int { n, _, _ := ask(); return n })
	pool("semel_store_connections", help, prometheus.Labels{"state": "idle"}, func() int { _, n, _ := ask(); return n })
	pool("semel_store_connections_max", "Connections to the database's server that the pool may have.", nil, func() int { _, _, n := ask(); return n })
}

// UpstreamFailed counts a round trip without a whole answer.
func (m *Metrics) UpstreamFailed(code string) { m.upstream.WithLabelValues(code).Inc() }

// SelfChecked counts a self-check.
func (m *Metrics) SelfChecked(err error) { m.selfCheck.WithLabelValues(result(err)).Inc() }

// Authorized counts an answer of the authoriser.
func (m *Metrics) Authorized(answer string, d time.Duration) {
	m.authorized.WithLabelValues(answer).Observe(d.Seconds())
}

// TokenRefused counts a token that names no principal.
func (m *Metrics) TokenRefused(err error) {
	reason := "no-claim"
	switch {
	case errors.Is(err, token.ErrMalformed):
		reason = "malformed"
	case errors.Is(err, token.ErrSignature):
		reason = "signature"
	case errors.Is(err, token.ErrTime):
		reason = "time"
	case errors.Is(err, token.ErrElsewhere):
		reason = "issuer-or-audience"
	}
	m.tokens.WithLabelValues(reason).Inc()
}

// KeySetRead counts a read of the key set.
func (m *Metrics) KeySetRead(err error) { m.keySets.WithLabelValues(result(err)).Inc() }

// Reloaded counts a reload of the configuration.
func (m *Metrics) Reloaded(err error) { m.reloads.WithLabelValues(result(err)).Inc() }

// Observed counts what a guard would have answered.
func (m *Metrics) Observed(operation string, would semelhttp.Code) {
	m.observed.WithLabelValues(operation, string(would)).Inc()
}

func result(err error) string {
	if err != nil {
		return "failed"
	}
	return "ok"
}
