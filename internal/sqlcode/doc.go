// Package sqlcode reads the codes of databases out of the errors of their drivers,
// by what the errors can do, since no driver is known here.
//
//   - postgres.go: SQLSTATE, and the fields of the server's report
//   - mysql.go: the server's number and text
//   - sqlite.go: the result code
//   - field.go: the fields of an error
//   - wrapped.go: the errors within an error
package sqlcode
