// Package sqlrecord is what the SQL stores have in common: a record as its
// columns, how it is seen at a given time, what is said of one that a call does
// not change, and the reading of migrations.
//
//   - row.go, time.go: the columns, and a record at a moment of the store's clock
//   - claim.go, finish.go, resolve.go: the answers of the contract's table
//   - list.go: pages of a list
//   - migration.go: the numbered steps of a schema
package sqlrecord
