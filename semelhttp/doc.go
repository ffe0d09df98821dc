// Package semelhttp makes HTTP handlers take effect once per Idempotency-Key,
// after draft-ietf-httpapi-idempotency-key-header-07.
//
//	store, err := memstore.New(nil)
//	if err != nil {
//		return err
//	}
//	engine, err := semel.New(store, nil)
//	if err != nil {
//		return err
//	}
//	once, err := semelhttp.New(engine, semelhttp.HeaderPrincipal("Authorization"), nil)
//	if err != nil {
//		return err
//	}
//	return http.ListenAndServe("127.0.0.1:8080", once(handler))
//
// The first request with a key runs the handler; its answer is saved before the
// first byte of it goes out, and every later request with the key gets it again,
// marked with Idempotent-Replayed: true. Requests without a key pass as they are.
// To the handler and to the first client nothing changes: same request, same
// answer, but that the handler goes on when its client has gone, and that an
// answer which fits is framed with a Content-Length where net/http might have
// sent chunks.
//
// A map of the package:
//
//   - options.go, middleware.go: settings, and the way of a request
//   - admit.go: what is checked before a claim
//   - key.go, keyformat.go, structured.go: the key on the wire
//   - keysource.go, keybody.go, webhook.go, derived.go: where keys come from
//   - forms.go, keytoken.go: form tokens, for browsers' forms
//   - principal.go: whose request it is
//   - requestbody.go, budget.go, bodytime.go, fingerprint.go, jsonbody.go: the body, and what a key stands for
//   - exchange.go, verdict.go: one request from claim to answer, and what its
//     status means
//   - capture.go, live.go, readfrom.go, snapshot.go: the writer that handlers get
//   - record.go, exclude.go, response.go: what is recorded, and its format
//   - replay.go, coding.go: how it is replayed
//   - transaction.go: handlers in a transaction that holds the record too
//   - problem.go, problemof.go: the answers of the layer itself
//   - quota.go, quotacount.go: what one principal may store
//   - observe.go: what a guard would do, without one
//   - cors.go, openapi.go, openapiroute.go: browsers of other origins, and what
//     clients should know
package semelhttp
