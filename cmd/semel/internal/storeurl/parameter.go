package storeurl

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// parameter is one that an address may have.
type parameter struct {
	name  string
	check func(value string) error
}

// Those that every server has, by the names of libpq and of pgx's pool.
const (
	connectTimeout  = "connect_timeout"
	poolMaxConns    = "pool_max_conns"
	poolMaxLifetime = "pool_max_conn_lifetime"
	poolMaxIdleTime = "pool_max_conn_idle_time"
	tablePrefix     = "semel_prefix"
	callTimeout     = "semel_timeout"
)

var pooled = []parameter{
	{connectTimeout, seconds},
	{poolMaxConns, number},
	{poolMaxLifetime, duration},
	{poolMaxIdleTime, duration},
	{callTimeout, duration},
}

// shared are those of all databases with tables.
var shared = append([]parameter{
	{tablePrefix, matches(`^[a-z][a-z0-9_]{0,30}$`, "up to 31 lower-case letters, digits and underscores")},
}, pooled...)

func anything(value string) error {
	if value == "" {
		return errors.New("it is empty; take it out, or say what belongs there")
	}
	return nil
}

func oneOf(words ...string) func(string) error {
	return func(value string) error {
		if slices.Contains(words, value) {
			return nil
		}
		return fmt.Errorf("%q is not one of %s", value, strings.Join(words, ", "))
	}
}

func matches(form, words string) func(string) error {
	pattern := regexp.MustCompile(form)
	return func(value string) error {
		if pattern.MatchString(value) {
			return nil
		}
		return fmt.Errorf("%q is not as it should be; use %s", value, words)
	}
}

const (
	mostConns   = 1000
	mostSeconds = 3600
)

func number(value string) error  { return within(value, 1, mostConns) }
func seconds(value string) error { return within(value, 1, mostSeconds) }

func within(value string, least, most int) error {
	if n, err := strconv.Atoi(value); err != nil || n < least || n > most {
		return fmt.Errorf("%q is no whole number from %d to %d", value, least, most)
	}
	return nil
}

func duration(value string) error {
	if d, err := time.ParseDuration(value); err != nil || d < time.Second {
		return fmt.Errorf("%q is no duration of 1s or more, such as 30m", value)
	}
	return nil
}

// What holds where the address says nothing. Concurrent calls share statements, so
// that few connections carry much; several gateways share the server's limit.
const (
	defaultConnectTimeout = 5 // seconds
	defaultCallTimeout    = 5 * time.Second
	defaultMaxConns       = 10
	defaultMaxLifetime    = 30 * time.Minute // a new name of the server, or a new server behind it, counts from then on
	defaultMaxIdleTime    = 5 * time.Minute
	pingTimeout           = time.Second // of a connection that may have died idle; a claim has two
)

// int returns a parameter that check has seen, or what it is without being there.
func (a *address) int(name string, preset int) int {
	n, err := strconv.Atoi(a.params[name])
	if err != nil {
		return preset
	}
	return n
}

// duration is the same for a time.
func (a *address) duration(name string, preset time.Duration) time.Duration {
	d, _ := time.ParseDuration(a.params[name])
	return cmp.Or(d, preset)
}
