// Package cluster tests several gateways on one database server: that they act as
// one, what they do while the server is away, and with which rights they get along.
// It has no code of its own to import.
package cluster
