package settings

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/spf13/pflag"
)

// Proxy is what `semel proxy` runs with. Read makes one that holds no
// contradiction.
type Proxy struct {
	Upstream  *url.URL
	Principal Principal
	Listen    string
	Admin     string // empty: off
	Store     string

	RequireKey      bool
	Methods         []string
	Retention       time.Duration
	Lease           time.Duration
	Wait            time.Duration
	MaxRequestBody  int64
	MaxResponseBody int64
	Hold            bool // --on-unknown hold
	StoreErrors     bool // --store-5xx
	KeyForward      KeyForward

	UpstreamIdleTimeout time.Duration
	UpstreamTimeout     time.Duration // 0: no limit
	ShutdownTimeout     time.Duration

	SecretFile string
	TLS        TLS
	LogFormat  string
}

// TLS names the listener's files; all empty for plain HTTP.
type TLS struct{ Cert, Key, ClientCA string }

// KeyForward is what the upstream sees of a key.
type KeyForward string

// What the upstream sees of a key.
const (
	ForwardPass   KeyForward = "pass"   // the key as it came
	ForwardDerive KeyForward = "derive" // a key derived from scope and key, equal on every attempt
	ForwardStrip  KeyForward = "strip"  // none
)

// Read parses and checks the flags that [AddProxyFlags] defined. Its error joins
// all that is wrong, one line each.
func Read(fs *pflag.FlagSet) (*Proxy, error) {
	r := reader{fs: fs}
	p := &Proxy{
		Upstream:            read(&r, "upstream", parseUpstream),
		Principal:           read(&r, "principal", parsePrincipal),
		Listen:              read(&r, "listen", parseListen),
		Admin:               read(&r, "admin", parseAdmin),
		Store:               r.text("store"),
		RequireKey:          read(&r, "require-key", parseBool),
		Methods:             read(&r, "methods", parseMethods),
		Retention:           read(&r, "retention", parseRetention),
		Lease:               read(&r, "lease", parseDuration),
		Wait:                read(&r, "wait", parseDuration),
		MaxRequestBody:      read(&r, "max-request-body", parseSize),
		MaxResponseBody:     read(&r, "max-response-body", parseSize),
		Hold:                read(&r, "on-unknown", oneOf("hold", "retry")) == "hold",
		StoreErrors:         read(&r, "store-5xx", parseBool),
		KeyForward:          KeyForward(read(&r, "key-forward", oneOf("pass", "derive", "strip"))),
		UpstreamIdleTimeout: read(&r, "upstream-idle-timeout", parseDuration),
		UpstreamTimeout:     read(&r, "upstream-timeout", parseDuration),
		ShutdownTimeout:     read(&r, "shutdown-timeout", parseDuration),
		SecretFile:          r.text("secret-file"),
		TLS:                 TLS{Cert: r.text("tls-cert"), Key: r.text("tls-key"), ClientCA: r.text("tls-client-ca")},
		LogFormat:           read(&r, "log-format", oneOf("text", "json")),
	}
	for _, f := range laterFlags {
		r.refuse(f.name, r.text(f.name) != "", "is not built in; every setting is a flag of semel proxy or its SEMEL_* variable")
	}
	p.check(&r)
	return p, errors.Join(r.errs...)
}

// reader collects the mistakes of all flags.
type reader struct {
	fs     *pflag.FlagSet
	errs   []error
	failed map[string]bool
}

func (r *reader) text(name string) string { return r.fs.Lookup(name).Value.String() }

func read[T any](r *reader, name string, parse func(string) (T, error)) T {
	v, err := parse(r.text(name))
	if err != nil {
		r.fail(name, err)
	}
	return v
}

func (r *reader) fail(name string, err error) {
	if r.failed == nil {
		r.failed = map[string]bool{}
	}
	r.failed[name] = true
	r.errs = append(r.errs, fmt.Errorf("--%s: %w", name, err))
}

// refuse reports a contradiction of a flag, unless its text was refused already.
func (r *reader) refuse(name string, bad bool, format string, args ...any) {
	if bad && !r.failed[name] {
		r.fail(name, fmt.Errorf(format, args...))
	}
}

func parseUpstream(s string) (*url.URL, error) {
	if s == "" {
		return nil, errors.New("name the service to guard, such as http://127.0.0.1:9000")
	}
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Hostname() == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("%q is no upstream; write http://HOST:PORT or https://HOST:PORT", redacted(u, s))
	}
	switch {
	case u.User != nil:
		return nil, errors.New("credentials in the URL are not sent on; remove them")
	case cmp.Or(u.Path, "/") != "/" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, fmt.Errorf("the path, query or fragment of %q would change every request; write only scheme, host and port", s)
	}
	u.Path = ""
	return u, nil
}

func redacted(u *url.URL, s string) string {
	if u == nil {
		return s
	}
	return u.Redacted()
}
