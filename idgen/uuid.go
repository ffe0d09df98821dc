package idgen

import (
	"database/sql/driver"
	"encoding/hex"
	"errors"
	"time"
)

// UUID is a universally unique identifier (RFC 9562). Its text is the canonical one,
// in JSON and in databases too. For a column of 16 bytes pass u[:].
type UUID [16]byte

// uuidText is the length of a UUID in text.
const uuidText = 36

var errUUID = errors.New("idgen: a UUID has the form 01997f0e-5a20-7cc3-98c4-dc0c0c07398f, in lower case")

// ParseUUID reads the canonical text, of any version. Braces, prefixes, missing
// hyphens and upper case are refused: two texts for one id make two keys of it. Lower
// the case first where others send capitals.
func ParseUUID(s string) (UUID, error) {
	var u UUID
	if len(s) != uuidText || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return UUID{}, errUUID
	}
	digits := s[:8] + s[9:13] + s[14:18] + s[19:23] + s[24:]
	for i := range len(digits) {
		if 'A' <= digits[i] && digits[i] <= 'F' {
			return UUID{}, errUUID
		}
	}
	if _, err := hex.Decode(u[:], []byte(digits)); err != nil {
		return UUID{}, errUUID
	}
	return u, nil
}

// String returns the canonical text.
func (u UUID) String() string { return string(u.append(nil)) }

func (u UUID) append(b []byte) []byte {
	for i, part := range [][]byte{u[:4], u[4:6], u[6:8], u[8:10], u[10:]} {
		if i > 0 {
			b = append(b, '-')
		}
		b = hex.AppendEncode(b, part)
	}
	return b
}

// IsZero reports whether u is the nil UUID, which no source returns.
func (u UUID) IsZero() bool { return u == UUID{} }

// Version returns the version: 7 from [UUIDs], 8 from [Derive].
func (u UUID) Version() int { return int(u[6] >> 4) }

// Time returns the moment, in milliseconds, of a UUID of version 7; false for every
// other one.
func (u UUID) Time() (time.Time, bool) {
	if u.Version() != 7 {
		return time.Time{}, false
	}
	return millisTime(u), true
}

// MarshalText returns the canonical text; encoding/json uses it.
func (u UUID) MarshalText() ([]byte, error) { return u.append(nil), nil }

// UnmarshalText is [ParseUUID]; encoding/json uses it.
func (u *UUID) UnmarshalText(text []byte) (err error) {
	parsed, err := ParseUUID(string(text))
	if err == nil {
		*u = parsed
	}
	return err
}

// Value gives a database the canonical text: for uuid of PostgreSQL, char(36), text.
func (u UUID) Value() (driver.Value, error) { return u.String(), nil }

// Scan reads a column with the canonical text or with the 16 bytes.
func (u *UUID) Scan(src any) error { return scan16(u, src, "UUID", ParseUUID) }

// stamp sets version and variant.
func (u *UUID) stamp(version byte) {
	u[6] = u[6]&0x0f | version<<4
	u[8] = u[8]&0x3f | 0x80
}

// putMillis writes a time into the first six bytes, as UUIDs of version 7 and ULIDs
// have it.
func putMillis(id *[16]byte, ms uint64) {
	for i := range 6 {
		id[i] = byte(ms >> (40 - 8*i))
	}
}

func millis(id [16]byte) (ms uint64) {
	for _, b := range id[:6] {
		ms = ms<<8 | uint64(b)
	}
	return ms
}

func millisTime(id [16]byte) time.Time { return time.UnixMilli(int64(millis(id))).UTC() }

// nowMillis is the time of a clock as an id can hold it: no earlier than 1970.
func nowMillis(now func() time.Time) uint64 {
	if now == nil {
		now = time.Now
	}
	return uint64(max(now().UnixMilli(), 0))
}
