//go:build race

package semelhttp_test

func raceEnabled() bool { return true }
