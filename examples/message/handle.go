package main

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/inbox"
)

// stays is how long a message is known: longer than the broker can deliver it again, a
// replay of the topic included.
const stays = 14 * 24 * time.Hour

// message is what the producer sends. ID is the event's own, given by the producer; the
// broker's offset or delivery tag is another one when the producer sends again.
type message struct {
	ID     string
	Item   string
	Pieces int64
}

var errSoldOut = &semel.FinalError{Code: "sold_out", Message: "there are not so many"}

// handle takes pieces off the stock, once for each message. The principal is this
// consumer: another one has the same event for itself.
func handle(ctx context.Context, box *inbox.Box, m message) error {
	op := semel.Op{
		Key:   semel.KeyOf(semel.Scope{Principal: "warehouse", Operation: "order-placed"}, m.ID),
		Input: semel.InputJSON(m),
	}
	_, err := inbox.Do(ctx, box, op, func(ctx context.Context, tx *sql.Tx) (left int64, err error) {
		err = tx.QueryRowContext(ctx,
			"UPDATE stock SET pieces = pieces - $1 WHERE item = $2 AND pieces >= $1 RETURNING pieces",
			m.Pieces, m.Item).Scan(&left)
		if errors.Is(err, sql.ErrNoRows) {
			return 0, semel.Final(errSoldOut)
		}
		return left, err
	})
	return err
}

// settle is what the broker is told, as docs/errors.md has it. It comes after handle,
// never before: a message that is acknowledged and then not handled is lost.
func settle(err error) string {
	if _, ok := errors.AsType[*semel.ResultUnavailableError](err); ok || err == nil {
		return "acknowledge"
	}
	if final, ok := errors.AsType[*semel.FinalError](err); ok {
		return "reject: " + final.Code // again would be the same
	}
	if _, ok := errors.AsType[*semel.MismatchError](err); ok {
		return "reject: the id stands for another message"
	}
	if _, ok := errors.AsType[*semel.InDoubtError](err); ok {
		return "park: a person has to find out"
	}
	return "deliver again: " + err.Error()
}
