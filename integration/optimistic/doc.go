// Package optimistic tests package optimistic of the module on real engines:
// PostgreSQL with both drivers, MariaDB and SQLite.
package optimistic
