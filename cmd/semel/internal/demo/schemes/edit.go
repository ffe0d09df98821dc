package schemes

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/semel-go/semel/optimistic"
)

func editScheme() Scheme {
	return Scheme{ID: "edit", Ways: []Way{
		{ID: Wrong, Wants: exactly(1), Code: code("edit.go", "saveAll", "Exec", "UPDATE", "t.price"), act: editBlindly},
		{ID: Right, Wants: exactly(0), Code: code("edit.go", "saveSeen", "Update:", "SET", "AND version"), act: editByVersion},
	}}
}

// The two people who edit a row.
const (
	lin  = "lin"  // changes the price
	wang = "wang" // counts the stock
)

// tea is the row that both of them have on their screens.
type tea struct{ id, price, stock, version int64 }

const (
	oldStock = 12
	newStock = 9
	oldPrice = price
	newPrice = 27900
)

// price is what everything here costs, in fen, a hundredth of a yuan.
const price = 29900

func yuan(fen int64) string { return fmt.Sprintf("¥%d.%02d", fen/100, fen%100) }

// newTea puts a row into the table.
func (s *scene) newTea(ctx context.Context) (tea, error) {
	res, err := s.db.ExecContext(ctx, "INSERT INTO teas (price, stock, version) VALUES (?, ?, 1)", oldPrice, oldStock)
	if err != nil {
		return tea{}, err
	}
	id, err := res.LastInsertId()
	return tea{id: id}, err
}

// open reads the row for somebody.
func (s *scene) open(ctx context.Context, who string, id int64) (tea, error) {
	t := tea{id: id}
	err := s.db.QueryRowContext(ctx, "SELECT price, stock, version FROM teas WHERE id = ?", id).Scan(&t.price, &t.stock, &t.version)
	if err == nil {
		s.say(ctx, who, "opens", Plain, "price", yuan(t.price), "stock", t.stock, "version", t.version)
	}
	return t, err
}

// lost counts the edits that are not in the row.
func (s *scene) lost(ctx context.Context, id int64) (int, error) {
	return s.count(ctx, "SELECT (price <> ?) + (stock <> ?) FROM teas WHERE id = ?", newPrice, newStock, id)
}

// bothOpen lets both people open a new row, and each change a field of what they see.
func (s *scene) bothOpen(ctx context.Context) (byLin, byWang tea, err error) {
	row, err := s.newTea(ctx)
	if err != nil {
		return tea{}, tea{}, err
	}
	if byLin, err = s.open(ctx, lin, row.id); err != nil {
		return tea{}, tea{}, err
	}
	byWang, err = s.open(ctx, wang, row.id)
	byLin.price, byWang.stock = newPrice, newStock
	return byLin, byWang, err
}

// saveAll writes the whole form back, as it was opened.
func saveAll(ctx context.Context, db *sql.DB, t tea) error {
	_, err := db.ExecContext(ctx,
		"UPDATE teas SET price = ?, stock = ? WHERE id = ?",
		t.price, t.stock, t.id)
	return err
}

func editBlindly(ctx context.Context, s *scene) (int, error) {
	byLin, byWang, err := s.bothOpen(ctx)
	if err != nil {
		return 0, err
	}
	if err := saveAll(ctx, s.db, byLin); err != nil {
		return 0, err
	}
	s.say(ctx, lin, "price", Good, "price", yuan(byLin.price))
	if err := saveAll(ctx, s.db, byWang); err != nil {
		return 0, err
	}
	s.say(ctx, wang, "overwrites", Bad, "stock", byWang.stock, "price", yuan(byWang.price))
	return s.lost(ctx, byLin.id)
}

// saveSeen writes only if the row has the version that was
// opened, and raises it.
func saveSeen(ctx context.Context, db *sql.DB, t tea) error {
	return optimistic.Exec(ctx, db, optimistic.Change{
		Update: `UPDATE teas
			SET price = ?, stock = ?, version = version + 1
			WHERE id = ? AND version = ?`,
		Args:        []any{t.price, t.stock, t.id, t.version},
		Current:     "SELECT version FROM teas WHERE id = ?",
		CurrentArgs: []any{t.id},
		Version:     t.version,
	})
}

func editByVersion(ctx context.Context, s *scene) (int, error) {
	byLin, byWang, err := s.bothOpen(ctx)
	if err != nil {
		return 0, err
	}
	if err := saveSeen(ctx, s.db, byLin); err != nil {
		return 0, err
	}
	s.say(ctx, lin, "price", Good, "price", yuan(byLin.price))
	conflict, ok := errors.AsType[*optimistic.ConflictError](saveSeen(ctx, s.db, byWang))
	if !ok {
		return 0, errors.New("the second edit met no conflict")
	}
	s.say(ctx, wang, "conflict", Again, "seen", conflict.Seen, "current", conflict.Current)
	if byWang, err = s.open(ctx, wang, byWang.id); err != nil {
		return 0, err
	}
	byWang.stock = newStock
	if err := saveSeen(ctx, s.db, byWang); err != nil {
		return 0, err
	}
	s.say(ctx, wang, "stock", Good, "stock", byWang.stock, "price", yuan(byWang.price))
	return s.lost(ctx, byLin.id)
}
