// Package memstore keeps the records of [semel] in this process's memory. It is
// the executable specification of [semel.Store]: every transition is a pure
// function in transition.go and resolve.go, and package storetest compares other
// stores with it step by step.
//
//	store, err := memstore.New(nil)
//	if err != nil {
//		return err
//	}
//	engine, err := semel.New(store, nil)
//
// Use it in tests, and in a service that runs as one process and may forget
// everything when that process ends. It refuses new records with
// [semel.ErrStoreFull] rather than forget old ones; see [Options].
//
// A map of the package:
//
//   - record.go: what is kept for a key, and where a record stands at a time
//   - transition.go, resolve.go: the rules, as functions from record to record
//   - store.go: the six methods, one locked step each
//   - shard.go, due.go: where records lie, and when they may be deleted
//   - budget.go: what a record costs
//   - checkpoint.go, list.go, purge.go, wait.go: the optional capabilities
package memstore
