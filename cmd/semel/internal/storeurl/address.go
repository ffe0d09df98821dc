package storeurl

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/semel-go/semel/cmd/semel/internal/spelling"
)

// address says where the server of a database is, who asks it, and how.
type address struct {
	scheme      string
	user        string
	password    string
	hasPassword bool     // it may be empty
	hosts       []string // HOST:PORT; empty where the URL names none
	database    string
	params      map[string]string
}

// Errors quote nothing of an address but names of parameters: in one that is not
// as it should be, nobody can say what the password is.
var (
	errEscape   = errors.New(`special characters have to be written with a percent sign: @ as %40, : as %3A, / as %2F, ? as %3F, # as %23, % as %25`)
	errHost     = errors.New("between the @ and the database stand HOST or HOST:PORT, several with commas between them; an IPv6 address in brackets")
	errDatabase = errors.New("name the database after the host, such as @HOST/semel")
)

// parseAddress reads SCHEME://[USER[:PASSWORD]@][HOST[:PORT][,…]]/DATABASE[?NAME=VALUE[&…]].
func parseAddress(scheme, rawURL string, f *form) (a address, err error) {
	rest, found := strings.CutPrefix(rawURL, scheme+"://")
	if !found {
		return a, f.usage(scheme)
	}
	a.scheme = scheme
	end := strings.IndexAny(rest, "/?")
	if end < 0 {
		end = len(rest)
	}
	authority, rest := rest[:end], rest[end:]
	if strings.Contains(rawURL, "#") || strings.Contains(rest, "@") {
		return a, errEscape // the password has ended early
	}
	if err := a.parseAuthority(authority, f.port); err != nil {
		return a, err
	}
	path, query, _ := strings.Cut(rest, "?")
	if a.database, err = f.database(path); err != nil {
		return a, err
	}
	return a, a.parseQuery(query)
}

func (a *address) parseAuthority(authority, defaultPort string) error {
	at := strings.LastIndex(authority, "@")
	if at >= 0 {
		user, password, found := strings.Cut(authority[:at], ":")
		a.hasPassword = found
		var err, err2 error
		a.user, err = url.PathUnescape(user)
		a.password, err2 = url.PathUnescape(password)
		if err != nil || err2 != nil {
			return errEscape // theirs quote a part
		}
	}
	if hosts := authority[at+1:]; hosts != "" {
		for host := range strings.SplitSeq(hosts, ",") {
			hostPort, ok := parseHost(host, defaultPort)
			if !ok {
				return errHost
			}
			a.hosts = append(a.hosts, hostPort)
		}
	}
	return nil
}

// parseHost reads HOST or HOST:PORT.
func parseHost(s, defaultPort string) (hostPort string, ok bool) {
	if !strings.Contains(s, ":") || strings.HasSuffix(s, "]") {
		s += ":" + defaultPort
	}
	host, port, err := net.SplitHostPort(s)
	n, errPort := strconv.ParseUint(port, 10, 16)
	if err != nil || errPort != nil || n == 0 || host == "" || strings.ContainsAny(host, " \t%\\\"'<>[]") {
		return "", false
	}
	return net.JoinHostPort(host, port), true
}

// databaseName is what follows the host of a database's server.
func databaseName(path string) (string, error) { return named(path, errDatabase) }

// named reads the one name that a path has to be.
func named(path string, otherwise error) (string, error) {
	name := strings.TrimPrefix(path, "/")
	if name == "" || strings.Contains(name, "/") {
		return "", otherwise
	}
	name, err := url.PathUnescape(name)
	if err != nil {
		return "", errEscape // its own quotes a part
	}
	return name, nil
}

// parseQuery reads the parameters. A plus sign is one, as libpq has it.
func (a *address) parseQuery(query string) error {
	values, err := url.ParseQuery(strings.ReplaceAll(query, "+", "%2B"))
	if err != nil {
		return errEscape
	}
	a.params = map[string]string{}
	for name, list := range values {
		if len(list) > 1 {
			return fmt.Errorf("the parameter %s is there %d times; say it once", name, len(list))
		}
		a.params[name] = list[0]
	}
	return nil
}

// check refuses parameters that no store of this kind has, and values that none of
// them takes.
func (a *address) check(known []parameter) error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(a.params)) {
		i := slices.IndexFunc(known, func(p parameter) bool { return p.name == name })
		if i < 0 {
			errs = append(errs, unknownParameter(name, known))
		} else if err := known[i].check(a.params[name]); err != nil {
			errs = append(errs, fmt.Errorf("parameter %s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

func unknownParameter(name string, known []parameter) error {
	if name == "password" || name == "user" {
		return fmt.Errorf("the parameter %s stands in the address itself: USER:PASSWORD@HOST; or leave the password to the environment", name)
	}
	names := make([]string, len(known))
	for i, p := range known {
		names[i] = p.name
	}
	hint := spelling.Hint(name, "", names)
	if hint == "" {
		hint = "; there are " + strings.Join(names, ", ")
	}
	return fmt.Errorf("%q is no parameter of the store%s", name, hint)
}

// redacted is the address with what is secret of it blotted out.
func (a *address) redacted() string {
	var b strings.Builder
	b.WriteString(a.scheme + "://")
	if a.user != "" || a.hasPassword {
		b.WriteString(url.PathEscape(a.user))
		if a.hasPassword {
			b.WriteString(":xxxxx")
		}
		b.WriteString("@")
	}
	b.WriteString(strings.Join(a.hosts, ",") + "/" + url.PathEscape(a.database))
	sep := "?"
	for _, name := range slices.Sorted(maps.Keys(a.params)) {
		value := a.params[name]
		if strings.Contains(name, "password") {
			value = "xxxxx"
		}
		b.WriteString(sep + name + "=" + url.QueryEscape(value))
		sep = "&"
	}
	return b.String()
}
