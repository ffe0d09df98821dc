package sqlstore

import (
	"strings"
	"testing"
)

func TestMigrationsAreNumberedWithoutGaps(t *testing.T) {
	t.Parallel()
	all, err := Migrations("sqlite", nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range all {
		if m.Version != i+1 || m.Compatible < 1 || m.Compatible > m.Version || len(m.Statements()) == 0 {
			t.Errorf("migration %d: version %d, compatible %d, %d statements", i+1, m.Version, m.Compatible, len(m.Statements()))
		}
	}
}

func TestMigrationsUseThePrefix(t *testing.T) {
	t.Parallel()
	all, err := Migrations("sqlite", &Options{Prefix: "mine_"})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		if strings.Contains(m.SQL, "semel_") || !strings.Contains(m.SQL, "mine_") {
			t.Errorf("%s: not all names have the prefix:\n%s", m.Name, m.SQL)
		}
	}
}

func TestUnknownDialectIsRefused(t *testing.T) {
	t.Parallel()
	if _, err := Migrations("oracle", nil); err == nil {
		t.Error("no error")
	}
	if _, err := Migrations("sqlite", &Options{Prefix: "?"}); err == nil {
		t.Error("no error for a prefix that is no identifier")
	}
}
