package sqlrecord

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// DefaultPrefix begins the names of tables in statements and migrations as they
// are written here.
const DefaultPrefix = "semel_"

// Migration is one numbered step of the schema.
type Migration struct {
	Version int
	Name    string // of its file, such as "0001_record"
	// Compatible is the oldest version whose programs still work after this step.
	Compatible int
	// SQL are its statements, each ended by a semicolon at the end of a line.
	SQL string
}

// Migrations reads the steps migrations/NNNN_name.sql of a dialect, in order, for
// tables with this prefix.
func Migrations(files fs.FS, prefix string) ([]Migration, error) {
	names, err := fs.Glob(files, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	all := make([]Migration, 0, len(names))
	for _, name := range names {
		m, err := readMigration(files, name, prefix)
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// readMigration reads a file that begins with "-- compatible: N".
func readMigration(files fs.FS, file, prefix string) (m Migration, err error) {
	text, err := fs.ReadFile(files, file)
	if err != nil {
		return m, err
	}
	m.Name = strings.TrimSuffix(path.Base(file), ".sql")
	number, _, _ := strings.Cut(m.Name, "_")
	head, body, _ := strings.Cut(string(text), "\n")
	m.SQL = strings.ReplaceAll(body, DefaultPrefix, prefix)
	var errVersion, errCompatible error
	m.Version, errVersion = strconv.Atoi(number)
	m.Compatible, errCompatible = strconv.Atoi(strings.TrimPrefix(head, "-- compatible: "))
	if err := errors.Join(errVersion, errCompatible); err != nil {
		return m, fmt.Errorf("sqlstore: migration %s: %w", file, err)
	}
	return m, nil
}

// Statements splits the step, for drivers that take one statement at a time.
func (m Migration) Statements() []string {
	var all []string
	for sql := range strings.SplitSeq(m.SQL, ";\n") {
		if sql = strings.TrimSpace(sql); sql != "" {
			all = append(all, sql)
		}
	}
	return all
}

// Newest is the version of the last step.
func Newest(all []Migration) (version int) {
	for _, m := range all {
		version = max(version, m.Version)
	}
	return cmp.Or(version, 1)
}

// CheckSchema refuses a schema that this program is too old for. version and
// compatible are the highest of the steps that were applied.
func CheckSchema(all []Migration, version, compatible int) error {
	if known := Newest(all); compatible > known {
		return fmt.Errorf("the schema has version %d and needs a program that knows version %d, this one knows %d; upgrade Semel here", version, compatible, known)
	}
	return nil
}
