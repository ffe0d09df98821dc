package schemes

import (
	"context"
	"database/sql"
	"errors"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/onetime"
)

func formScheme() Scheme {
	return Scheme{ID: "form", Ways: []Way{
		{ID: Wrong, Wants: exactly(2), Code: code("form.go", "lookThenDelete", "row :=", "SELECT", "work();", "_, err", "DELETE"), act: formLooked},
		{ID: Right, Wants: exactly(1), Code: code("form.go", "useOnce", "onetime.Use", "InputJSON"), act: formOnce},
	}}
}

// stranger is somebody who has seen another one's token.
const stranger = "stranger"

var errSeats = errors.New("how many seats?")

// booking is a form that was filled in.
type booking struct {
	Event string
	Seats int
}

// book inserts a row, each time.
func (s *scene) book(ctx context.Context, b booking) (int64, error) {
	res, err := s.db.ExecContext(ctx, "INSERT INTO bookings (event, seats) VALUES (?, ?)", b.Event, b.Seats)
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}

func (s *scene) bookings(ctx context.Context, event string) (int, error) {
	return s.count(ctx, "SELECT count(*) FROM bookings WHERE event = ?", event)
}

// lookThenDelete is a token of a session: looked up before
// the work, and deleted behind it.
func lookThenDelete(ctx context.Context, db *sql.DB,
	token string, work func() error,
) error {
	row := db.QueryRowContext(ctx,
		"SELECT token FROM tokens WHERE token = ?", token)
	if err := row.Scan(&token); err != nil {
		return err // sql.ErrNoRows: it was used
	}
	if err := work(); err != nil {
		return err
	}
	_, err := db.ExecContext(ctx,
		"DELETE FROM tokens WHERE token = ?", token)
	return err
}

// formLooked lets both clicks find the token before either has done its work.
func formLooked(ctx context.Context, s *scene) (int, error) {
	form := booking{Event: newName("E-"), Seats: 2}
	token, meet, tone := newName("token-"), meeting(len(clicks)), onlyFirst()
	if _, err := s.db.ExecContext(ctx, "INSERT INTO tokens (token) VALUES (?)", token); err != nil {
		return 0, err
	}
	err := atOnce(ctx, clicks[:], func(ctx context.Context, who string) error {
		return lookThenDelete(ctx, s.db, token, func() error {
			s.say(ctx, who, "found", Plain)
			if err := meet(ctx); err != nil {
				return err
			}
			id, err := s.book(ctx, form)
			if err == nil {
				s.say(ctx, who, "booked", tone(), "id", id)
			}
			return err
		})
	})
	if err != nil {
		return 0, err
	}
	return s.bookings(ctx, form.Event)
}

// useOnce spends the token through the life cycle: one runs,
// the others get what it came to.
func useOnce(ctx context.Context, forms *onetime.Service,
	token, user string, form booking,
	book func(context.Context, booking) (int64, error),
) (semel.Result[int64], error) {
	return onetime.Use(ctx, forms, token, "booking", user,
		semel.InputJSON(form),
		func(ctx context.Context) (int64, error) {
			if form.Seats == 0 { // gives the token back
				return 0, semel.Retryable(errSeats)
			}
			return book(ctx, form)
		})
}

// formOnce sends the form with a mistake, corrected by two clicks, and by a stranger.
func formOnce(ctx context.Context, s *scene) (int, error) {
	form := booking{Event: newName("E-")}
	token, _, err := s.forms.Issuer().Issue("booking", lin)
	if err != nil {
		return 0, err
	}
	if _, err := useOnce(ctx, s.forms, token, lin, form, s.book); !errors.Is(err, errSeats) {
		return 0, errors.Join(errors.New("a form without seats was accepted"), err)
	}
	s.say(ctx, lin, "mistake", Plain)
	form.Seats = 2
	err = atOnce(ctx, clicks[:], func(ctx context.Context, who string) error {
		res, err := useOnce(ctx, s.forms, token, lin, form, s.book)
		if err != nil {
			return err
		}
		if res.Replayed {
			s.say(ctx, who, "replayed", Again, "id", res.Value)
		} else {
			s.say(ctx, who, "booked", Good, "id", res.Value)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	if _, err := useOnce(ctx, s.forms, token, stranger, form, s.book); !errors.Is(err, onetime.ErrRefused) {
		return 0, errors.Join(errors.New("a stranger's form was accepted"), err)
	}
	s.say(ctx, stranger, "refused", Again)
	return s.bookings(ctx, form.Event)
}
