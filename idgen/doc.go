// Package idgen makes ids for rows and keys: random ones that sort by time, 64-bit
// ones whose worker id is leased from a [semel.Store], short ones for people, and ids
// that are derived from what they stand for.
//
//	var uuids idgen.UUIDs // one for the process
//	order := Order{ID: uuids.New()}
//
//	node, err := idgen.NewNode(ctx, store, nil) // one for the process
//	if err != nil {
//		return err
//	}
//	defer node.Close(ctx)
//	id, err := node.Next(ctx)
//
// Which one when is in docs/ids.md. In short: [UUIDs] unless the database wants
// 64 bits, [Node] then; [Derive] where asking twice must give the same id; [Short]
// for what people read out.
//
// None of them is a secret. Whoever must not guess an id needs a random token
// beside it.
//
// # Map
//
//   - uuid.go, uuidv7.go: [UUID], and [UUIDs], the source of version 7
//   - derive.go: [Derive], a UUID of version 8 from a scope and parts
//   - ulid.go, ulids.go: [ULID] and its source [ULIDs]
//   - short.go: [Short], and [ParseShort] for what people typed
//   - snowflake.go, layout.go: [Snowflake], 64 bits, and where its bits are
//   - node.go, options.go: [Node], which issues them
//   - tenure.go, horizon.go: a worker id while it is held, and the promise that is
//     kept in the store
//   - settle.go, keep.go: taking a worker id, keeping it, moving to another
//   - errors.go: what goes wrong, and the fix
//   - crockford.go, sql.go: the alphabet; columns of databases
package idgen
