// Package sqltx opens business transactions through database/sql, for package inbox.
// The dialects of package sqlstore bring the statements.
//
//   - dialect.go: what a dialect brings
//   - database.go: beginning a transaction with its claim
//   - tx.go: its end, which a driver that hangs does not hold up
//   - step.go: its statements, for drivers that do not heed a context
package sqltx
