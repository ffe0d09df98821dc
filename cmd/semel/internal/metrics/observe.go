package metrics

import (
	"cmp"
	"errors"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/semel-go/semel"
)

var _ semel.Observer = (*Metrics)(nil)

// Observe counts ev.
func (m *Metrics) Observe(ev semel.Event) {
	if c := m.events[ev.Kind]; c != nil {
		c.WithLabelValues(ev.Operation).Inc()
	}
	m.observePending(ev.Kind)
	switch ev.Kind {
	case semel.EventFinish, semel.EventSaved:
		m.finishes.WithLabelValues(ev.Operation, ev.State.String()).Inc()
		m.runs.WithLabelValues(ev.Operation).Observe(ev.Duration.Seconds())
		m.bytes.WithLabelValues("stored").Add(float64(ev.Bytes))
	case semel.EventReplay:
		m.bytes.WithLabelValues("replayed").Add(float64(ev.Bytes))
	case semel.EventStoreCall:
		m.stored(ev)
	case semel.EventPurge:
		m.purged.Add(float64(ev.Count))
		m.purgeLag.Set(ev.Duration.Seconds())
	}
}

// observePending goes by steps: events of concurrent runs arrive in any order, and
// the last one to arrive need not have the last count.
func (m *Metrics) observePending(kind semel.EventKind) {
	switch kind {
	case semel.EventSaveRetry:
		m.pending.Inc()
	case semel.EventSaved, semel.EventSaveLost:
		m.pending.Dec()
	}
}

func (m *Metrics) stored(ev semel.Event) {
	call := cmp.Or(ev.Call, "unknown")
	m.calls.WithLabelValues(call).Observe(ev.Duration.Seconds())
	if ev.Err != nil && !errors.Is(ev.Err, semel.ErrFenced) {
		m.failures.WithLabelValues(call).Inc()
	}
}

// storeBuckets reach from an answer out of memory to a claim's timeout.
var storeBuckets = []float64{1e-6, 1e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 1e-2, 2.5e-2, 5e-2, .1, .25, .5, 1, 2.5, 5}

func (m *Metrics) counter(name, help string, labels ...string) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	m.registry.MustRegister(c)
	return c
}

func (m *Metrics) histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	h := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	m.registry.MustRegister(h)
	return h
}

func (m *Metrics) gauge(name, help string) prometheus.Gauge {
	g := prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	m.registry.MustRegister(g)
	return g
}

func buildInfo(version string) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "semel_build_info", Help: "The version, as a label.",
		ConstLabels: prometheus.Labels{"version": version},
	}, func() float64 { return 1 })
}
