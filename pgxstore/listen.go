package pgxstore

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/internal/waitroom"
)

// line is how to reach the server for a connection that listens.
type line struct {
	config  *pgx.ConnConfig // nil: nothing can listen
	channel string
}

// open connects and listens.
func (l *line) open(ctx context.Context) (waitroom.Ear, error) {
	ctx, cancel := context.WithTimeout(ctx, waitroom.TryTimeout)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, l.config.Copy())
	if err != nil {
		return nil, err
	}
	e := &ear{conn}
	if _, err := conn.Exec(ctx, "LISTEN "+pgx.Identifier{l.channel}.Sanitize()); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// ear is a connection that listens.
type ear struct{ conn *pgx.Conn }

// Hear is waitroom.Ear.
func (e *ear) Hear(ctx context.Context) (key semel.KeyID, ok bool, err error) {
	n, err := e.conn.WaitForNotification(ctx)
	if err != nil {
		return key, false, err
	}
	key, bad := semel.ParseKeyID(n.Payload)
	return key, bad == nil, nil
}

// Try is waitroom.Ear.
func (e *ear) Try(ctx context.Context) error { return e.conn.Ping(ctx) }

// Close says goodbye, if the server still listens to that.
func (e *ear) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	return e.conn.Close(ctx)
}
