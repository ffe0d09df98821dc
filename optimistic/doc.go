// Package optimistic changes rows that carry a version: whoever has seen an older one
// is told so, instead of overwriting what another has written. It tells a conflict
// from a row that is missing, repeats a change on the new version, and speaks ETag,
// If-Match and If-None-Match to clients.
//
//	err := optimistic.Exec(ctx, db, optimistic.Change{
//		Update: "UPDATE doc SET title = ?, version = version + 1 WHERE id = ? AND version = ?", Args: []any{title, id, seen},
//		Current: "SELECT version FROM doc WHERE id = ?", CurrentArgs: []any{id},
//		Version: seen,
//	})
//	if conflict, ok := errors.AsType[*optimistic.ConflictError](err); ok {
//		// somebody was faster; the row is at conflict.Current
//	}
//
// Statements are the caller's, for every database of database/sql that counts the rows of
// an UPDATE. The version is an integer that each change raises.
//
// A map of the package:
//
//   - change.go: one change, and what became of it
//   - retry.go, options.go: repeats with the new version
//   - errors.go: what is told
//   - etag.go, condition.go: entity tags, and lists of them
//   - precondition.go: If-Match and If-None-Match of a request
//   - answer.go: 304, 400, 412 and 428
package optimistic
