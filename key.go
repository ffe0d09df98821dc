package semel

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// KeyID identifies a record: scope and parts of a [Key], hashed.
type KeyID [16]byte

// String returns the whole id in hexadecimal, for operators. Logs carry only
// [KeyID.Short].
func (id KeyID) String() string { return hex.EncodeToString(id[:]) }

// Short returns the first eight hexadecimal digits: enough to follow one
// operation through logs, too little to look anything up by.
func (id KeyID) Short() string { return hex.EncodeToString(id[:4]) }

// ParseKeyID reads what [KeyID.String] wrote.
func ParseKeyID(s string) (KeyID, error) {
	var id KeyID
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(id) {
		return id, errors.New("semel: a key id has 32 hexadecimal digits")
	}
	copy(id[:], b)
	return id, nil
}

// ScopeID is a digest of a scope's principal: HMAC-SHA-256 under the engine's
// secret (plain SHA-256 without one), cut to 8 bytes.
type ScopeID [8]byte

// Token identifies the owner of a run. It is random, made anew for each run, and
// known to nobody else.
type Token [16]byte

// NewToken returns a random token.
func NewToken() Token {
	var t Token
	rand.Read(t[:]) // never fails (documentation of crypto/rand)
	return t
}

// Global is the principal of operations that all callers share. It has to be
// spelled out: an empty principal is refused.
const Global = "\x00global"

// Scope says whose key it is, and what for. Keys of two scopes never meet.
type Scope struct {
	// Principal is the tenant, account or user; [Global] for one trusted caller.
	Principal string
	// Operation is what the key stands for, such as "charge". Two operations with
	// the same key are two records. May be empty where keys are unique anyway.
	Operation string
}

// Key is the identity of one operation: a scope and the caller's parts. The zero
// Key is refused. It prints as a short hash, never as its text.
type Key struct {
	id    KeyID
	scope Scope
	text  string
	err   error
}

// KeyOf returns the key for parts within scope. Parts are compared byte by byte:
// case counts, and ("ab","c") is another key than ("a","bc"). An empty principal,
// no parts or only empty parts make a key that every use refuses.
//
// The derivation is public and versioned, so that a record can be found later:
// the first 16 bytes of SHA-256 over "semel/key/1", principal, operation and
// parts, each preceded by its length as a big-endian uint64.
func KeyOf(scope Scope, parts ...string) Key {
	k := Key{scope: scope}
	if k.err = checkKey(scope, parts); k.err != nil {
		return k
	}
	buf := make([]byte, 0, 256)
	buf = appendPart(buf, "semel/key/1")
	buf = appendPart(buf, scope.Principal)
	buf = appendPart(buf, scope.Operation)
	for _, p := range parts {
		buf = appendPart(buf, p)
	}
	sum := sha256.Sum256(buf)
	copy(k.id[:], sum[:])
	k.text = keyText(parts)
	return k
}

// KeyOfInput returns the key of an operation that has none but its content: the same
// content of the same principal is the same operation, for as long as its record stays.
// Give such an operation a short Op.Retention, and a Lease below it: the window begins with
// the first one, and duplicates do not prolong it. It is only for what nobody means to do
// twice within the window; two coffees are two equal orders. An input that says nothing,
// such as [NoInput], makes a key that every use refuses.
//
// The id is a plain digest of the content, whatever the engine's secret.
func KeyOfInput(scope Scope, in Input) Key {
	if err := in.check(); err != nil {
		return Key{err: err}
	}
	if in.size() == 0 {
		return Key{err: errors.New("semel: the input is empty, so that all operations of the scope would be one; pass the content")}
	}
	sum := in.fingerprint(nil)
	return KeyOf(scope, "semel/content/1", string(sum[:]))
}

// keyText is what operators read: the part as it is, if it is plain text.
func keyText(parts []string) string {
	if len(parts) == 1 && isPlain(parts[0]) {
		return parts[0]
	}
	return fmt.Sprintf("%q", parts)
}

// isPlain reports whether any store can keep s as text.
func isPlain(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}

func checkKey(scope Scope, parts []string) error {
	switch {
	case scope.Principal == "":
		return errors.New("semel: the scope has no principal; name the tenant or user, or say semel.Global for one scope for all callers")
	case len(parts) == 0:
		return errors.New("semel: the key has no parts; pass what identifies the operation, such as the order id")
	case !slices.ContainsFunc(parts, func(p string) bool { return p != "" }):
		return errors.New("semel: all parts of the key are empty; pass what identifies the operation, such as the order id")
	}
	return nil
}

func appendPart[S string | []byte](buf []byte, part S) []byte {
	return append(appendLen(buf, len(part)), part...)
}

func appendLen(buf []byte, n int) []byte {
	return binary.BigEndian.AppendUint64(buf, uint64(n))
}

// ID returns the record's id.
func (k Key) ID() KeyID { return k.id }

// String returns a short hash of the key, safe for logs.
func (k Key) String() string { return k.id.Short() }

// GoString is String, so that %#v does not print the text either.
func (k Key) GoString() string { return "semel.Key(" + k.id.Short() + ")" }

// Format prints the short hash for every verb.
func (k Key) Format(s fmt.State, _ rune) { fmt.Fprint(s, k.id.Short()) }

// LogValue is the short hash.
func (k Key) LogValue() slog.Value { return slog.StringValue(k.id.Short()) }

// check reports why the key cannot be used.
func (k Key) check() error {
	if k.err == nil && k.id == (KeyID{}) {
		return errors.New("semel: the operation has no key; make one with semel.KeyOf")
	}
	return k.err
}

// Derive returns a key for a call to another service made inside the operation:
// the same on every attempt and in every recovery, another one for each label.
// It has the form of a UUID (version 8, RFC 9562), so that any service takes it.
func (k Key) Derive(label string) string { return deriveUUID(k.id, label) }

func deriveUUID(id KeyID, label string) string {
	buf := make([]byte, 0, 128)
	buf = appendPart(buf, "semel/derive/1")
	buf = appendPart(buf, id[:])
	buf = appendPart(buf, label)
	sum := sha256.Sum256(buf)
	sum[6] = sum[6]&0x0f | 0x80
	sum[8] = sum[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[0:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

// ScopeIDOf returns the scope id of a principal's records under an engine's secret
// (nil for none), by which [Lister] finds them.
func ScopeIDOf(secret []byte, principal string) ScopeID {
	if len(secret) == 0 {
		sum := sha256.Sum256(appendPart(appendPart(make([]byte, 0, 128), scopePrefix), principal))
		return ScopeID(sum[:8])
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write(appendPart(appendPart(nil, scopePrefix), principal))
	return ScopeID(mac.Sum(nil)[:8])
}

const scopePrefix = "semel/scope/1"
