package semelhttp

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// CORSHeaders are the names that a CORS layer has to know for a middleware with
// these options (nil: the defaults): the request headers to allow, without which
// browsers send no key, and the response headers to expose, without which scripts do
// not see whether an answer is a replay and when to retry.
func CORSHeaders(o *Options) (allow, expose []string) {
	c := o.withDefaults()
	allow = slices.Concat(c.Headers, c.tokenHeaders())
	return allow, slices.Concat(c.Headers, []string{c.ReplayedHeader, "Retry-After", "Link"})
}

// CORSOptions are the settings of [NewCORS].
type CORSOptions struct {
	// Origins are the origins whose pages may call, as browsers send them
	// (https://shop.example), or the single * for all. Required.
	Origins []string
	// Credentials lets browsers send cookies and the like. Not with *. Default false.
	Credentials bool
	// MaxAge is for how long browsers may keep the answer to a preflight. Default 0:
	// as long as they do by themselves, some seconds.
	MaxAge time.Duration
	// PassPreflight hands preflights on, for a service that answers them itself.
	// Default false: they are answered here and reach nobody.
	PassPreflight bool
	// Methods are the allowed methods. Default GET, HEAD, POST, PUT, PATCH, DELETE.
	Methods []string
	// Headers are the allowed request headers, beside those of [CORSHeaders]. Default:
	// whatever a browser asks for.
	Headers []string
	// Expose are the exposed response headers, beside those of [CORSHeaders].
	Expose []string
	// Guard are the options of the middleware inside. Default its defaults.
	Guard *Options
}

// NewCORS returns a layer that answers to browsers of other origins. Place it
// outside the middleware of [New]: what it says is computed for each answer, also for
// replays and problems, and takes the place of what the handler says about CORS.
//
// A request of an origin that is not allowed is handed on all the same, without the
// headers: browsers keep its answer back. All mistakes in opts are reported at once.
//
// Source: the Fetch standard, section "CORS protocol".
func NewCORS(opts CORSOptions) (func(http.Handler) http.Handler, error) {
	c := &cors{opts: opts, any: slices.Equal(opts.Origins, []string{"*"})}
	if err := c.validate(); err != nil {
		return nil, err
	}
	allow, expose := CORSHeaders(opts.Guard)
	c.opts.Origins = slices.Clone(opts.Origins)
	c.opts.Headers = slices.Concat(allow, opts.Headers)
	c.echo = len(opts.Headers) == 0
	c.expose = strings.Join(slices.Concat(expose, opts.Expose), ", ")
	c.opts.Methods = slices.Clone(opts.Methods)
	if len(c.opts.Methods) == 0 {
		c.opts.Methods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"}
	}
	return c.wrap, nil
}

// cors is the layer.
type cors struct {
	opts   CORSOptions
	any    bool // origin
	echo   bool // allow the headers that are asked for
	expose string
}

func (c *cors) validate() error {
	o := &c.opts
	errs := []error{
		refuse(len(o.Origins) == 0, "Origins is empty; name the origins that may call, such as https://shop.example, or * for all"),
		refuse(c.any && o.Credentials, "Credentials: browsers send none to *; name the origins"),
		refuse(o.MaxAge < 0, "MaxAge is negative; leave it 0 for the browsers' own"),
		refuse(o.PassPreflight && o.MaxAge > 0, "MaxAge is said in answers to preflights, which PassPreflight leaves to the service; take one of the two out"),
	}
	for _, origin := range o.Origins {
		errs = append(errs, checkOrigin(origin, len(o.Origins)))
	}
	for _, name := range slices.Concat(o.Methods, o.Headers, o.Expose) {
		errs = append(errs, refuse(!isToken(name) || name == "*", "%q is no name of a method or header", name))
	}
	return errors.Join(errs...)
}

func checkOrigin(s string, n int) error {
	switch s {
	case "*":
		return refuse(n > 1, "Origins: * stands for all; write it alone, or name them")
	case "null":
		return errors.New("semelhttp: Origins: null is the origin of sandboxed pages and of files, so of anybody's; it cannot be allowed")
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme == "" || u.Host == "" || u.Scheme+"://"+u.Host != s || strings.ToLower(s) != s {
		return fmt.Errorf("semelhttp: Origins: %q is no origin; write scheme and host as browsers send them, such as https://shop.example", s)
	}
	return nil
}

func (c *cors) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		preflight := r.Method == http.MethodOptions && r.Header.Get("Origin") != "" && r.Header.Get("Access-Control-Request-Method") != ""
		switch {
		case !preflight:
			c.serve(w, r, next)
		case c.opts.PassPreflight:
			next.ServeHTTP(w, r)
		default:
			c.preflight(w, r)
		}
	})
}

// serve decorates the answer twice: before the handler, so that what a layer
// outside says instead of a handler that fails is decorated too, and when the header
// goes out, since the handler may have said something else by then.
func (c *cors) serve(w http.ResponseWriter, r *http.Request, next http.Handler) {
	origin := c.allowed(r)
	out := &headerWriter{ResponseWriter: w}
	out.before = func() { c.decorate(w.Header(), origin) }
	out.before()
	next.ServeHTTP(out, r)
	out.imply()
}

// allowed is what stands in Access-Control-Allow-Origin for a request; "" for an
// origin that may not call.
func (c *cors) allowed(r *http.Request) string {
	if c.any {
		return "*"
	}
	origins := r.Header["Origin"]
	if len(origins) == 1 && slices.Contains(c.opts.Origins, origins[0]) {
		return origins[0]
	}
	return ""
}

func (c *cors) decorate(h http.Header, origin string) {
	for name := range h {
		if strings.HasPrefix(name, "Access-Control-") {
			delete(h, name)
		}
	}
	if c.origin(h, origin) {
		h["Access-Control-Expose-Headers"] = []string{c.expose}
	}
}

// origin says which origin may see the answer, if the one that asks may.
func (c *cors) origin(h http.Header, origin string) bool {
	if !c.any {
		vary(h, "Origin") // also for those who may not: a cache must not give them another's answer
	}
	if origin == "" {
		return false
	}
	h["Access-Control-Allow-Origin"] = []string{origin}
	if c.opts.Credentials {
		h["Access-Control-Allow-Credentials"] = []string{"true"}
	}
	return true
}

// preflight answers for the service. An origin, method or header that is not
// allowed gets an answer that does not allow it.
func (c *cors) preflight(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	vary(h, "Access-Control-Request-Method")
	vary(h, "Access-Control-Request-Headers")
	if c.origin(h, c.allowed(r)) {
		h.Set("Access-Control-Allow-Methods", strings.Join(c.opts.Methods, ", "))
		h.Set("Access-Control-Allow-Headers", strings.Join(c.headersFor(r), ", "))
		if c.opts.MaxAge > 0 {
			h.Set("Access-Control-Max-Age", strconv.FormatInt(int64(c.opts.MaxAge/time.Second), 10))
		}
	}
	w.WriteHeader(http.StatusNoContent)
}

// headersFor are the allowed headers, with those that the browser asks for where
// none were named.
func (c *cors) headersFor(r *http.Request) []string {
	names := slices.Clone(c.opts.Headers)
	if !c.echo {
		return names
	}
	for _, line := range r.Header["Access-Control-Request-Headers"] {
		for name := range strings.SplitSeq(line, ",") {
			name = strings.Trim(name, " \t")
			if isToken(name) && !listed(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// vary adds a name to Vary, once.
func vary(h http.Header, name string) {
	if lines := h["Vary"]; !listed(lines, name) && !listed(lines, "*") {
		h["Vary"] = append(lines[:len(lines):len(lines)], name)
	}
}
