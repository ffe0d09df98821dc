// Package sqlcall is what packages dup and optimistic know of statements that are the
// caller's, on a handle that is the caller's.
//
//   - handle.go: pool, connection or transaction
//   - once.go: a statement that no driver sends again behind the caller's back
//   - words.go: the words of a statement
package sqlcall
