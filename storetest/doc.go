// Package storetest is the conformance suite of [semel.Store]. A store proves
// itself with a harness:
//
//	func TestConformance(t *testing.T) {
//		storetest.Run(t, storetest.Harness{
//			New: func(context.Context) (*storetest.Subject, error) {
//				clock := storetest.NewClock()
//				store, err := mystore.New(mystore.Options{Now: clock.Now})
//				return &storetest.Subject{Store: store, Advance: clock.Advance}, err
//			},
//		})
//	}
//
// The cases are made from the contract's table, held as data in table.go: every
// situation of a record against every method, with the owner's token and
// another's, with the right and a wrong fingerprint, each call made twice. Others
// show the invariants over time and under concurrency, and random runs compare
// the store step by step with package memstore, which is the specification.
//
// A failure says why its rule exists. Cases never assert how fast a store is, and
// they never read the caller's clock: leases are minutes, and moving the store's
// clock is the harness's work.
//
// A map of the package:
//
//   - harness.go: what a store has to supply
//   - suite.go: [Run], [Check], and the list of all cases
//   - table.go: the table; situation.go: how a record gets into a row; cell.go: the
//     calls made of it; answer.go, effect.go: what they must say and do
//   - *_cases.go: the rest of the cases, by subject
//   - model.go, world.go, operation.go: random runs against the specification
//   - case.go, calls.go, witness.go, lossy.go: what cases are written with
package storetest
