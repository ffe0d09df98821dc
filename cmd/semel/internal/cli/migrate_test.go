package cli_test

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite"
)

func TestMigrate(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "semel.db")
	store := "--store=sqlite:" + file
	run(t, "", nil, "migrate", "--check", store).want(t, 1, "no such file", "make it with semel migrate")
	run(t, "", nil, "migrate", store).want(t, 0, "sqlite:"+file+" is up to date: version 2")
	run(t, "", []string{"SEMEL_STORE=sqlite:" + file}, "migrate", "--check").want(t, 0, "is up to date: version 2")
	exec(t, file, "DELETE FROM semel_schema WHERE version = 2")
	run(t, "", nil, "migrate", "--check", store).want(t, 1, "the tables have version 1, and 2 is needed; run semel migrate")
	run(t, "", nil, "proxy", "--no-migrate", store, "--upstream=http://127.0.0.1:9000", "--principal=global").want(t, 1, "run semel migrate")
}

// What is printed makes the same tables as a gateway does, and is known as that.
func TestMigratePrint(t *testing.T) {
	t.Parallel()
	printed, made := filepath.Join(t.TempDir(), "printed.db"), filepath.Join(t.TempDir(), "made.db")
	exec(t, printed, script(t, "CREATE TABLE semel_record", "--dialect=sqlite"))
	run(t, "", nil, "migrate", "--store=sqlite:"+made).want(t, 0)
	run(t, "", nil, "migrate", "--check", "--store=sqlite:"+printed).want(t, 0)
	if a, b := tables(t, printed), tables(t, made); a != b {
		t.Errorf("printed:\n%s\nmade:\n%s", a, b)
	}
	later := script(t, "CREATE TABLE shop_floor", "--dialect=sqlite", "--after=1", "--prefix=shop_")
	if strings.Contains(later, "semel_") || strings.Contains(later, "shop_record") {
		t.Errorf("after version 1, with a prefix:\n%s", later)
	}
	script(t, "CREATE TABLE semel_record", "--dialect=postgres")
	script(t, "CREATE TABLE IF NOT EXISTS semel_record", "--dialect=mysql")
	script(t, "CREATE TABLE IF NOT EXISTS shop_record", "--store=mysql://u:secret@no-such-host.invalid/d?semel_prefix=shop_")
}

// script is what is printed, which must hold some text.
func script(t *testing.T, holds string, flags ...string) string {
	t.Helper()
	got := run(t, "", nil, append([]string{"migrate", "--print"}, flags...)...)
	got.want(t, 0)
	if !strings.Contains(got.out, holds) {
		t.Errorf("%q: no %q in\n%s", flags, holds, got.out)
	}
	return got.out
}

func TestMigrateRefuses(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"--check --print":                    "choose one",
		"--dialect=mysql":                    "add --print",
		"--after=1":                          "add --print",
		"--print --prefix=a_":                "has semel_prefix",
		"--print --dialect=oracle":           `there is no dialect "oracle"`,
		"--print --dialect=mysql --after=99": "99 is no version; the newest is",
		"--print --store=memory:":            "a store in memory has no tables",
		"--store=memory:":                    "a store in memory has no tables",
		"--store=nats://u:canary@h":          "built in are memory:",
		"--print --store=redis://u:canary@h": "Redis has no tables",
		"x":                                  "semel migrate takes flags only",
	} {
		got := run(t, "", nil, append([]string{"migrate"}, strings.Fields(args)...)...)
		got.want(t, 1, want)
		if strings.Contains(got.err, "canary") {
			t.Errorf("%s: the password is told: %s", args, got.err)
		}
	}
}

func open(t *testing.T, file string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func exec(t *testing.T, file, statements string) {
	t.Helper()
	if _, err := open(t, file).Exec(statements); err != nil {
		t.Fatal(err)
	}
}

// tables are the definitions of all tables and indexes, and the versions.
func tables(t *testing.T, file string) string {
	t.Helper()
	var all, versions string
	if err := open(t, file).QueryRow("SELECT group_concat(sql, char(10) ORDER BY name) FROM sqlite_schema").Scan(&all); err != nil {
		t.Fatal(err)
	}
	if err := open(t, file).QueryRow("SELECT group_concat(version || ' ' || compatible, char(10) ORDER BY version) FROM semel_schema").Scan(&versions); err != nil {
		t.Fatal(err)
	}
	return all + "\n" + versions
}
