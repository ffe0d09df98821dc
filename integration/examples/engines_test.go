package examples

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/semel-go/semel/integration/internal/engines"
)

// A program says on PostgreSQL what it says on SQLite, to which its own test holds it,
// and leaves nothing behind: a second run says it too.
func TestProgramsOnPostgres(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"gin", "message", "status"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := engines.Postgres(t).Database(t)
			program := build(t, "./examples/"+name)
			want := output(t, program)
			for range 2 {
				if got := output(t, program, "DATABASE_URL="+url); got != want {
					t.Errorf("on PostgreSQL it says:\n%s\non SQLite:\n%s", got, want)
				}
			}
		})
	}
}

// Marks in Redis are those in memory.
func TestMarkOnRedis(t *testing.T) {
	t.Parallel()
	url := engines.Redis(t).URL()
	program := build(t, "./examples/mark")
	want := strings.Replace(output(t, program), "marks in memory", "marks in Redis", 1)
	for range 2 {
		if got := output(t, program, "REDIS_URL="+url); got != want {
			t.Errorf("on Redis it says:\n%s\nwant:\n%s", got, want)
		}
	}
}

// output is what a program says with settings in its environment.
func output(t *testing.T, program string, settings ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Env = append(os.Environ(), settings...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}
