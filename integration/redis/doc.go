// Package redis holds the tests of redisstore on real servers.
package redis
