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
	Rule   // for requests of no route
	Routes []Route
	// FormTokens is for routes whose keys are the tokens of forms; nil: there are none.
	FormTokens *FormTokens

	Config    string // the file's name, empty without one
	Upstream  *url.URL
	Listen    string
	Admin     string // empty: off
	Store     string
	NoMigrate bool // the store's tables are made by other means
	JWT       JWT
	Authorize Authorize

	KeyForward          KeyForward
	BodyTimeout         time.Duration // of a request; 0: no limit
	UpstreamIdleTimeout time.Duration
	UpstreamTimeout     time.Duration // until an answer begins; 0: no limit
	UpstreamStall       time.Duration // of an exchange that has begun; 0: no limit
	UpstreamStream      time.Duration // of an event stream that has begun; 0: no limit
	ShutdownTimeout     time.Duration

	SecretFile   string
	StoreKeyText bool
	Cache        int64 // bytes; 0: none
	TLS          TLS
	LogFormat    string

	// Settings are the flags as texts, in the order of the help.
	Settings []Setting
}

// JWT says which JSON web tokens count.
type JWT struct {
	Keys     string // file or URL of the key set
	Issuer   string // empty: any
	Audience []string
}

// Authorize says who is asked whether a caller may do what a request asks for.
type Authorize struct {
	URL     *url.URL // nil: nobody
	Timeout time.Duration
	Headers []string // of the answer, canonical names, that go upstream
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

// Read reads the file that --config names, if any, for what neither the command
// line nor the environment has said; then it parses and checks everything. Its
// error joins all that is wrong, one line each, with the file's line where the
// mistake is there. It may be called again with the same flags: the file is then
// read anew.
func Read(fs *pflag.FlagSet) (*Proxy, error) {
	file, err := readFile(fs)
	if err != nil {
		return nil, err
	}
	r := flagReader(fs)
	p := &Proxy{
		Config:    r.text("config"),
		Upstream:  read(r, "upstream", parseUpstream),
		Listen:    read(r, "listen", parseListen),
		Admin:     read(r, "admin", parseAdmin),
		Store:     read(r, "store", parseStore),
		NoMigrate: read(r, "no-migrate", parseBool),
		JWT:       JWT{Keys: r.text("jwks"), Issuer: r.text("jwt-issuer"), Audience: words(r.text("jwt-audience"))},
		Authorize: Authorize{
			URL:     read(r, "authorize", parseAuthorize),
			Timeout: read(r, "authorize-timeout", parseDuration),
			Headers: read(r, "authorize-headers", parseHeaders),
		},
		KeyForward:          KeyForward(read(r, "key-forward", oneOf("pass", "derive", "strip"))),
		BodyTimeout:         read(r, "body-timeout", parseDuration),
		UpstreamIdleTimeout: read(r, "upstream-idle-timeout", parseDuration),
		UpstreamTimeout:     read(r, "upstream-timeout", parseDuration),
		UpstreamStall:       read(r, "upstream-stall-timeout", parseDuration),
		UpstreamStream:      read(r, "upstream-stream-timeout", parseDuration),
		ShutdownTimeout:     read(r, "shutdown-timeout", parseDuration),
		SecretFile:          r.text("secret-file"),
		StoreKeyText:        read(r, "store-key-text", parseBool),
		Cache:               read(r, "cache", parseSizeOrNone),
		TLS:                 TLS{Cert: r.text("tls-cert"), Key: r.text("tls-key"), ClientCA: r.text("tls-client-ca")},
		LogFormat:           read(r, "log-format", oneOf("text", "json")),
		Settings:            settingsOf(fs),
	}
	p.Rule.read(r)
	p.Routes = file.readRoutes(p)
	p.FormTokens = file.readFormTokens(p)
	p.check(r)
	return p, errors.Join(file.err(), errors.Join(r.errs...))
}

func parseUpstream(s string) (*url.URL, error) {
	if s == "" {
		return nil, errors.New("name the service to guard, such as http://127.0.0.1:9000")
	}
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Hostname() == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("%q is no upstream; write http://HOST:PORT or https://HOST:PORT", withoutUserinfo(s))
	}
	switch {
	case u.User != nil:
		return nil, errors.New("credentials in the URL are not sent on; remove them")
	case cmp.Or(u.Path, "/") != "/" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, fmt.Errorf("the path, query or fragment of %q would change every request; write only scheme, host and port", withoutUserinfo(s))
	}
	u.Path = ""
	return u, nil
}

// parseAuthorize reads the URL of the authoriser; an empty one means nobody.
func parseAuthorize(s string) (*url.URL, error) {
	if s == "" {
		return nil, nil
	}
	u, err := url.Parse(s)
	if err != nil || u.Hostname() == "" || (u.Scheme != "http" && u.Scheme != "https") || u.Fragment != "" {
		return nil, fmt.Errorf("%q is no address to ask; write http://HOST:PORT/PATH or https://HOST/PATH", withoutUserinfo(s))
	}
	if u.User != nil {
		return nil, errors.New("credentials in the URL are not sent; remove them")
	}
	return u, nil
}
