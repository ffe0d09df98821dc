package redisstore

import (
	"context"
	"fmt"
	"slices"

	"github.com/redis/go-redis/v9"

	"github.com/semel-go/semel"
)

// Guarantees is [semel.Store.Guarantees]. It asks every server that owns keys for its
// settings, as they are now, and promises what the weakest does.
func (s *Store) Guarantees(ctx context.Context, _ semel.GuaranteesParams) (g semel.Guarantees, err error) {
	if ctx.Err() != nil {
		return g, ended(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, s.options.Timeout)
	defer cancel()
	clients, err := s.servers(ctx)
	if err != nil {
		return g, err
	}
	p := newPromise()
	for _, client := range clients {
		f, err := ask(ctx, client)
		if err != nil {
			return g, unavailable(err)
		}
		p.server(&f)
		p.failover(&f, sentinel(client), s.options.Replicas)
	}
	if s.deaf {
		say(&p.Notes, fmt.Sprintf("The user may not publish on the channel %s: those who wait poll.", s.channel()))
	}
	return p.Guarantees, nil
}

// sentinel reports a client that asks Sentinel for the primary; it has this name in place
// of an address.
func sentinel(client *redis.Client) bool { return client.Options().Addr == "FailoverClient" }

// promise puts settings into words.
type promise struct{ semel.Guarantees }

func newPromise() *promise {
	return &promise{semel.Guarantees{
		Store: "redis", SingleRegister: semel.Yes, SurvivesProcess: semel.Yes, SurvivesEngineCrash: semel.Yes,
		SurvivesPowerLoss: semel.Yes, SurvivesFailover: semel.No,
	}}
}

// lower takes a promise back, and says why.
func (p *promise) lower(field *semel.Answer, to semel.Answer, format string, args ...any) {
	if *field != semel.No {
		*field = to
	}
	say(&p.Notes, fmt.Sprintf(format, args...))
}

// say says something once.
func say(list *[]string, text string) {
	if !slices.Contains(*list, text) {
		*list = append(*list, text)
	}
}

// server is what one server promises.
func (p *promise) server(f *facts) {
	p.Store = f.product()
	say(&p.Facts, f.String())
	switch {
	case f.replica():
		p.lower(&p.SingleRegister, semel.No, "The server is a replica now: nothing can be claimed here, and what it tells may be old.")
	case f.evicts():
		p.lower(&p.SingleRegister, semel.No, "maxmemory-policy is %s: under memory pressure live leases and results are dropped, and work runs twice; set noeviction.", f.policy())
	case f.policy() == "":
		p.lower(&p.SingleRegister, semel.Unknown, "The server does not tell its maxmemory-policy: see that it is noeviction, or live leases are dropped under memory pressure.")
	}
	p.persistence(f)
}

func (p *promise) persistence(f *facts) {
	switch {
	case f.info["aof_enabled"] == "0":
		p.lower(&p.SurvivesEngineCrash, semel.No, "appendonly is off: a crash of the server forgets all since its last snapshot; set appendonly yes and appendfsync always.")
		p.SurvivesPowerLoss = semel.No
	case f.info["aof_enabled"] == "":
		p.lower(&p.SurvivesEngineCrash, semel.Unknown, "The server does not tell whether appendonly is on.")
		p.lower(&p.SurvivesPowerLoss, semel.Unknown, "The server does not tell its appendfsync.")
	case f.fsync == "":
		p.lower(&p.SurvivesPowerLoss, semel.Unknown, "The server does not tell its appendfsync.")
	case f.fsync != "always":
		p.lower(&p.SurvivesPowerLoss, semel.No, "appendfsync is %s: a loss of power forgets the last claims and results, of one to two seconds with everysec; set it to always.", f.fsync)
	}
}

// failover: replication is asynchronous, so that who is promoted may know less.
func (p *promise) failover(f *facts, sentinel bool, wait int) {
	const loses = " A failover may forget the last claims and results, so that two callers own one key; fences are then ordered by the clocks of the servers only."
	switch {
	case f.clustered():
		p.lower(&p.SingleRegister, semel.No, "This is a cluster."+loses)
	case sentinel:
		p.lower(&p.SingleRegister, semel.No, "Sentinel promotes a replica when the primary fails."+loses)
	case f.replicas() > 0:
		p.lower(&p.SingleRegister, semel.Unknown, "The server has replicas."+loses+" Without a failover it is one register per key.")
	case wait > 0:
		p.tooFew(f, wait)
		return
	default:
		say(&p.Facts, "One server: there is no failover.")
		return
	}
	p.lower(&p.SurvivesEngineCrash, semel.Unknown, "When a server crashes, its replica takes over before it is back.")
	p.lower(&p.SurvivesPowerLoss, semel.Unknown, "When a server loses power, its replica takes over before it is back.")
	switch {
	case wait == 0:
		p.lower(&p.SurvivesFailover, semel.No, "No call waits for a replica; Options.Replicas narrows what a failover forgets.")
	case f.replicas() < wait:
		p.tooFew(f, wait)
	default:
		p.lower(&p.SurvivesFailover, semel.No, "Calls wait for %d replicas, which narrows what a failover forgets, and does not close it: another replica may be promoted.", wait)
	}
}

func (p *promise) tooFew(f *facts, wait int) {
	p.lower(&p.SurvivesFailover, semel.No, "Calls wait for %d replicas, and a server has %d now: they will not succeed.", wait, f.replicas())
}
