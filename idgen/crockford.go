package idgen

import "strings"

// crockford are the 32 symbols of Douglas Crockford's base 32: no I, L, O and U, so
// that none is taken for another one.
const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// crockfordValue is the value of a symbol, or -1.
func crockfordValue(c byte) int { return strings.IndexByte(crockford, c) }
