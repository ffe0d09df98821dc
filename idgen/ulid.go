package idgen

import (
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"time"
)

// ULID is a universally unique lexicographically sortable identifier: 48 bits of
// milliseconds and 80 random ones, in 26 symbols (https://github.com/ulid/spec). For a
// column of 16 bytes pass u[:]; the same bytes are no valid UUID.
type ULID [16]byte

// ulidText is the length of a ULID in text.
const ulidText = 26

var errULID = errors.New("idgen: a ULID has 26 symbols of Crockford's base 32 in upper case, the first at most 7")

// ParseULID reads the canonical text: 26 symbols in upper case. Lower case, and I, L, O
// and U in place of other symbols, are refused: two texts for one id make two keys of
// it.
func ParseULID(s string) (ULID, error) {
	if len(s) != ulidText || s[0] > '7' {
		return ULID{}, errULID
	}
	var high, low uint64
	for i := range len(s) {
		value := crockfordValue(s[i])
		if value < 0 {
			return ULID{}, errULID
		}
		high = high<<5 | low>>59
		low = low<<5 | uint64(value)
	}
	var u ULID
	binary.BigEndian.PutUint64(u[:8], high)
	binary.BigEndian.PutUint64(u[8:], low)
	return u, nil
}

// String returns the canonical text.
func (u ULID) String() string {
	text := u.text()
	return string(text[:])
}

func (u ULID) text() (text [ulidText]byte) {
	high, low := binary.BigEndian.Uint64(u[:8]), binary.BigEndian.Uint64(u[8:])
	for i := ulidText - 1; i >= 0; i-- {
		text[i] = crockford[low&31]
		low = low>>5 | high<<59
		high >>= 5
	}
	return text
}

// IsZero reports whether u is the zero ULID, which no source returns.
func (u ULID) IsZero() bool { return u == ULID{} }

// Time returns the ULID's moment, in milliseconds.
func (u ULID) Time() time.Time { return millisTime(u) }

// MarshalText returns the canonical text; encoding/json uses it.
func (u ULID) MarshalText() ([]byte, error) {
	text := u.text()
	return text[:], nil
}

// UnmarshalText is [ParseULID]; encoding/json uses it.
func (u *ULID) UnmarshalText(text []byte) error {
	parsed, err := ParseULID(string(text))
	if err == nil {
		*u = parsed
	}
	return err
}

// Value gives a database the canonical text: for char(26), text.
func (u ULID) Value() (driver.Value, error) { return u.String(), nil }

// Scan reads a column with the canonical text or with the 16 bytes.
func (u *ULID) Scan(src any) error { return scan16(u, src, "ULID", ParseULID) }
