package idgen

import (
	"crypto/rand"
	"fmt"
	"strings"
)

// Lengths of short ids.
const (
	minShort = 8
	maxShort = 64
)

// Short returns a random id of length symbols (8–64) in lower case, for what people
// read, type and dictate: digits and letters without i, l, o and u. A symbol has 5
// bits, all equally likely:
//
//	length  bits  ids until a collision has a chance of 1 in a million
//	     8    40                                     about 1,500
//	    12    60                                 about 1,500,000
//	    16    80                             about 1,550,000,000
//	    26   130                       more than anybody will make
//
// Under 16 symbols let a unique index decide, and try again. It is no secret unless
// it has 26 symbols.
func Short(length int) (string, error) {
	if length < minShort || length > maxShort {
		return "", fmt.Errorf("idgen: a short id of %d symbols; use %d to %d", length, minShort, maxShort)
	}
	id := make([]byte, length)
	rand.Read(id) // never fails (documentation of crypto/rand)
	for i, b := range id {
		id[i] = crockford[b%32] // 32 divides 256, so no symbol is likelier
	}
	return strings.ToLower(string(id)), nil
}

// ParseShort returns the canonical form of a short id that somebody has typed: in lower
// case, without spaces and hyphens, o read as 0, i and l as 1. Anything else that
// [Short] does not write is an error.
func ParseShort(s string) (string, error) {
	id := make([]byte, 0, maxShort)
	for i := range len(s) {
		c := asTyped(s[i])
		if c == 0 {
			continue
		}
		if crockfordValue(c) < 0 || len(id) == maxShort {
			return "", errShort
		}
		id = append(id, c)
	}
	if len(id) < minShort {
		return "", errShort
	}
	return strings.ToLower(string(id)), nil
}

var errShort = fmt.Errorf("idgen: a short id has %d to %d digits and letters, without u", minShort, maxShort)

// asTyped is the symbol that somebody meant, in upper case; 0 for what only separates.
func asTyped(c byte) byte {
	if 'a' <= c && c <= 'z' {
		c -= 'a' - 'A'
	}
	switch c {
	case ' ', '-':
		return 0
	case 'O':
		return '0'
	case 'I', 'L':
		return '1'
	}
	return c
}
