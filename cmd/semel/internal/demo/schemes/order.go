package schemes

import (
	"context"
	"database/sql"

	"github.com/semel-go/semel/dup"
)

func orderScheme() Scheme {
	return Scheme{ID: "order", Ways: []Way{
		{ID: Wrong, Wants: exactly(2), Code: code("order.go", "lookThenInsert", "row :=", "SELECT", "res, err", "INSERT"), act: orderLooked},
		{ID: Right, Wants: exactly(1), Code: code("order.go", "insertOrGet", "return", "INSERT", "scanID"), act: orderUnique},
	}}
}

// The two clicks of an impatient finger.
var clicks = [...]string{"click-1", "click-2"}

// lookThenInsert is what many write first: a click may
// come between the look and the insert.
func lookThenInsert(ctx context.Context, db *sql.DB,
	number string, between func() error,
) (id int64, err error) {
	row := db.QueryRowContext(ctx,
		"SELECT id FROM loose_orders WHERE number = ?", number)
	if err := row.Scan(&id); err != sql.ErrNoRows {
		return id, err // it is there already
	}
	if err := between(); err != nil {
		return 0, err
	}
	res, err := db.ExecContext(ctx,
		"INSERT INTO loose_orders (number) VALUES (?)", number)
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}

// orderLooked lets both clicks look before either inserts.
func orderLooked(ctx context.Context, s *scene) (int, error) {
	number, meet, tone := newName("A-"), meeting(len(clicks)), onlyFirst()
	err := atOnce(ctx, clicks[:], func(ctx context.Context, who string) error {
		id, err := lookThenInsert(ctx, s.db, number, func() error {
			s.say(ctx, who, "none", Plain, "number", number)
			return meet(ctx)
		})
		if err != nil {
			return err
		}
		s.say(ctx, who, "inserted", tone(), "id", id)
		return nil
	})
	if err != nil {
		return 0, err
	}
	return s.count(ctx, "SELECT count(*) FROM loose_orders WHERE number = ?", number)
}

// insertOrGet lets the unique key decide: number is UNIQUE.
func insertOrGet(ctx context.Context, db *sql.DB,
	number string,
) (id int64, inserted bool, err error) {
	return dup.InsertOrGet(ctx, db, dup.Statements{
		Insert:     "INSERT INTO orders (number) VALUES (?)",
		InsertArgs: []any{number},
		Select:     "SELECT id FROM orders WHERE number = ?",
		SelectArgs: []any{number},
	}, scanID)
}

func scanID(row dup.Row) (id int64, err error) {
	err = row.Scan(&id)
	return id, err
}

// orderUnique sends both clicks at the same moment.
func orderUnique(ctx context.Context, s *scene) (int, error) {
	number, meet := newName("A-"), meeting(len(clicks))
	err := atOnce(ctx, clicks[:], func(ctx context.Context, who string) error {
		if err := meet(ctx); err != nil {
			return err
		}
		id, inserted, err := insertOrGet(ctx, s.db, number)
		if err != nil {
			return err
		}
		if inserted {
			s.say(ctx, who, "inserted", Good, "id", id)
		} else {
			s.say(ctx, who, "there", Again, "number", number, "id", id)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return s.count(ctx, "SELECT count(*) FROM orders WHERE number = ?", number)
}
