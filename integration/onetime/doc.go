// Package onetime tests form tokens on real stores: each rule runs on each engine and
// driver, with two replicas of a service on one database.
package onetime
