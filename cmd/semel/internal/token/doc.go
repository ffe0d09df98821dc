// Package token verifies JSON web tokens (RFC 7519) against a published set of
// keys (RFC 7517).
//
//	keys, err := token.Open(ctx, "https://issuer.example/jwks.json", tell)
//	verifier := &token.Verifier{Keys: keys, Issuer: "https://issuer.example"}
//	claims, err := verifier.Verify(ctx, text)
//	user, ok := claims.Text("sub")
//
// keys.go reads the set and keeps it fresh, verify.go checks tokens.
package token
