package examples

import (
	"os"
	"os/exec"
	"testing"

	"github.com/semel-go/semel/integration/internal/engines"
)

// A program says on PostgreSQL what it says on SQLite, to which its own test holds it,
// and leaves nothing behind: a second run says it too.
func TestProgramsOnPostgres(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"gin", "lockcheck", "message", "ordernumber", "status", "version"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sameTwice(t, name, "DATABASE_URL="+engines.Postgres(t).Database(t))
		})
	}
}

// Row locks are PostgreSQL's alone.
func TestRowLockOnPostgres(t *testing.T) {
	t.Parallel()
	url := engines.Postgres(t).Database(t)
	const want = "8 withdrawals of 30 at once: 4 paid\ntold to come later: true\n"
	if got := output(t, build(t, "./examples/rowlock"), "DATABASE_URL="+url); got != want {
		t.Errorf("got:\n%s", got)
	}
}

// A program says on Redis what it says in memory.
func TestProgramsOnRedis(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"formtoken", "mark", "vote"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sameTwice(t, name, "REDIS_URL="+engines.Redis(t).URL())
		})
	}
}

// sameTwice holds a program with a setting to what it says without.
func sameTwice(t *testing.T, name, setting string) {
	t.Helper()
	program := build(t, "./examples/"+name)
	want := output(t, program)
	for range 2 {
		if got := output(t, program, setting); got != want {
			t.Errorf("it says:\n%s\nand without a server:\n%s", got, want)
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
