package engines

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestCommandFindsTheServersAndEndsThem(t *testing.T) {
	t.Parallel()
	Postgres(t) // or skip where it is not installed
	MariaDB(t)
	file := filepath.Join(t.TempDir(), "pids")
	script := `kill -0 $ENGINES_POSTGRES_PID $ENGINES_MARIADB_PID && test -n "$ENGINES_POSTGRES_URL" && test -n "$ENGINES_MARIADB_DSN" &&
		echo $ENGINES_POSTGRES_PID $ENGINES_MARIADB_PID >"$0"`
	if err := RunCommand(t.Context(), []string{"sh", "-c", script, file}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var postgres, mariadb int
	if _, err := fmt.Sscan(string(text), &postgres, &mariadb); err != nil {
		t.Fatal(err)
	}
	if !gone(postgres) || !gone(mariadb) {
		t.Errorf("a server goes on after the command: %s", text)
	}
}

func TestFailedCommandIsAnError(t *testing.T) {
	t.Parallel()
	if err := RunCommand(t.Context(), []string{"false"}); err == nil {
		t.Error("no error")
	}
}
