// Package examples runs the programs of the folder examples that need a database
// server. It has no code of its own to import.
package examples
