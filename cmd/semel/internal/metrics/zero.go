package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/semel-go/semel"
)

// Expect makes the counters of operations exist, at 0, so that a query over time sees
// their first step too. It may be called again for others.
func (m *Metrics) Expect(operations []string) {
	for _, operation := range operations {
		for _, c := range m.events {
			c.WithLabelValues(operation)
		}
		for _, state := range []semel.State{semel.StateDone, semel.StateReleased, semel.StateInDoubt} {
			m.finishes.WithLabelValues(operation, state.String())
		}
	}
}

// expectFixed does so for the counters whose labels do not depend on settings.
func (m *Metrics) expectFixed() {
	expect(m.failures, "claim", "renew", "finish", "read", "purge")
	expect(m.bytes, "stored", "replayed")
	expect(m.upstream, "upstream-unreachable", "upstream-no-answer", "answer-cut")
	expect(m.tokens, "malformed", "signature", "time", "issuer-or-audience", "no-claim")
	for _, c := range []*prometheus.CounterVec{m.selfCheck, m.keySets, m.reloads} {
		expect(c, result(nil), "failed")
	}
}

func expect(c *prometheus.CounterVec, values ...string) {
	for _, value := range values {
		c.WithLabelValues(value)
	}
}
