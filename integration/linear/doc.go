// Package linear checks that a store is linearizable: that what many callers at once
// were told of a key can be put into one order, in which each call took effect at one
// moment between its being sent and its being answered, as if the store served one
// caller after the other. A call without a reply may take effect at any later moment,
// or never.
//
//	h := linear.Run(ctx, linear.Subject{Stores: []semel.Store{store}, Lapse: lapse}, linear.Load{Seed: 1})
//	if err := h.Check(); err != nil {
//		t.Error(err) // with the history of the key
//	}
//
// [Run] lets callers claim, renew, finish, read and resolve a few keys at random, over
// a [wire] that loses requests and replies and delivers some requests late. [History]
// records who was told what; [porcupine] looks for the order.
//
// A map of the package:
//
//   - call.go: a call and what its caller is told
//   - register.go: the life cycle of one key, one call after the other: the specification
//   - caller.go: callers who choose their calls at random
//   - wire.go: what gets lost between them and the store
//   - history.go: the record of a run, its figures, and the search
//
// The tests run all stores, and stores with one fault each, which must be rejected.
//
// [porcupine]: https://github.com/anishathalye/porcupine
package linear
