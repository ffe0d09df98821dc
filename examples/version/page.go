package main

import (
	"context"
	"database/sql"
	"errors"

	"github.com/semel-go/semel/optimistic"
)

// rename changes what its caller has seen at a version, and nothing else. What a person
// typed is not repeated on a newer version: a person has to look at it.
//
// The wrong way has no version in its WHERE: the last one to save wins, and nobody learns
// of what was overwritten.
func rename(ctx context.Context, db *sql.DB, page, title string, seen int64) error {
	return optimistic.Exec(ctx, db, optimistic.Change{
		Update:      "UPDATE page SET title = $1, version = version + 1 WHERE id = $2 AND version = $3",
		Args:        []any{title, page, seen},
		Current:     "SELECT version FROM page WHERE id = $1",
		CurrentArgs: []any{page},
		Version:     seen,
	})
}

const maxStars = 5

var errFull = errors.New("it has all stars already")

// addStar decides by what it read, so it is repeated on the version that it meets. Where
// the new value is a formula of the old one, a single UPDATE does without a version.
func addStar(ctx context.Context, db *sql.DB, page string) error {
	return optimistic.Update(ctx, db, nil, func(ctx context.Context) (optimistic.Change, error) {
		var stars, version int64
		err := db.QueryRowContext(ctx, "SELECT stars, version FROM page WHERE id = $1", page).Scan(&stars, &version)
		if err == nil && stars >= maxStars {
			err = errFull
		}
		return optimistic.Change{
			Update:      "UPDATE page SET stars = $1, version = version + 1 WHERE id = $2 AND version = $3",
			Args:        []any{stars + 1, page, version},
			Current:     "SELECT version FROM page WHERE id = $1",
			CurrentArgs: []any{page},
			Version:     version,
		}, err
	})
}
