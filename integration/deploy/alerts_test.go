package deploy

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/VictoriaMetrics/metricsql"
)

// rules is the form of a rule file, as Prometheus reads it.
type rules struct {
	Groups []struct {
		Name  string
		Rules []rule
	}
}

type rule struct {
	Alert, Expr         string
	For                 time.Duration
	Labels, Annotations map[string]string
}

func alerts(t *testing.T) (all []rule) {
	t.Helper()
	for _, file := range decodeAll[rules](t, read(t, "deploy", "prometheus", "alerts.yaml"), true) {
		for _, group := range file.Groups {
			all = append(all, group.Rules...)
		}
	}
	if len(all) == 0 {
		t.Fatal("no alerts")
	}
	return all
}

// selectors are the metrics that an expression reads.
func selectors(t *testing.T, r rule) (found []*metricsql.MetricExpr) {
	t.Helper()
	expr, err := metricsql.Parse(r.Expr)
	if err != nil {
		t.Fatalf("%s: %v", r.Alert, err)
	}
	metricsql.VisitAll(expr, func(e metricsql.Expr) {
		if m, ok := e.(*metricsql.MetricExpr); ok {
			found = append(found, m)
		}
	})
	if len(found) == 0 {
		t.Errorf("%s reads no metric", r.Alert)
	}
	return found
}

// Each metric of an alert, with the labels that it is chosen by, is one that the
// real gateway serves. An alert on a name that does not exist never fires.
func TestAlertsReadWhatTheGatewayServes(t *testing.T) {
	t.Parallel()
	served := eventful(t)
	for _, r := range alerts(t) {
		for _, m := range selectors(t, r) {
			for _, filters := range m.LabelFilterss {
				if !served.has(filters) {
					t.Errorf("%s: the gateway serves no %s", r.Alert, m.AppendString(nil))
				}
			}
		}
	}
}

// sample is a line of /metrics without its value.
type sample struct {
	name   string
	labels map[string]string
}

type samples []sample

var (
	sampleForm = regexp.MustCompile(`(?m)^([a-z_]+)(?:\{(.*)\})? \S+$`)
	labelForm  = regexp.MustCompile(`([a-z_]+)="([^"]*)"`)
)

func parseSamples(text string) (all samples) {
	for _, m := range sampleForm.FindAllStringSubmatch(text, -1) {
		s := sample{name: m[1], labels: map[string]string{}}
		for _, label := range labelForm.FindAllStringSubmatch(m[2], -1) {
			s.labels[label[1]] = label[2]
		}
		all = append(all, s)
	}
	return all
}

func (all samples) has(filters []metricsql.LabelFilter) bool {
	for _, s := range all {
		if s.matches(filters) {
			return true
		}
	}
	return false
}

// matches reports whether the filters choose s. What they exclude must be a value
// of a label that s has.
func (s sample) matches(filters []metricsql.LabelFilter) bool {
	for _, f := range filters {
		value, has := s.labels[f.Label]
		switch {
		case f.IsRegexp:
			return false // none is used; one would need a test of its own
		case f.Label == "__name__":
			if s.name != f.Value {
				return false
			}
		case !has || (value == f.Value) == f.IsNegative:
			return false
		}
	}
	return true
}

// What the self-check does is not what clients do: rules on clients leave out the
// label that the gateway really uses.
func TestAlertsLeaveTheSelfCheckOut(t *testing.T) {
	t.Parallel()
	served := eventful(t)
	for _, name := range []string{"semel_claims_total", "semel_replays_total"} {
		if !served.has([]metricsql.LabelFilter{{Label: "__name__", Value: name}, {Label: "operation", Value: "self-check"}}) {
			t.Errorf("%s has no operation self-check", name)
		}
	}
	for _, r := range alerts(t) {
		for _, m := range selectors(t, r) {
			text := string(m.AppendString(nil))
			if strings.HasPrefix(text, "semel_claims_total") || strings.HasPrefix(text, "semel_replays_total") {
				if !strings.Contains(text, `operation!="self-check"`) {
					t.Errorf("%s counts self-checks as requests: %s", r.Alert, text)
				}
			}
		}
	}
}

// Who is paged reads what happened, and what to do.
func TestAlertsAreExplained(t *testing.T) {
	t.Parallel()
	guide := strings.ToLower(read(t, "docs", "alerts.md"))
	const page = "https://github.com/semel-go/semel/blob/main/docs/alerts.md#"
	for _, r := range alerts(t) {
		severity, summary, runbook := r.Labels["severity"], r.Annotations["summary"], r.Annotations["runbook"]
		anchor, ok := strings.CutPrefix(runbook, page)
		heading := "\n## " + strings.ReplaceAll(anchor, "-", ", ") + "\n"
		if severity != "page" && severity != "ticket" || summary == "" || !ok || !strings.Contains(anchor, strings.ToLower(r.Alert)) || !strings.Contains(guide, heading) {
			t.Errorf("%s: severity %q, summary %q, runbook %q (want a heading %q)", r.Alert, severity, summary, runbook, heading)
		}
	}
}
