package redisstore

import (
	"context"
	"time"

	"github.com/semel-go/semel"
)

// markPrefix stands in the names of marks, between the store's prefix and the key.
const markPrefix = "mark:"

// FirstTime marks a key for ttl and reports whether this call was the first to do so. It
// is the recipe of SET with NX and PX, in one plain command (Redis 7.0 or later): no
// lease, no fence, no result, and no record that operators see. It is for work that may
// be lost: if the process dies after the mark, nobody will do it. Unlike the recipe it
// recognises its own mark, so that a client that sends again after a lost reply does not
// take itself for a duplicate.
//
// ttl is at least one second, or [semel.Forever]. The mark is apart from the record of
// the same key; use [semel.FirstTime] for one that [semel.Do] knows of.
func (s *Store) FirstTime(ctx context.Context, key semel.KeyID, ttl time.Duration) (bool, error) {
	if err := refuse(ttl < time.Second, "ttl %v is below 1s; use 1s or more, or semel.Forever", ttl); err != nil {
		return false, err
	}
	token := semel.NewToken()
	c := &call{key: s.options.Prefix + markPrefix + key.String(), params: token[:], span: (microseconds(ttl) + 999) / 1000}
	if err := s.do(ctx, c); err != nil {
		return false, err
	}
	return c.reply == nil || c.reply == string(token[:]), nil
}
