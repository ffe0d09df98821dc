package dup

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/lib/pq"
	"modernc.org/sqlite"

	"github.com/semel-go/semel/dup"
	"github.com/semel-go/semel/internal/fakesql"
)

// posing is a pool that seems to be of a driver.
type posing struct {
	*sql.DB
	as driver.Driver
}

func (p posing) Driver() driver.Driver { return p.as }

// A connection that is bad says, of most drivers, that the statement was not sent. lib/pq
// says it also when it was.
func TestBadConnections(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		as    driver.Driver
		doubt bool
	}{{&stdlib.Driver{}, false}, {&mysql.MySQLDriver{}, false}, {&sqlite.Driver{}, false}, {&pq.Driver{}, true}, {nil, true}} {
		t.Run(fmt.Sprintf("%T", c.as), func(t *testing.T) {
			t.Parallel()
			sent := 0
			db := fakesql.New(func(int, string) fakesql.Reply {
				if sent++; sent == 1 {
					return fakesql.Reply{Err: driver.ErrBadConn}
				}
				return fakesql.Reply{Err: errors.New("UNIQUE constraint failed: t.a")}
			}).Open()
			defer db.Close()
			got, err := dup.Insert(t.Context(), posing{db, c.as}, "INSERT INTO t VALUES (1)")
			if got || errors.Is(err, dup.ErrNoReply) != c.doubt || !c.doubt && err != nil {
				t.Errorf("%v, %v; want in doubt: %v", got, err, c.doubt)
			}
		})
	}
}
