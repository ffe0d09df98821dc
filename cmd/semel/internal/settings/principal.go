package settings

import (
	"errors"
	"fmt"
	"net/textproto"
	"strings"
)

const principalChoices = "header:NAME, cookie:NAME, jwt:CLAIM, client-cert or global"

// PrincipalKind is where the scope of a request comes from.
type PrincipalKind string

// The kinds of principals.
const (
	PrincipalHeader PrincipalKind = "header"
	PrincipalCookie PrincipalKind = "cookie"
	PrincipalJWT    PrincipalKind = "jwt"
	PrincipalCert   PrincipalKind = "client-cert"
	PrincipalGlobal PrincipalKind = "global"
)

// Principal is the rule that tells callers apart.
type Principal struct {
	Kind PrincipalKind
	Name string // of the header (canonical), cookie or claim
}

// String is the rule as on the command line.
func (p Principal) String() string {
	if p.Name == "" {
		return string(p.Kind)
	}
	return string(p.Kind) + ":" + p.Name
}

// ParsePrincipal reads a rule as --principal takes it.
func ParsePrincipal(s string) (Principal, error) {
	kind, name, named := strings.Cut(s, ":")
	switch kind := PrincipalKind(kind); kind {
	case "":
		return Principal{}, errors.New("say whose key a key is: " + principalChoices + " (global: one trusted caller)")
	case PrincipalHeader, PrincipalCookie:
		return namedPrincipal(kind, name)
	case PrincipalJWT:
		if name == "" {
			return Principal{}, errors.New("jwt names no claim; write jwt:sub, or another claim that tells callers apart")
		}
		return Principal{Kind: kind, Name: name}, nil
	case PrincipalCert, PrincipalGlobal:
		if named {
			return Principal{}, fmt.Errorf("%s takes no name", kind)
		}
		return Principal{Kind: kind}, nil
	}
	if !named && isToken(kind) {
		return Principal{}, fmt.Errorf("%q is no kind of principal; did you mean header:%s? The kinds are %s", kind, textproto.CanonicalMIMEHeaderKey(kind), principalChoices)
	}
	return Principal{}, fmt.Errorf("%q is not built in; built in are %s", kind, principalChoices)
}

func namedPrincipal(kind PrincipalKind, name string) (Principal, error) {
	if !isToken(name) {
		return Principal{}, fmt.Errorf("%s:%s names no %s; write it like %s:NAME", kind, name, kind, kind)
	}
	if kind == PrincipalHeader {
		name = textproto.CanonicalMIMEHeaderKey(name)
	}
	if kind == PrincipalHeader && tellsNobodyApart(name) {
		return Principal{}, fmt.Errorf("the header %s tells no callers apart: clients set it as they like; use a credential, or a header that a proxy in front sets", name)
	}
	return Principal{Kind: kind, Name: name}, nil
}

// tellsNobodyApart reports headers that say nothing of the caller, or only what
// the caller wants to be believed.
func tellsNobodyApart(name string) bool {
	switch name {
	case "Host", "Connection", "Upgrade", "Te", "Trailer", "Transfer-Encoding", "Content-Length", "Forwarded", "Idempotency-Key", "X-Idempotency-Key":
		return true
	}
	return strings.HasPrefix(name, "X-Forwarded-")
}

// isToken reports whether s is a token of RFC 9110, section 5.6.2.
func isToken(s string) bool {
	const marks = "!#$%&'*+-.^_`|~"
	for _, c := range []byte(s) {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && strings.IndexByte(marks, c) < 0 {
			return false
		}
	}
	return s != ""
}
