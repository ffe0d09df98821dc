package storeurl

import (
	"slices"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Every character that a password may have.
const hostile = `p@s/s?w#o%r:d'"\ +&=é$;,`

const escaped = `p%40s%2Fs%3Fw%23o%25r%3Ad%27%22%5C%20+&=%C3%A9$;,`

func mustPool(t *testing.T, rawURL string) *pgxpool.Config {
	t.Helper()
	target, err := parse(rawURL)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := poolConfig(target.address)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func mustDriver(t *testing.T, rawURL string) *mysql.Config {
	t.Helper()
	target, err := parse(rawURL)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := driverConfig(target.address)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func TestPostgresConfig(t *testing.T) {
	t.Parallel()
	cfg := mustPool(t, "postgresql://us%40er:"+escaped+"@db.example:6432/my%2Fdata?search_path=a'b%5C&sslmode=disable&pool_max_conns=3&pool_max_conn_lifetime=10m")
	c := cfg.ConnConfig
	if c.User != "us@er" || c.Password != hostile || c.Host != "db.example" || c.Port != 6432 || c.Database != "my/data" {
		t.Errorf("%q %q %q %d %q", c.User, c.Password, c.Host, c.Port, c.Database)
	}
	if got := c.RuntimeParams["search_path"]; got != `a'b\` {
		t.Errorf("search_path %q", got)
	}
	for name := range c.RuntimeParams {
		if name != "search_path" && name != "application_name" {
			t.Errorf("the server is told of %s", name)
		}
	}
	if cfg.MaxConns != 3 || cfg.MaxConnLifetime.Minutes() != 10 || cfg.MaxConnIdleTime != defaultMaxIdleTime {
		t.Errorf("pool: %d, %v, %v", cfg.MaxConns, cfg.MaxConnLifetime, cfg.MaxConnIdleTime)
	}
	if got := postgresName(c); got != "postgres://db.example:6432/my/data" {
		t.Errorf("name %q", got)
	}
}

// Of several hosts only one that takes writes is used: a replica may lack records.
func TestPostgresHosts(t *testing.T) {
	t.Parallel()
	cfg := mustPool(t, "postgres://u@one.example,two.example:6432,[2001:db8::1]/d?sslmode=verify-full").ConnConfig
	if got, want := postgresName(cfg), "postgres://one.example:5432,two.example:6432,[2001:db8::1]:5432/d"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if cfg.ValidateConnect == nil {
		t.Error("a replica would do")
	}
	socket := mustPool(t, "postgres://u@/d?host=/run/postgresql").ConnConfig
	if got, want := postgresName(socket), "postgres:///d?host=/run/postgresql"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestMySQLConfig(t *testing.T) {
	t.Parallel()
	cfg := mustDriver(t, "mysql://us%3Aer:"+escaped+"@[2001:db8::1]/my%2Fdata?connect_timeout=7&tls=true&tls_name=db.example")
	if cfg.User != "us:er" || cfg.Passwd != hostile || cfg.Net != "tcp" || cfg.Addr != "[2001:db8::1]:3306" || cfg.DBName != "my/data" {
		t.Errorf("%q %q %q %q %q", cfg.User, cfg.Passwd, cfg.Net, cfg.Addr, cfg.DBName)
	}
	if cfg.TLS == nil || cfg.TLS.ServerName != "db.example" || cfg.TLS.InsecureSkipVerify {
		t.Errorf("TLS: %+v", cfg.TLS)
	}
	if cfg.Timeout.Seconds() != 7 || cfg.MultiStatements || cfg.AllowAllFiles {
		t.Errorf("%+v", cfg)
	}
	socket := mustDriver(t, "mysql://u:p@/d?socket=/run/my%20sql.sock")
	if socket.Net != "unix" || socket.Addr != "/run/my sql.sock" || socket.TLSConfig != "" {
		t.Errorf("%q %q %q", socket.Net, socket.Addr, socket.TLSConfig)
	}
	if got, want := mysqlName(socket), "mysql:///d?socket=/run/my sql.sock"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A password that is not in the URL comes from the environment; one in it, even an
// empty one, wins.
func TestPasswordFromTheEnvironment(t *testing.T) {
	t.Setenv("MYSQL_PWD", hostile)
	t.Setenv("PGPASSWORD", hostile)
	if got := mustDriver(t, "mysql://u@h/d").Passwd; got != hostile {
		t.Errorf("mysql: %q", got)
	}
	if got := mustDriver(t, "mysql://u:@h/d").Passwd; got != "" {
		t.Errorf("mysql, empty: %q", got)
	}
	if got := mustPool(t, "postgres://u@h/d").ConnConfig.Password; got != hostile {
		t.Errorf("postgres: %q", got)
	}
	if got := mustPool(t, "postgres://u:other@h/d").ConnConfig.Password; got != "other" {
		t.Errorf("postgres: %q", got)
	}
}

// What travels in the open is told; what stays on this machine is nobody's concern.
func TestExposedConnections(t *testing.T) {
	t.Parallel()
	for rawURL, want := range map[string]string{
		"postgres://u@db.example/d":                     "unencrypted",
		"postgres://u@db.example/d?sslmode=disable":     "unencrypted",
		"postgres://u@db.example/d?sslmode=require":     "not checked",
		"postgres://u@db.example/d?sslmode=verify-full": "",
		"postgres://u@127.0.0.1/d":                      "",
		"postgres://u@localhost,db.example/d":           "unencrypted",
		"postgres://u@/d?host=/run/postgresql":          "",
		"mysql://u@db.example/d":                        "unencrypted",
		"mysql://u@db.example/d?tls=false":              "unencrypted",
		"mysql://u@db.example/d?tls=skip-verify":        "not checked",
		"mysql://u@db.example/d?tls=true":               "",
		"mysql://u@[::1]/d":                             "",
		"mysql://u@/d?socket=/run/mysqld.sock":          "",
	} {
		var warnings []string
		if strings.HasPrefix(rawURL, "mysql") {
			warnings = mysqlWarnings(mustDriver(t, rawURL))
		} else {
			warnings = postgresWarnings(mustPool(t, rawURL).ConnConfig)
		}
		if got := strings.Join(warnings, "\n"); (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", rawURL, got, want)
		}
	}
}

func TestRefusedAddresses(t *testing.T) {
	t.Parallel()
	for rawURL, want := range map[string]string{
		"postgres:h/d":                                 "write postgres://USER:PASSWORD@HOST/DATABASE",
		"mysql:u:canary@h/d":                           "write mysql://USER:PASSWORD@HOST/DATABASE",
		"mariadb://u:canary@h/d":                       "write mysql:// for MariaDB too",
		"nats://u:canary@h/0":                          "not built in",
		"u:canary@tcp(h)/d":                            "not built in",
		"postgres://u:canary@h":                        "name the database",
		"postgres://u:canary@h/a/b":                    "name the database",
		"postgres://u:canary@h:99999/d":                "HOST:PORT",
		"postgres://u:canary@h:0/d":                    "HOST:PORT",
		"postgres://u:canary@::1/d":                    "HOST:PORT",
		"postgres://u:canary@h,/d":                     "HOST:PORT",
		"postgres://u:12/canary@h/d":                   "percent sign",
		"postgres://u:12?canary@h/d":                   "percent sign",
		"postgres://u:x#canary@h/d":                    "percent sign",
		"postgres://u:%zcanary@h/d":                    "percent sign",
		"postgres://u:x/canary":                        "HOST:PORT",
		"postgres://u:canary@h/d?sslmode=1&sslmode=2":  "2 times",
		"postgres://u@h/d?password=canary":             "the environment",
		"postgres://u@h/d?sslmod=require":              "did you mean sslmode?",
		"postgres://u@h/d?tls=true":                    "there are host, port, sslmode",
		"postgres://u@h/d?sslmode=on":                  `"on" is not one of disable`,
		"postgres://u@h/d?target_session_attrs=any2":   "is not one of any, read-write, primary",
		"postgres://u@h/d?pool_max_conns=0":            "no whole number from 1 to 1000",
		"postgres://u@h/d?connect_timeout=5s":          "no whole number",
		"postgres://u@h/d?semel_timeout=5":             "no duration",
		"postgres://u@h/d?semel_prefix=a-b":            "lower-case letters",
		"postgres://u@h/d?host=/run/postgresql":        "take one of them out",
		"postgres://u@h/d?search_path=":                "it is empty",
		"mysql://h/d":                                  "name the user",
		"mysql://u@a,b/d":                              "one host",
		"mysql://u:canary@/d":                          "name the host",
		"mysql://u@h/d?socket=/s":                      "take one of them out",
		"mysql://u@/d?socket=/s&tls=true":              "a socket has no TLS",
		"mysql://u@h/d?tls_ca=f&tls=preferred":         "need tls=true",
		"mysql://u@h/d?tls_cert=f":                     "need one another",
		"mysql://u@h/d?parseTime=true":                 `"parseTime" is no parameter`,
		"mysql://u@h/d?tls=1":                          "is not one of true, skip-verify, preferred, false",
		"mysql://u@h/d?allowCleartextPasswords=true":   "add tls=true",
		"mysql://u@h/d?allowCleartextPassword=true":    "did you mean allowCleartextPasswords?",
		"mysql://u@h/d?pool_max_conn_lifetime=forever": "no duration",
	} {
		err := Check(rawURL)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", rawURL, err, want)
		} else if strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: the password is told: %v", rawURL, err)
		}
		if shown := Redacted(rawURL); strings.Contains(shown, "canary") {
			t.Errorf("%s: the password is shown: %s", rawURL, shown)
		}
	}
}

// Files that pgx and TLS read are named where they are missing; passwords are not.
func TestUnreadableFiles(t *testing.T) {
	t.Parallel()
	for _, rawURL := range []string{
		"postgres://u:canary@h/d?sslmode=verify-full&sslrootcert=/no/such/ca.pem&sslpassword=canary",
		"mysql://u:canary@h/d?tls_ca=/no/such/ca.pem",
		"mysql://u:canary@h/d?tls_cert=/no/such/ca.pem&tls_key=/no/such/key.pem",
	} {
		target, err := parse(rawURL)
		if err != nil {
			t.Fatal(err)
		}
		if target.kind == ofMySQL {
			_, err = driverConfig(target.address)
		} else {
			_, err = poolConfig(target.address)
		}
		if err == nil || !strings.Contains(err.Error(), "/no/such/ca.pem") || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v", rawURL, err)
		}
	}
}

func TestRedacted(t *testing.T) {
	t.Parallel()
	for rawURL, want := range map[string]string{
		"memory:":          "memory:",
		"sqlite:semel.db":  "sqlite:semel.db",
		"postgres://u@h/d": "postgres://u@h:5432/d",
		"postgres://u:" + escaped + "@h/d?sslmode=require": "postgres://u:xxxxx@h:5432/d?sslmode=require",
		"postgres://u@h/d?sslpassword=canary":              "postgres://u@h:5432/d?sslpassword=xxxxx",
		"mysql://u:canary@/d?socket=/s":                    "mysql://u:xxxxx@/d?socket=%2Fs",
	} {
		if got := Redacted(rawURL); got != want {
			t.Errorf("%s: got %s, want %s", rawURL, got, want)
		}
	}
}

// FuzzAddress: a password stays one, whatever it is, and no error tells it.
func FuzzAddress(f *testing.F) {
	f.Add("postgres://u:canary@h/d?sslmode=require")
	f.Add("mysql://u:can/ary@h:1/d")
	f.Add("rediss://:canary@h/007?wait=1")
	f.Add("redis-sentinel://u:canary@a,[::1]:1/my%2Fmaster?db=1&sentinel_password=canary")
	f.Add("redis-cluster://a,b?tls=true")
	f.Fuzz(func(t *testing.T, rawURL string) {
		target, err := parse(rawURL)
		if err != nil || target.kind == ofMemory || target.kind == ofSQLite {
			return
		}
		a := target.address
		if a.database == "" && a.scheme != redisCluster || slices.Contains(a.hosts, "") {
			t.Errorf("%q: %+v", rawURL, a)
		}
		again, err := parse(Redacted(rawURL))
		if err != nil || again.address.user != a.user || again.address.database != a.database || !slices.Equal(again.address.hosts, a.hosts) {
			t.Errorf("%q: %+v comes back as %+v, %v", rawURL, a, again.address, err)
		}
	})
}
