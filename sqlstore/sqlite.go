package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"runtime"

	"github.com/semel-go/semel"
)

// OpenSQLite opens a store on a SQLite file and creates or updates its tables.
// On every connection WAL, synchronous=FULL and the busy timeout are set and
// verified, whatever the driver's defaults are. A database that cannot have a
// write-ahead log (":memory:", a temporary one, some network file systems) is
// refused. Several processes may open one file on the same host.
//
// Of the pool behind [Store.DB] the store keeps one connection for writing.
func OpenSQLite(ctx context.Context, connector driver.Connector, opts *Options) (*Store, error) {
	o := opts.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	if connector == nil {
		return nil, errors.New("sqlstore: no connector; make one with sqlstore.Connector")
	}
	db := sql.OpenDB(&sqliteConnector{Connector: connector, busy: o.BusyTimeout})
	conns := 1 + max(4, runtime.GOMAXPROCS(0))
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	s, err := open(ctx, db, sqliteDialect(o), o)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	s.owned = true
	return s, nil
}

// NewSQLite returns a store on a database that the caller opened and closes. Its
// connections must come with WAL, synchronous FULL (or EXTRA) and a busy timeout;
// the one that the store keeps for writing is verified, and refused with the fix
// if it is unfit. The pool must allow two connections at least.
func NewSQLite(ctx context.Context, db *sql.DB, opts *Options) (*Store, error) {
	o := opts.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	if db == nil {
		return nil, errors.New("sqlstore: no database; open one, or use sqlstore.OpenSQLite")
	}
	if db.Stats().MaxOpenConnections == 1 {
		return nil, errors.New("sqlstore: the pool has one connection only, and the store keeps one for writing; call SetMaxOpenConns with 2 or more")
	}
	return open(ctx, db, sqliteDialect(o), o)
}

// Connector returns a connector for a driver and a data source name, as sql.Open
// would use it.
func Connector(d driver.Driver, dsn string) (driver.Connector, error) {
	if d == nil {
		return nil, errors.New("sqlstore: the driver is nil; pass one, such as &sqlite.Driver{} of modernc.org/sqlite")
	}
	if dc, ok := d.(driver.DriverContext); ok {
		return dc.OpenConnector(dsn)
	}
	return dsnConnector{driver: d, dsn: dsn}, nil
}

type dsnConnector struct {
	driver driver.Driver
	dsn    string
}

func (c dsnConnector) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.dsn) }

func (c dsnConnector) Driver() driver.Driver { return c.driver }

func sqliteDialect(o Options) *dialect {
	d := &dialect{
		name: "sqlite", dir: "sqlite",
		admit: admitSQLite, classify: classifySQLite, promise: promiseSQLite,
		sql: [statements]string{
			stmtBegin:        "BEGIN IMMEDIATE",
			stmtCommit:       "COMMIT",
			stmtRollback:     "ROLLBACK",
			stmtInsert:       sqliteInsert,
			stmtClaim:        sqliteClaim,
			stmtSelect:       sqliteSelect,
			stmtRenew:        sqliteRenew,
			stmtFinishStands: sqliteFinishStands,
			stmtFinishMoves:  sqliteFinishMoves,
			stmtCheckpoint:   sqliteCheckpoint,
			stmtResolve:      sqliteResolve,
			stmtDelete:       sqliteDelete,
			stmtFloor:        sqliteFloor,
			stmtRaiseFloor:   sqliteRaiseFloor,
			stmtPurge:        sqlitePurge,
			stmtPurgeLeft:    sqlitePurgeLeft,
			stmtList:         sqliteList,
			stmtDurability:   "PRAGMA synchronous",
			stmtJournal:      "SELECT journal_mode = 'wal' FROM pragma_journal_mode",
		},
	}
	for i := range d.sql {
		d.sql[i] = expand(d.sql[i], o.Prefix)
	}
	return d
}

// promiseSQLite: a file with WAL survives the death of any process, and a loss of
// power too if each commit is synced.
func promiseSQLite(t *tx) (g semel.Guarantees, err error) {
	wal, _, err := t.number(stmtJournal)
	if err != nil {
		return g, err
	}
	level, _, err := t.number(stmtDurability)
	if err != nil {
		return g, err
	}
	g = semel.Guarantees{
		Store: "sqlite", SingleRegister: semel.Yes, SurvivesProcess: semel.Yes, SurvivesEngineCrash: semel.Yes,
		SurvivesPowerLoss: semel.Yes, SurvivesFailover: semel.No,
		Notes: []string{"One host: all processes that use the file must run on it, with the file on a local disk; there is no failover."},
	}
	if wal == 0 || level < synchronousFull {
		g.SurvivesPowerLoss = semel.No
		g.Notes = append(g.Notes, fmt.Sprintf("synchronous is %d on the writing connection, or the journal is no WAL: a loss of power loses the last commits.", level))
	}
	return g, nil
}
