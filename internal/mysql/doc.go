// Package mysql keeps the records of package semel in MySQL or MariaDB, through
// database/sql. Package sqlstore is its face.
package mysql
