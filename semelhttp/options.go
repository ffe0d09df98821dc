package semelhttp

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/semel-go/semel"
)

// Options are the settings of a middleware. The zero value of each field means
// its default.
type Options struct {
	// Headers are the names of the key header. Default Idempotency-Key.
	Headers []string
	// Keys are the places where a key may stand, instead of Headers: [KeyHeader],
	// [KeyPath], [KeyForm], [KeyBody], [KeyWebhook], [Forms.Key]. A form token counts
	// before all others, a key in a header before one in the path, that before one in the
	// body, and path and body are searched in the order of Keys. Default the Headers.
	Keys []KeySource
	// Derived makes a key of what a request says where it brings none. Default none.
	Derived *DerivedKey
	// Verify checks the signature of a request, such as a webhook's. It is called for
	// every guarded request, with the whole body, before a key is looked for; an error
	// refuses with 401 invalid-signature, and its text goes nowhere. It must not
	// change body, nor keep it. Default none.
	Verify func(r *http.Request, body []byte) error
	// RequireKey refuses guarded requests without a key. Default false: they pass,
	// unguarded.
	RequireKey bool
	// Methods are the guarded methods: of POST, PATCH, PUT and DELETE. Default
	// POST, PATCH.
	Methods []string

	// StrictKeys takes keys in double quotes only. Default false: bare ones too.
	StrictKeys bool
	// MinKeyLength is the least length of a key in bytes. Default 1.
	MinKeyLength int
	// MaxKeyLength is the greatest length of a key in bytes, at most 255. Default 255.
	MaxKeyLength int
	// KeyFormat refuses keys of another form: [KeyUUID], [KeyULID], [KeyPattern].
	// Default none.
	KeyFormat func(key string) error

	// PerRoute names the route of a request. The route then is a part of the scope
	// and stands for method and path: the same key may be used once per route. An
	// empty name leaves the request to the default: keys are unique to the
	// principal, and method and path are in the fingerprint.
	PerRoute func(r *http.Request) string
	// Route is the short label of a request in records and metrics; it should have
	// few values. Default the pattern by which [http.ServeMux] chose the handler, or
	// the method.
	Route func(r *http.Request) string
	// Anonymous is the rule for callers without a principal: what it returns
	// becomes their principal, apart from all accounts ([AnonymousPrincipal]).
	// Default none: they are refused.
	Anonymous PrincipalFunc

	// Policy is the guarantee level. Default the engine's.
	Policy semel.Policy
	// Lease is for how long a claim is held without a renewal. Default the engine's.
	Lease time.Duration
	// Retention is for how long answers are replayed, at least. Default the engine's.
	Retention time.Duration
	// Wait is for how long a duplicate waits for the running one before it is told
	// in-progress; negative: not at all. Default the engine's.
	Wait time.Duration

	// MaxRequestBody is the size in bytes up to which a body is read; larger ones
	// are refused. Default 10 MiB.
	MaxRequestBody int64
	// MaxResponseBody is the size in bytes up to which a body is recorded. A larger
	// one is sent as it comes, and retries learn result-unavailable. Default 1 MiB.
	MaxResponseBody int
	// BodyBudget bounds the memory of all request bodies together, and what one
	// principal may take of it. Default NewBodyBudget(256 MiB) for this middleware alone.
	BodyBudget *BodyBudget
	// BodyTimeout is how long the body of a guarded request may take to arrive; one
	// that takes longer is refused with incomplete-body, and its connection ends. It
	// takes the place of another read deadline, except a shorter ReadTimeout of the
	// server, and needs a writer that can SetReadDeadline. Default 60s; negative: no bound.
	BodyTimeout time.Duration

	// JSON compares JSON bodies by what they say. Default: by their bytes.
	JSON *JSONFingerprint
	// FormerFingerprints are rules by which a record may know this request as well, for
	// the time of a change of JSON; a nil element is "by their bytes". Two versions work
	// side by side if the old one got the new rule here first. While a rule is here,
	// what it ignores is not compared, also for records made under JSON if their own
	// request had none of it: drop the rule after one retention. Default none.
	FormerFingerprints []*JSONFingerprint

	// Observe claims, compares and counts, and changes nothing: the handler runs each
	// time, and every answer passes as it comes. It is for a live service, before its
	// requests are guarded. Its records are apart from those of a guard. Bodies are
	// read first, as a guard does. Default false.
	Observe bool
	// OnObserved is told what a guard would have answered in the handler's place: the
	// code of a problem, or [ObservedReplay]. Route is the label of the request. It is
	// called concurrently. Default none.
	OnObserved func(route string, would Code)
	// Quota bounds the records of one principal. Default none.
	Quota *Quota

	// StoreServerErrors records answers of 500 and above like others. Default
	// false: they release the key.
	StoreServerErrors bool
	// KeepSetCookie names the cookies that are recorded and replayed. Default none.
	KeepSetCookie []string
	// ReplayAuthorize is asked before an answer is replayed; an error refuses with
	// 403. Its text goes nowhere. Default: whoever has the principal may have the answer.
	ReplayAuthorize func(r *http.Request) error

	// ReplayedHeader marks replays, with the value true. Default Idempotent-Replayed.
	ReplayedHeader string
	// Challenge is the WWW-Authenticate of a refused caller. Default Bearer.
	Challenge string
	// ProblemBase is the page that explains the problems. Default [DefaultProblemBase].
	ProblemBase string
	// Logger receives what an operator must know. Default slog.Default().
	Logger *slog.Logger
	// Clock is the clock of Quota. Default the system's.
	Clock semel.Clock
}

// block is what the body budget is taken in, after a small first one.
const (
	firstBlock = 4 << 10
	block      = 64 << 10
)

const maxKeyLength = 255

func (o *Options) withDefaults() Options {
	var c Options
	if o != nil {
		c = *o
	}
	setDefault(&c.MinKeyLength, 1)
	setDefault(&c.MaxKeyLength, maxKeyLength)
	setDefault(&c.MaxRequestBody, 10<<20)
	setDefault(&c.MaxResponseBody, 1<<20)
	setDefault(&c.BodyTimeout, time.Minute)
	setDefault(&c.ReplayedHeader, "Idempotent-Replayed")
	setDefault(&c.Challenge, "Bearer")
	setDefault(&c.ProblemBase, DefaultProblemBase)
	c.placeKeys()
	c.ReplayedHeader = http.CanonicalHeaderKey(c.ReplayedHeader)
	c.Methods = slices.Clone(c.Methods)
	if len(c.Methods) == 0 {
		c.Methods = []string{http.MethodPost, http.MethodPatch}
	}
	if c.BodyBudget == nil {
		c.BodyBudget = NewBodyBudget(max(256<<20, c.oneBody()))
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return c
}

// tokenHeaders are the headers that may hold a form token.
func (o *Options) tokenHeaders() []string {
	var names []string
	for _, source := range o.Keys {
		if source.token != nil {
			names = append(names, source.header)
		}
	}
	return names
}

// placeKeys makes Headers and Keys say the same.
func (o *Options) placeKeys() {
	if len(o.Keys) == 0 {
		names := o.Headers
		if len(names) == 0 {
			names = []string{"Idempotency-Key"}
		}
		for _, name := range names {
			o.Keys = append(o.Keys, KeyHeader(name))
		}
	}
	o.Headers = nil
	for _, source := range o.Keys {
		if source.header != "" && source.sender == "" && source.token == nil {
			o.Headers = append(o.Headers, source.header)
		}
	}
}

// oneBody is what one body of the greatest size takes.
func (o *Options) oneBody() int64 {
	n := o.MaxRequestBody + block
	switch {
	case o.Verify != nil || slices.ContainsFunc(o.Keys, KeySource.needsBody):
		n += o.MaxRequestBody // for a moment in blocks and in one piece
	case o.JSON != nil || len(o.FormerFingerprints) > 0:
		n += min(o.MaxRequestBody, maxJSON)
	}
	return n
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// validate reports every contradiction at once, each with its fix.
func (o *Options) validate() error {
	return errors.Join(
		o.validateNames(),
		o.validateTimes(),
		o.validateContent(),
		o.Quota.validate(),
		refuse(o.Derived != nil && o.RequireKey, "RequireKey: a request without a key gets a derived one, so none is ever missing; take one of the two out"),
		refuse(o.MinKeyLength < 0 || o.MinKeyLength > o.MaxKeyLength, "MinKeyLength %d is not between 1 and MaxKeyLength %d", o.MinKeyLength, o.MaxKeyLength),
		refuse(o.MaxKeyLength < 0 || o.MaxKeyLength > maxKeyLength, "MaxKeyLength %d is not between 1 and %d", o.MaxKeyLength, maxKeyLength),
		refuse(o.MaxRequestBody < 0, "MaxRequestBody is negative; leave it 0 for 10 MiB"),
		refuse(o.MaxResponseBody < 0, "MaxResponseBody is negative; leave it 0 for 1 MiB"),
		refuse(o.BodyBudget.limit < o.oneBody(), "BodyBudget of %d bytes can never hold a body of MaxRequestBody %d bytes; make it at least %d", o.BodyBudget.limit, o.MaxRequestBody, o.oneBody()),
		refuse(strings.ContainsAny(o.Challenge+o.ProblemBase, "\r\n"), "Challenge and ProblemBase go into headers; take the line breaks out"),
	)
}

func (o *Options) validateNames() error {
	var errs []error
	for i, source := range o.Keys {
		errs = append(errs, source.check(),
			refuse(slices.ContainsFunc(o.Keys[:i], source.same), "Keys: %q stands there twice", source.place()))
	}
	for _, m := range o.Methods {
		errs = append(errs, checkMethod(m))
	}
	for _, name := range o.KeepSetCookie {
		errs = append(errs, refuse(!isToken(name), "KeepSetCookie: %q is no name of a cookie", name))
	}
	inPath := slices.ContainsFunc(o.Keys, KeySource.inPath)
	isKey := slices.ContainsFunc(o.Keys, func(s KeySource) bool { return s.header == o.ReplayedHeader })
	errs = append(errs,
		refuse(inPath && !o.RequireKey && o.Derived == nil, "Keys: with KeyPath around a mux no request would have a key, and all would pass unguarded; set RequireKey, and wrap the handler of the pattern"),
		refuse(len(o.tokenHeaders()) > 1, "Keys: form tokens of two purposes; give each its own middleware"),
		refuse(!isToken(o.ReplayedHeader), "ReplayedHeader %q is no header name", o.ReplayedHeader),
		refuse(isKey, "ReplayedHeader %q holds the key as well; use another name", o.ReplayedHeader))
	return errors.Join(errs...)
}

func checkMethod(m string) error {
	guardable := func(m string) bool {
		return m == http.MethodPost || m == http.MethodPatch || m == http.MethodPut || m == http.MethodDelete
	}
	if upper := strings.ToUpper(m); !guardable(m) && guardable(upper) {
		return refuse(true, "Methods: %q is another method than %q, since case counts (RFC 9110, section 9.1); write it in capitals", m, upper)
	}
	return refuse(!guardable(m), "Methods: %q cannot be guarded; use POST, PATCH, PUT and DELETE", m)
}

func (o *Options) validateTimes() error {
	return errors.Join(
		refuse(o.Policy > semel.AtMostOnce, "Policy %d is unknown; use semel.AtLeastOnce or semel.AtMostOnce", o.Policy),
		refuse(o.Lease != 0 && o.Lease < time.Second, "Lease %v is below 1s; use 1s or more, or 0 for the engine's", o.Lease),
		refuse(o.Retention != 0 && o.Retention < time.Second, "Retention %v is below 1s; use 1s or more, semel.Forever, or 0 for the engine's", o.Retention),
		refuse(o.Retention > 0 && o.Lease >= o.Retention, "Lease %v is not below Retention %v; raise Retention", o.Lease, o.Retention),
		refuse(o.Retention > 0 && o.Wait >= o.Retention, "Wait %v is not below Retention %v; lower Wait", o.Wait, o.Retention),
	)
}

func refuse(bad bool, format string, args ...any) error {
	if !bad {
		return nil
	}
	return fmt.Errorf("semelhttp: "+format, args...)
}
