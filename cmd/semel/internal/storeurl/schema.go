package storeurl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/go-sql-driver/mysql"

	"github.com/semel-go/semel/sqlstore"
)

// Dialects are the databases whose tables can be printed.
var Dialects = []string{string(ofPostgres), string(ofMySQL), string(ofSQLite)}

// Migrate makes the tables of the store at rawURL, or brings them up to date, and
// returns what the store is called and their version, 0 if it needs none.
func Migrate(ctx context.Context, rawURL string) (name string, version int, err error) {
	return look(ctx, rawURL, Open)
}

// CheckSchema is Migrate without changing anything: tables that are missing or old
// are an error.
func CheckSchema(ctx context.Context, rawURL string) (name string, version int, err error) {
	return look(ctx, rawURL, OpenMigrated)
}

func look(ctx context.Context, rawURL string, open func(context.Context, string) (*Handle, error)) (string, int, error) {
	version, err := versionOf(rawURL)
	if err != nil {
		return "", 0, err
	}
	h, err := open(ctx, rawURL)
	if err != nil {
		return "", 0, err
	}
	return h.Name, version, h.Close()
}

// versionOf is that of the tables; 0 where there are none.
func versionOf(rawURL string) (int, error) {
	if t, err := parse(rawURL); err == nil && t.kind == ofRedis {
		return 0, nil
	}
	script, err := ScriptOf(rawURL)
	if err != nil {
		return 0, err
	}
	return script.version(), nil
}

// withFix adds to the error of a role that may not create tables what to do.
func withFix(err error) error {
	const insufficientPrivilege, noDatabaseAccess, noTableAccess = "42501", 1044, 1142
	state, isPostgres := errors.AsType[interface {
		error
		SQLState() string
	}](err)
	denied, isMySQL := errors.AsType[*mysql.MySQLError](err)
	if isPostgres && state.SQLState() == insufficientPrivilege ||
		isMySQL && (denied.Number == noDatabaseAccess || denied.Number == noTableAccess) {
		return fmt.Errorf("%w; if this role may not make tables, let their owner run semel migrate", err)
	}
	return err
}

// Script is the SQL that makes the tables of a store.
type Script struct {
	dialect string
	prefix  string
	steps   []sqlstore.Migration
}

// ScriptOf is the script for the store at rawURL, which is not opened.
func ScriptOf(rawURL string) (*Script, error) {
	t, err := parse(rawURL)
	switch {
	case err != nil:
		return nil, err
	case t.kind == ofMemory:
		return nil, errors.New("a store in memory has no tables")
	case t.kind == ofRedis:
		return nil, errors.New("there is nothing to print or to migrate: Redis has no tables")
	}
	return NewScript(string(t.kind), t.address.params[tablePrefix])
}

// NewScript is the script for a dialect, and for tables whose names begin with
// prefix; an empty one is the default.
func NewScript(dialect, prefix string) (*Script, error) {
	steps, err := sqlstore.Migrations(dialect, &sqlstore.Options{Prefix: prefix})
	if err != nil {
		return nil, err
	}
	return &Script{dialect: dialect, prefix: cmp.Or(prefix, "semel_"), steps: steps}, nil
}

func (s *Script) version() int { return s.steps[len(s.steps)-1].Version }

// Print writes the steps after a version, 0 for all, as SQL that notes in the table
// of versions what it did, as Migrate does.
func (s *Script) Print(w io.Writer, after int) error {
	if newest := s.version(); after < 0 || after > newest {
		return fmt.Errorf("%d is no version; the newest is %d, and 0 is before the first", after, newest)
	}
	fmt.Fprintf(w, "-- The tables of Semel's records, for %s. Run each version in one transaction, if the\n-- database can; a version is run once.\n\n", s.dialect)
	fmt.Fprintln(w, s.versions())
	for _, m := range s.steps {
		if m.Version > after {
			fmt.Fprintf(w, "\n-- Version %d (%s); programs that know version %d can work with it.\n%s\n%s\n", m.Version, m.Name, m.Compatible, m.SQL, s.note(m))
		}
	}
	return nil
}

// versions makes the table of versions.
func (s *Script) versions() string {
	types := map[string][3]string{
		string(ofPostgres): {"integer", "bigint", ""},
		string(ofMySQL):    {"INT", "BIGINT", " ENGINE = InnoDB"},
		string(ofSQLite):   {"INTEGER", "INTEGER", " STRICT"},
	}[s.dialect]
	return fmt.Sprintf("CREATE TABLE IF NOT EXISTS %sschema (version %s NOT NULL PRIMARY KEY, compatible %s NOT NULL, applied_at %s NOT NULL)%s;",
		s.prefix, types[0], types[0], types[1], types[2])
}

// note writes a step into the table of versions, with the server's clock.
func (s *Script) note(m sqlstore.Migration) string {
	now := map[string]string{
		string(ofPostgres): "(date_part('epoch', clock_timestamp()) * 1000000)::bigint",
		string(ofMySQL):    "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))",
		string(ofSQLite):   "CAST(unixepoch('subsec') * 1000000 AS INTEGER)",
	}[s.dialect]
	return fmt.Sprintf("INSERT INTO %sschema (version, compatible, applied_at) VALUES (%d, %d, %s);", s.prefix, m.Version, m.Compatible, now)
}
