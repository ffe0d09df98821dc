package token

import (
	"context"
	"errors"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// algorithms that a token may be signed with. None of them is "none", and none
// takes a public key for a shared secret.
var algorithms = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512, jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
}

// leeway is by how much clocks may differ.
const leeway = 30 * time.Second

// Verifier verifies tokens.
type Verifier struct {
	Keys *Keys
	// Issuer is the iss that a token has to have; empty: any.
	Issuer string
	// Audience lists the aud of which a token has to have one; empty: any.
	Audience []string
}

// Claims are the strings of a token that was verified.
type Claims struct {
	Issuer string
	values map[string]any
}

// Text returns a claim that is a string and not empty.
func (c Claims) Text(name string) (string, bool) {
	text, ok := c.values[name].(string)
	return text, ok && text != ""
}

// Why a token is refused. The text of an error never holds a part of the token.
var (
	ErrMalformed = errors.New("the token cannot be read, or is signed in a way that is not taken")
	ErrSignature = errors.New("no known key has signed the token")
	ErrTime      = errors.New("the token has no exp, is over, or does not hold yet")
	ErrElsewhere = errors.New("the token is of another issuer or for another audience")
)

// Verify returns the claims of a token in compact form (RFC 7519) if a known key
// has signed it, it holds now, and it is from this issuer for this audience.
func (v *Verifier) Verify(ctx context.Context, text string) (Claims, error) {
	parsed, err := jwt.ParseSigned(text, algorithms)
	if err != nil || len(parsed.Headers) != 1 {
		return Claims{}, ErrMalformed
	}
	header := parsed.Headers[0]
	for _, key := range v.Keys.candidates(ctx, header.KeyID) {
		if key.Algorithm != "" && key.Algorithm != header.Algorithm {
			continue
		}
		var standard jwt.Claims
		var values map[string]any
		if parsed.Claims(key.Key, &standard, &values) == nil {
			return Claims{standard.Issuer, values}, v.check(standard)
		}
	}
	return Claims{}, ErrSignature
}

func (v *Verifier) check(c jwt.Claims) error {
	if c.Expiry == nil {
		return ErrTime
	}
	err := c.ValidateWithLeeway(jwt.Expected{Issuer: v.Issuer, AnyAudience: v.Audience, Time: v.Keys.now()}, leeway)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jwt.ErrInvalidIssuer), errors.Is(err, jwt.ErrInvalidAudience):
		return ErrElsewhere
	}
	return ErrTime
}
