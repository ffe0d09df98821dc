// Package onetime makes a form take effect once, however often it is sent: by tokens
// that are issued with the form, bound to its user, and spent through the life cycle of
// package semel.
//
//	issuer, err := onetime.NewIssuer([][]byte{secret}, nil) // 32 random bytes, the same in all processes
//	forms, err := onetime.New(engine, issuer, nil)
//
//	token, expires, err := issuer.Issue("order", userID) // when the form is shown
//
//	res, err := onetime.Use(ctx, forms, token, "order", userID, semel.InputJSON(form),
//		func(ctx context.Context) (Receipt, error) {
//			if err := form.Validate(); err != nil {
//				return Receipt{}, semel.Retryable(err) // gives the token back
//			}
//			return place(ctx, form)
//		})
//
// The first submit runs the function. A second one, of a double click, a reload or the
// back button, gets the recorded result; one with another content is told so
// ([*ContentChangedError]). A failed validation gives the token back. A forged token,
// another user's and one of another form get the same answer: [ErrRefused].
//
// # Map
//
//   - issuer.go: [Issuer] makes and verifies tokens, and keeps nothing
//   - token.go, ring.go: their form; secrets and their rotation
//   - service.go, use.go: [Service] and [Use] spend them on an engine
//   - verified.go: [Verified], for layers that keep the record by themselves
//   - stored.go: [Stored], the classic token that lies in the store and is compared and
//     consumed in one step
//   - errors.go: what a caller is told
//
// Package semelhttp has the HTTP part: the endpoint, the hidden field, and the key of its
// middleware (semelhttp.Forms). docs/one-time-tokens.md has the timelines.
package onetime
