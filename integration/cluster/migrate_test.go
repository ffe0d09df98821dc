package cluster

import (
	"database/sql"
	"net/url"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib" // registers "pgx"
	"github.com/semel-go/semel/integration/internal/gateway"
)

// A gateway whose role may not create tables does not make any, says what to do, and
// runs once the owner has done it: with the privileges that the guides name, and none
// beside.
func TestGatewayWithoutTheRightToCreate(t *testing.T) {
	onTables(t, func(t *testing.T, e engine) {
		owner := e.shared(t)
		role := addRole(t, owner)
		shop := newShop(t)
		proxy := []string{"proxy", "--upstream", shop.URL, "--principal", "global", "--listen", "127.0.0.1:0", "--admin", "off", "--store", role.url}
		for _, args := range [][]string{proxy, append(proxy, "--no-migrate"), {"migrate", "--check", "--store", owner}} {
			if out, err := semel(t, args...); err == nil || !strings.Contains(out, "run semel migrate") {
				t.Errorf("%v without tables: %v; want what to do in\n%s", args, err, out)
			}
		}
		if out := must(t, "migrate", "--store", owner); !strings.Contains(out, "is up to date: version") {
			t.Errorf("migrate says %q", out)
		}
		must(t, "migrate", "--check", "--store", owner)
		role.grant(t)
		for _, flags := range [][]string{nil, {"--no-migrate"}} {
			g := gateway.StartOn(t, binary, shop.URL, role.url, flags...)
			if got := mustPay(t.Context(), t, newClient(t, g), "order-1"); got.status != 201 || shop.effectsOf("order-1") != 1 {
				t.Errorf("%v: got %v, %d effects", flags, got, shop.effectsOf("order-1"))
			}
			wantReady(t.Context(), t, g, 200)
		}
		must(t, "keys", "get", "order-1", "--principal", "global", "--store", role.url)
		must(t, "keys", "delete", "order-1", "--principal", "global", "--store", role.url, "--yes", "--reason", "test data")
	})
}

// What --print writes makes the tables that a gateway makes, and is known as that.
func TestPrintedTablesAreThoseOfTheGateway(t *testing.T) {
	onTables(t, func(t *testing.T, e engine) {
		printed, made := e.shared(t), e.shared(t)
		if _, err := connect(t, printed).Exec(must(t, "migrate", "--print", "--store", printed)); err != nil {
			t.Fatal(err)
		}
		must(t, "migrate", "--check", "--store", printed)
		must(t, "migrate", "--store", made)
		if a, b := tables(t, printed), tables(t, made); a != b || a == "" {
			t.Errorf("printed:\n%s\nmade:\n%s", a, b)
		}
	})
}

// No error of a store that cannot be opened tells the password.
func TestPasswordsAreNotTold(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		u, err := url.Parse(e.shared(t))
		if err != nil {
			t.Fatal(err)
		}
		const canary = "canary p@ss/word"
		u.User = url.UserPassword(u.User.Username(), canary)
		elsewhere := *u
		elsewhere.Host = "127.0.0.1:1"
		for _, store := range []string{u.String(), elsewhere.String()} {
			for _, args := range [][]string{
				{"keys", "list"}, {"migrate"}, {"migrate", "--check"},
				{"proxy", "--upstream", "http://127.0.0.1:9", "--principal", "global", "--admin", "off"},
			} {
				out, err := semel(t, append(args, "--store", store)...)
				if err == nil || strings.Contains(out, "canary") || !strings.Contains(out, u.Path) {
					t.Errorf("%v: %v\n%s", args, err, out)
				}
			}
		}
	})
}

// connect opens the database of a --store URL as its owner does.
func connect(t *testing.T, store string) *sql.DB {
	t.Helper()
	driver, dsn := "pgx", store
	if u, err := url.Parse(store); err != nil {
		t.Fatal(err)
	} else if u.Scheme == "mysql" {
		c := mysql.NewConfig()
		c.User, c.DBName, c.Net, c.Addr, c.MultiStatements = u.User.Username(), u.Path[1:], "tcp", u.Host, true
		c.Passwd, _ = u.User.Password()
		driver, dsn = "mysql", c.FormatDSN()
	} else {
		dsn += "&default_query_exec_mode=simple_protocol" // which takes several statements at once
	}
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}
