// Package idgen tests worker ids on real stores: several processes, one of which is
// killed, and a restart with the clock back.
package idgen
