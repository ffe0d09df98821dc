package postgres

import (
	"strings"
	"testing"

	"github.com/semel-go/semel"
)

// No promise in words that the server, as it is set up, does not keep.
func TestPromiseFollowsTheSettings(t *testing.T) {
	t.Parallel()
	durable := settings{commit: "on", sync: "on", fullPages: "on", readOnly: "off"}
	for _, c := range []struct {
		change                           func(s *settings)
		register, crash, power, failover semel.Answer
		note                             string
	}{
		{func(*settings) {}, semel.Yes, semel.Yes, semel.Yes, semel.No, "failover may forget"},
		{func(s *settings) { s.commit = "off" }, semel.Yes, semel.No, semel.No, semel.No, "synchronous_commit is off"},
		{func(s *settings) { s.commit = "local"; s.standbys = "*" }, semel.Yes, semel.Yes, semel.Yes, semel.No, "failover may forget"},
		{func(s *settings) { s.standbys = "ANY 1 (a, b)" }, semel.Yes, semel.Yes, semel.Yes, semel.Unknown, "administrator cancels"},
		{func(s *settings) { s.sync = "off" }, semel.Yes, semel.Yes, semel.No, semel.No, "fsync"},
		{func(s *settings) { s.fullPages = "off" }, semel.Yes, semel.Yes, semel.No, semel.No, "full_page_writes"},
		{func(s *settings) { s.recovering = true }, semel.No, semel.Yes, semel.Yes, semel.No, "standby"},
		{func(s *settings) { s.readOnly = "on" }, semel.No, semel.Yes, semel.Yes, semel.No, "read-only"},
	} {
		s := durable
		c.change(&s)
		g := s.promise()
		if g.SingleRegister != c.register || g.SurvivesEngineCrash != c.crash || g.SurvivesPowerLoss != c.power || g.SurvivesFailover != c.failover {
			t.Errorf("%+v: %+v", s, g)
		}
		if notes := strings.Join(g.Notes, "\n"); !strings.Contains(notes, c.note) {
			t.Errorf("%+v: notes %q; want %q", s, notes, c.note)
		}
	}
}
