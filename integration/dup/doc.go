// Package dup tests package dup of the module on real engines: PostgreSQL with both
// drivers, MariaDB and SQLite.
package dup
