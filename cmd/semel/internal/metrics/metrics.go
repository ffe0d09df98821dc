// Package metrics counts what the engine and the gateway do, for Prometheus.
// Labels are operations, states and causes: never a key, a principal or a path.
package metrics

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/semel-go/semel"
)

// Metrics is a [semel.Observer] with a registry of its own. All methods may be
// called concurrently.
type Metrics struct {
	registry *prometheus.Registry

	events   map[semel.EventKind]*prometheus.CounterVec // by operation
	finishes *prometheus.CounterVec
	runs     *prometheus.HistogramVec
	pending  prometheus.Gauge
	calls    *prometheus.HistogramVec
	failures *prometheus.CounterVec
	bytes    *prometheus.CounterVec
	purged   prometheus.Counter
	purgeLag prometheus.Gauge
	gatewayMetrics
}

// counted are the events that are plain counters by operation.
var counted = map[semel.EventKind]struct{ name, help string }{
	semel.EventClaim:     {"semel_claims_total", "Runs begun: requests that went to the upstream under a claim."},
	semel.EventReplay:    {"semel_replays_total", "Recorded answers handed out."},
	semel.EventConflict:  {"semel_conflicts_total", "Duplicates that met a running request."},
	semel.EventMismatch:  {"semel_mismatches_total", "Keys used again with another request."},
	semel.EventInDoubt:   {"semel_in_doubt_total", "Requests that met a record in doubt or left one."},
	semel.EventFenced:    {"semel_fenced_total", "Runs that lost their record to another owner or an operator."},
	semel.EventLeaseLost: {"semel_leases_lost_total", "Runs whose lease was not renewed in time."},
	semel.EventRenew:     {"semel_renewals_total", "Leases renewed."},
	semel.EventSaveRetry: {"semel_background_saves_total", "Saves that failed and go on in the background."},
	semel.EventSaved:     {"semel_background_saved_total", "Background saves that got through."},
	semel.EventSaveLost:  {"semel_background_saves_lost_total", "Background saves that were given up."},
	semel.EventTombstone: {"semel_tombstones_total", "Answers that were not kept."},
	semel.EventUnguarded: {"semel_unguarded_total", "Runs without a claim since the store was unavailable."},
}

// New returns metrics that are registered nowhere but in [Metrics.Handler].
func New(version string) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(), events: map[semel.EventKind]*prometheus.CounterVec{}}
	for kind, c := range counted {
		m.events[kind] = m.counter(c.name, c.help, "operation")
	}
	m.finishes = m.counter("semel_finishes_total", "Runs ended, by what became of the record.", "operation", "state")
	m.failures = m.counter("semel_store_errors_total", "Store calls that failed.", "call")
	m.bytes = m.counter("semel_result_bytes_total", "Bytes of answers stored and replayed.", "direction")
	m.registerGateway()
	m.calls = m.histogram("semel_store_call_seconds", "Duration of store calls.", storeBuckets, "call")
	m.runs = m.histogram("semel_run_seconds", "Duration of runs, from claim to saved outcome.", prometheus.DefBuckets, "operation")
	m.pending = m.gauge("semel_background_saves_pending", "Outcomes that are not saved yet.")
	m.purgeLag = m.gauge("semel_purge_lag_seconds", "For how long the oldest expired record has been due.")
	m.purged = prometheus.NewCounter(prometheus.CounterOpts{Name: "semel_purged_total", Help: "Expired records deleted."})
	m.expectFixed()
	m.registry.MustRegister(m.purged, buildInfo(version), collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Handler serves the metrics.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Registry: m.registry})
}
