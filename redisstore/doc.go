// Package redisstore keeps the records of [semel] in Redis or Valkey: one server, one
// behind Sentinel, or a cluster.
//
//	client := redis.NewClient(&redis.Options{Addr: "localhost:6379", MaxRetries: -1, ContextTimeoutEnabled: true})
//	defer client.Close()
//	store, err := redisstore.New(ctx, client, nil)
//	if err != nil {
//		return err
//	}
//	defer store.Close()
//	engine, err := semel.New(store, nil)
//
// What survives depends on the server: appendonly with appendfsync always loses nothing
// on one server; every failover may forget the last claims and results. See
// docs/store-redis.md, and [Store.Guarantees] for the server at hand.
//
// Each method is one script on one key. Concurrent calls share pipelines: a call that
// finds its server idle goes alone, calls that arrive meanwhile form the next pipeline.
//
// A map of the package:
//
//   - store.go, options.go: the store that users hold, and its settings
//   - scripts, script.go: the methods in Lua; params.go, answer.go: what goes in and out
//   - record.go: a record as bytes
//   - call.go, primary.go: a call, and the pipelines to one server
//   - route.go, cluster.go: which server a key is on
//   - wait.go, list.go: those who wait, and lists
//   - mark.go: a mark in one plain command
//   - errors.go: what was certainly not executed, and what is unknown
//   - facts.go, admit.go, guarantees.go: what the servers are, which are refused, and
//     what the others promise
package redisstore
