package sqlstore

import (
	"strings"
	"testing"
)

func dialects() []string { return []string{"sqlite", "postgres", "mysql"} }

func TestMigrationsAreNumberedWithoutGaps(t *testing.T) {
	t.Parallel()
	for _, dialect := range dialects() {
		all, err := Migrations(dialect, nil)
		if err != nil || len(all) == 0 {
			t.Fatalf("%s: %d migrations, %v", dialect, len(all), err)
		}
		for i, m := range all {
			if m.Version != i+1 || m.Compatible < 1 || m.Compatible > m.Version || len(m.Statements()) == 0 {
				t.Errorf("%s: migration %d: version %d, compatible %d, %d statements", dialect, i+1, m.Version, m.Compatible, len(m.Statements()))
			}
		}
	}
}

func TestMigrationsUseThePrefix(t *testing.T) {
	t.Parallel()
	for _, dialect := range dialects() {
		all, err := Migrations(dialect, &Options{Prefix: "mine_"})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range all {
			if strings.Contains(m.SQL, "semel_") || !strings.Contains(m.SQL, "mine_") {
				t.Errorf("%s: %s: not all names have the prefix:\n%s", dialect, m.Name, m.SQL)
			}
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
