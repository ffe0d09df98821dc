package kills

import (
	"fmt"
	"slices"
	"testing"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/integration/internal/backends"
	"github.com/semel-go/semel/integration/internal/child"
)

// campaign kills workers on one database.
type campaign struct {
	t       *testing.T
	backend backends.Backend
	dsn     string
	second  *executor // who goes on after the kills

	workers int
	jobs    []job          // of all keys
	kills   map[int][]kill // by key
}

// kill is a run that was cut short.
type kill struct {
	worker string
	point  point
}

func newCampaign(t *testing.T, b backends.Backend) *campaign {
	t.Helper()
	c := &campaign{t: t, backend: b, dsn: b.Database(t), kills: map[int][]kill{}}
	second, err := open(t.Context(), "second", b.Name, c.dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := second.close(); err != nil {
			t.Error(err)
		}
	})
	c.second = second
	if _, err := second.handle.DB.ExecContext(t.Context(), "CREATE TABLE effect (job integer, worker varchar(40), fence bigint)"); err != nil {
		t.Fatal(err)
	}
	return c
}

// run kills n workers, each of which has perWorker keys of each of the levels, and
// then as many again on the same keys, at other points. A few of them live at once.
func (c *campaign) run(n, perWorker, together int, levels ...level) {
	c.t.Helper()
	var shares [][]job
	for w := range (n + 1) / 2 {
		var share []job
		for i := range perWorker {
			for _, l := range levels {
				share = append(share, job{key: len(c.jobs) + len(share), level: l, point: point(w*perWorker+i) % points})
			}
		}
		c.jobs = append(c.jobs, share...)
		shares = append(shares, share)
	}
	c.round(shares, together)
	for w, share := range shares {
		for i := range share {
			share[i].point = (share[i].point + 1 + point(w)%(points-1)) % points
		}
	}
	c.round(shares[:n/2], together)
}

// round kills a worker for each share of the keys, and lets the leases of the dead run
// out.
func (c *campaign) round(shares [][]job, together int) {
	c.t.Helper()
	for some := range slices.Chunk(shares, together) {
		workers := make([]*child.Process, len(some))
		for i, share := range some {
			workers[i] = c.start(i, share)
		}
		for i, share := range some {
			c.kill(workers[i], c.name(i), share)
		}
		c.workers += len(some)
	}
	for _, share := range shares {
		for _, j := range share {
			c.lapse(j)
		}
	}
}

func (c *campaign) name(i int) string { return fmt.Sprint("worker ", c.workers+i) }

func (c *campaign) start(i int, share []job) *child.Process {
	c.t.Helper()
	args := []string{c.name(i), c.backend.Name, c.dsn}
	for _, j := range share {
		args = append(args, j.String())
	}
	return child.Start(c.t, "worker", args...)
}

// kill kills a worker when each of its jobs is at its point.
func (c *campaign) kill(p *child.Process, name string, share []job) {
	c.t.Helper()
	if !p.After(len(share), "at") {
		c.t.Fatalf("%s ended by itself", name)
	}
	cut := map[int]bool{}
	for _, line := range p.Kill(c.t) {
		var key int
		var how string
		if _, err := fmt.Sscanf(line, "at %d %s", &key, &how); err != nil {
			c.t.Fatalf("%s said %q", name, line)
		}
		cut[key] = how == here
	}
	for _, j := range share {
		if cut[j.key] {
			c.kills[j.key] = append(c.kills[j.key], kill{name, j.point})
		}
	}
}

// lapse lets the lease of a job run out, as if its time had gone by.
func (c *campaign) lapse(j job) {
	c.t.Helper()
	if j.level == transactional {
		return // there is none
	}
	if err := c.second.handle.Pass(c.t.Context(), 2*lease, false, j.op().Key.ID()); err != nil {
		c.t.Fatal(err)
	}
}

// read reads the record of a job.
func (c *campaign) read(j job) semel.Record {
	c.t.Helper()
	r, err := c.second.handle.Store.Read(c.t.Context(), semel.ReadParams{Key: j.op().Key.ID()})
	if err != nil {
		c.t.Fatal(err)
	}
	return r
}

// String tells what was done to the workers.
func (c *campaign) String() string {
	cut := 0
	for _, k := range c.kills {
		cut += len(k)
	}
	return fmt.Sprintf("%d workers killed, %d runs of %d keys cut short at %d points", c.workers, cut, len(c.jobs), points)
}
