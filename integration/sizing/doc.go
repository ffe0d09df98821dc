// Package sizing measures what a record takes in each store, and holds the table
// in docs/sizing.md against it:
//
//	go test -v ./integration/sizing -records 100000
package sizing
