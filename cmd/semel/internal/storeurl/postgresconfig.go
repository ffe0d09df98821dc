package storeurl

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// listenAt is where notifications come from, if not from the pool's address.
const listenAt = "semel_listen"

// postgresParameters are those of libpq and pgx that make sense for a store, and
// ours. A session that may be a replica's is not among them: a record that was read
// there may be missing.
var postgresParameters = append([]parameter{
	{"host", anything},
	{"port", matches(`^[0-9]{1,5}(,[0-9]{1,5})*$`, "a port, or one for each host")},
	{"sslmode", oneOf("disable", "allow", "prefer", "require", "verify-ca", "verify-full")},
	{"sslrootcert", anything},
	{"sslcert", anything},
	{"sslkey", anything},
	{"sslpassword", anything},
	{"sslsni", oneOf("0", "1")},
	{"sslnegotiation", oneOf("postgres", "direct")},
	{"channel_binding", oneOf("disable", "prefer", "require")},
	{"require_auth", anything},
	{"passfile", anything},
	{"target_session_attrs", oneOf("any", "read-write", "primary")},
	{"application_name", anything},
	{"search_path", anything},
	{"synchronous_commit", oneOf("on", "off", "local", "remote_write", "remote_apply")},
	{"options", anything},
	{"default_query_exec_mode", oneOf("cache_statement", "cache_describe", "describe_exec", "exec", "simple_protocol")},
	{listenAt, direct},
}, shared...)

// checkPostgres refuses what contradicts itself.
func checkPostgres(a address) error {
	if len(a.hosts) > 0 && a.params["host"]+a.params["port"] != "" {
		return errors.New("the host stands before the database and in a parameter; take one of them out")
	}
	return nil
}

// direct checks where notifications come from.
func direct(value string) error {
	if _, ok := parseHost(value, "5432"); ok {
		return nil
	}
	return fmt.Errorf("%q is no HOST or HOST:PORT", value)
}

// at is the same database by another way.
func (a address) at(hostPort string) address {
	hostPort, _ = parseHost(hostPort, "5432")
	a.hosts = []string{hostPort}
	a.params = maps.Clone(a.params)
	delete(a.params, "host")
	delete(a.params, "port")
	return a
}

// poolConfig translates an address, in which check has found nothing wrong. What
// it leaves open comes from the variables of libpq (PGHOST, PGPASSWORD, …), whose
// files pgx reads too.
func poolConfig(a address) (*pgxpool.Config, error) {
	cfg, err := pgxpool.ParseConfig(keywords(a))
	if err != nil {
		return nil, withoutAddress(err)
	}
	cfg.MaxConns = int32(a.int(poolMaxConns, defaultMaxConns))
	cfg.MaxConnLifetime = a.duration(poolMaxLifetime, defaultMaxLifetime)
	cfg.MaxConnLifetimeJitter = cfg.MaxConnLifetime / 10
	cfg.MaxConnIdleTime = a.duration(poolMaxIdleTime, defaultMaxIdleTime)
	cfg.PingTimeout = pingTimeout
	return cfg, nil
}

// keywords is the address in libpq's other form, in which nothing has two meanings.
func keywords(a address) string {
	settings := map[string]string{
		"dbname":           a.database,
		connectTimeout:     cmp.Or(os.Getenv("PGCONNECT_TIMEOUT"), fmt.Sprint(defaultConnectTimeout)),
		"application_name": cmp.Or(os.Getenv("PGAPPNAME"), "semel"),
	}
	if a.user != "" {
		settings["user"] = a.user
	}
	if a.hasPassword {
		settings["password"] = a.password
	}
	var hosts, ports []string
	for _, hostPort := range a.hosts {
		host, port, _ := net.SplitHostPort(hostPort)
		hosts, ports = append(hosts, host), append(ports, port)
	}
	if len(hosts) > 0 {
		settings["host"], settings["port"] = strings.Join(hosts, ","), strings.Join(ports, ",")
	}
	if len(hosts) > 1 {
		settings["target_session_attrs"] = "read-write"
	}
	for name, value := range a.params {
		if !strings.HasPrefix(name, "pool_") && !strings.HasPrefix(name, "semel_") {
			settings[name] = value
		}
	}
	var b strings.Builder
	escape := strings.NewReplacer(`\`, `\\`, `'`, `\'`)
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		fmt.Fprintf(&b, "%s='%s' ", name, escape.Replace(settings[name]))
	}
	return b.String()
}

// withoutAddress takes away the address that pgx's errors begin with: its passwords
// are blotted out there as far as pgx can tell.
func withoutAddress(err error) error {
	const end = "`: "
	text := err.Error()
	i := strings.LastIndex(text, end)
	if i < 0 {
		return errors.New("the settings cannot be used; look at the variables PG…, which count too")
	}
	return errors.New(text[i+len(end):])
}

// postgresName is where the pool leads, without credentials.
func postgresName(cfg *pgx.ConnConfig) string {
	if strings.HasPrefix(cfg.Host, "/") {
		return fmt.Sprintf("postgres:///%s?host=%s", cfg.Database, cfg.Host)
	}
	hosts := []string{hostPort(cfg.Host, cfg.Port)}
	for _, f := range cfg.Fallbacks {
		if next := hostPort(f.Host, f.Port); next != hosts[len(hosts)-1] {
			hosts = append(hosts, next)
		}
	}
	return fmt.Sprintf("postgres://%s/%s", strings.Join(hosts, ","), cfg.Database)
}

func hostPort(host string, port uint16) string { return net.JoinHostPort(host, fmt.Sprint(port)) }

// postgresWarnings tell of connections that others may read or change.
func postgresWarnings(cfg *pgx.ConnConfig) []string {
	plain, unverified := cfg.TLSConfig == nil, cfg.TLSConfig != nil && cfg.TLSConfig.InsecureSkipVerify
	hosts := []string{cfg.Host}
	for _, f := range cfg.Fallbacks {
		plain = plain || f.TLSConfig == nil
		hosts = append(hosts, f.Host)
	}
	if !slices.ContainsFunc(hosts, isElsewhere) {
		return nil
	}
	return exposed(plain, unverified && cfg.TLSConfig.VerifyPeerCertificate == nil, "add sslmode=verify-full to --store")
}

// isElsewhere reports a host that is reached over a network.
func isElsewhere(host string) bool {
	ip := net.ParseIP(host)
	return !strings.HasPrefix(host, "/") && host != "localhost" && (ip == nil || !ip.IsLoopback())
}

func exposed(plain, unverified bool, fix string) []string {
	switch {
	case plain:
		return []string{"the connection to the database may go unencrypted, with the answers in it; " + fix}
	case unverified:
		return []string{"the certificate of the database's server is not checked, so that another may answer in its place; " + fix}
	}
	return nil
}
