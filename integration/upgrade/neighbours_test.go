package upgrade

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/sqlstore"
)

// orders are the operations that the two programs race for.
const orders = 300

func orderKey(n int) semel.Key {
	return semel.KeyOf(semel.Scope{Principal: "shop", Operation: "order"}, strconv.Itoa(n))
}

// olderProgram is this version, in a process of its own, on a file or a Redis server. It
// says what became of each order: ran, replayed, or left to the newer program.
func olderProgram(where string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	store, end, err := openWhere(ctx, where)
	if err != nil {
		return err
	}
	e, err := semel.New(store, nil)
	if err != nil {
		return err
	}
	fmt.Println("ready")
	for n := range orders {
		said, err := order(ctx, e, n)
		if err != nil {
			return err
		}
		fmt.Println(said, n)
	}
	return errors.Join(e.Close(ctx), end())
}

func openWhere(ctx context.Context, where string) (store semel.Store, end func() error, err error) {
	if strings.HasPrefix(where, "redis://") {
		return openRedis(ctx, where)
	}
	file, err := openAt(ctx, where, nil)
	if err != nil {
		return nil, nil, err
	}
	return file, file.Close, nil
}

func order(ctx context.Context, e *semel.Engine, n int) (said string, err error) {
	said = "replayed"
	_, err = semel.Do(ctx, e, semel.Op{Key: orderKey(n), Input: semel.NoInput}, func(context.Context) (int, error) {
		said = "ran"
		return n, nil
	})
	if _, newer := errors.AsType[*semel.RecordFormatError](err); newer {
		return "left", nil
	}
	return said, err
}

// newerOrder is a transition of the next version on the same table: done at once,
// in the next format, unless there is a record.
const newerOrder = `INSERT INTO semel_record
	SELECT ?1, 1 + ?2, 3, 1, randomblob(16), ?3, 1, ?3, 9223372036854775807, ?3, 0, 0, zeroblob(33), zeroblob(8), 'newer', '', 1, x'6e6577', NULL
	WHERE NOT EXISTS (SELECT 1 FROM semel_record WHERE key = ?1)`

// Two neighbouring versions take orders from one store at the same time. Each order
// is executed by one of them, and what the newer one wrote stays as it is.
func TestNeighboursOnOneStore(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "semel.db")
	store, _ := open(t, file)
	byNewer := race(t, file, func(step int) []int { return takeOrders(t, store, step) })
	var kept int
	if err := store.DB().QueryRowContext(t.Context(), "SELECT count(*) FROM semel_record WHERE format = 1 + ? AND operation = 'newer' AND result = x'6e6577'", semel.RecordFormat).Scan(&kept); err != nil || kept != byNewer {
		t.Errorf("%d of %d records of the newer version are as they were: %v", kept, byNewer, err)
	}
}

// race lets the older program run on a store while newer takes orders, and returns how
// many those are.
func race(t *testing.T, where string, newer func(step int) []int) int {
	t.Helper()
	byNewer := newer(10) // some before they race
	older := exec.Command(os.Args[0])
	older.Env = append(os.Environ(), childEnv+"="+where)
	older.Stderr = os.Stderr
	out, err := older.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := older.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { older.Process.Kill() })
	lines := bufio.NewScanner(out)
	lines.Scan() // ready
	byNewer = append(byNewer, newer(1)...)
	said := map[string][]int{}
	for lines.Scan() {
		word, number, _ := strings.Cut(lines.Text(), " ")
		n, err := strconv.Atoi(number)
		if err != nil {
			t.Fatal(err)
		}
		said[word] = append(said[word], n)
	}
	if err := older.Wait(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(byNewer)
	t.Logf("%d orders by the newer version, %d by this one", len(byNewer), len(said["ran"]))
	if !slices.Equal(said["left"], byNewer) || len(said["ran"])+len(byNewer) != orders || len(said["replayed"]) > 0 {
		t.Errorf("by the newer version: %v\nby this one: %v", byNewer, said)
	}
	return len(byNewer)
}

// takeOrders is the newer program. It goes through every step-th order from the end,
// so that the two meet, and returns those that it executed.
func takeOrders(t *testing.T, store *sqlstore.Store, step int) (done []int) {
	t.Helper()
	for n := orders - 1; n >= 0; n -= step {
		id := orderKey(n).ID()
		res, err := store.DB().ExecContext(t.Context(), newerOrder, id[:], semel.RecordFormat, time.Now().UnixMicro())
		if err != nil {
			t.Fatal(err)
		}
		if rows, err := res.RowsAffected(); err != nil {
			t.Fatal(err)
		} else if rows == 1 {
			done = append(done, n)
		}
	}
	return done
}
