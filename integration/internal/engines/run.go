package engines

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// Run starts every engine that is installed, writes to w where they listen, and ends
// them when ctx is done.
func Run(ctx context.Context, w io.Writer) (err error) {
	g := &group{}
	defer func() { err = errors.Join(err, g.close()) }()
	if err := errors.Join(runPostgres(g, w), runMariaDB(g, w), runRedis(g, w)); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nData and logs are in %s until Ctrl-C.\n", g.root)
	<-ctx.Done()
	return nil
}

func runPostgres(g *group, w io.Writer) error {
	p, err := startPostgres(g, nil)
	if err != nil {
		return told(w, err)
	}
	listens(w, "PostgreSQL", p.URL())
	s, err := p.startStandby(g)
	if err != nil {
		return err
	}
	listens(w, "its standby", s.URL())
	b, err := p.startBouncer(g)
	if err != nil {
		return told(w, err)
	}
	listens(w, "PgBouncer", b.URL())
	return nil
}

func runMariaDB(g *group, w io.Writer) error {
	m, err := startMariaDB(g, nil)
	if err != nil {
		return told(w, err)
	}
	const database = "semel"
	if err := m.exec(context.Background(), "CREATE DATABASE "+database); err != nil {
		return err
	}
	listens(w, "MariaDB", m.URL(database))
	return nil
}

func runRedis(g *group, w io.Writer) error {
	r, err := startRedis(g, nil)
	if err != nil {
		return told(w, err)
	}
	listens(w, "Redis", r.URL())
	return nil
}

func listens(w io.Writer, what, dsn string) { fmt.Fprintf(w, "%-12s %s\n", what, dsn) }

// told writes that an engine is missing, which is no error here.
func told(w io.Writer, err error) error {
	if _, missing := errors.AsType[missingError](err); !missing {
		return err
	}
	fmt.Fprintln(w, err)
	return nil
}
