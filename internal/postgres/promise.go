package postgres

import "github.com/semel-go/semel"

// promise puts the settings into words.
func (c *settings) promise() semel.Guarantees {
	g := semel.Guarantees{
		Store: "postgres", SingleRegister: semel.Yes, SurvivesProcess: semel.Yes, SurvivesEngineCrash: semel.Yes,
		SurvivesPowerLoss: semel.Yes, SurvivesFailover: semel.No,
	}
	note := func(text string) { g.Notes = append(g.Notes, text) }
	if c.recovering || c.readOnly != "off" {
		g.SingleRegister = semel.No
		note("The server is a standby or read-only now: nothing can be claimed here, and what it tells may be old.")
	}
	if c.commit == "off" {
		g.SurvivesEngineCrash, g.SurvivesPowerLoss = semel.No, semel.No
		note("synchronous_commit is off: a crash of the server forgets the last commits; set it to on for this role or database.")
	}
	if c.sync != "on" || c.fullPages != "on" {
		g.SurvivesPowerLoss = semel.No
		note("fsync or full_page_writes is off: a loss of power can damage the whole database.")
	}
	c.failover(&g, note)
	return g
}

// failover: a standby that gets a commit later than the client does may forget it.
func (c *settings) failover(g *semel.Guarantees, note func(string)) {
	switch {
	case c.standbys == "" || c.commit == "off" || c.commit == "local":
		note("No commit waits for a standby: a failover may forget the last claims and results, which then run again.")
	default:
		g.SurvivesFailover = semel.Unknown
		note("Commits wait for a standby (synchronous_standby_names): a failover keeps them if it only ever promotes one of those.")
		note("A commit whose wait for the standby an administrator cancels counts as done in PostgreSQL.")
	}
}
