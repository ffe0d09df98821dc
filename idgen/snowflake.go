package idgen

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// Snowflake is a 64-bit id that sorts by time: the sign bit is 0, then come
// milliseconds, worker id and sequence as a [Layout] has them. A [Node] issues them.
//
// In JSON it is a string: JavaScript reads numbers over 2^53 as other ones. A JSON number
// is refused, since it may have lost its last digits on its way.
type Snowflake int64

var errSnowflake = errors.New("idgen: a 64-bit id is a decimal number from 0 to 9223372036854775807, without sign and leading zeros")

// ParseSnowflake reads the canonical text, as [Snowflake.String] writes it.
func ParseSnowflake(s string) (Snowflake, error) {
	id, err := strconv.ParseInt(s, 10, 64)
	if err != nil || id < 0 || strconv.FormatInt(id, 10) != s {
		return 0, errSnowflake
	}
	return Snowflake(id), nil
}

// String returns the id in decimal.
func (s Snowflake) String() string { return strconv.FormatInt(int64(s), 10) }

// Time returns the id's moment, in milliseconds, in the default layout; see
// [Layout.Time] for others.
func (s Snowflake) Time() time.Time { return Layout{}.Time(s) }

// Worker returns the id of the worker that issued it, in the default layout; see
// [Layout.Worker] for others.
func (s Snowflake) Worker() int { return Layout{}.Worker(s) }

// MarshalText returns the id in decimal; encoding/json makes a string of it.
func (s Snowflake) MarshalText() ([]byte, error) { return strconv.AppendInt(nil, int64(s), 10), nil }

// UnmarshalText is [ParseSnowflake]; encoding/json uses it.
func (s *Snowflake) UnmarshalText(text []byte) error {
	parsed, err := ParseSnowflake(string(text))
	if err == nil {
		*s = parsed
	}
	return err
}

// Value gives a database the number: for bigint.
func (s Snowflake) Value() (driver.Value, error) { return int64(s), nil }

// Scan reads a column with the number, or with its text.
func (s *Snowflake) Scan(src any) error {
	switch v := src.(type) {
	case int64:
		if v < 0 {
			return fmt.Errorf("idgen: the column holds %d: %w", v, errSnowflake)
		}
		*s = Snowflake(v)
		return nil
	case string:
		return s.UnmarshalText([]byte(v))
	case []byte:
		return s.UnmarshalText(v)
	}
	return unscannable("Snowflake", src)
}
