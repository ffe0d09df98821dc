package redisstore

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/semel-go/semel"
)

// cursor is where the next page begins: in which server's keys, with which cursor of
// SCAN, and the keys that were seen and did not fit on the last page.
type cursor struct {
	Server string `json:"s,omitempty"`
	Scan   uint64 `json:"c,omitempty"`
	Seen   []byte `json:"k,omitempty"` // keys of 16 bytes
}

var errCursor = errors.New("redisstore: the cursor is none of this store's; begin with an empty one")

func parseCursor(text string) (c cursor, err error) {
	if text == "" {
		return c, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || json.Unmarshal(b, &c) != nil || len(c.Seen)%len(semel.KeyID{}) != 0 {
		return c, errCursor
	}
	return c, nil
}

func (c *cursor) String() (string, error) {
	b, err := json.Marshal(c)
	return base64.RawURLEncoding.EncodeToString(b), err
}

// List is [semel.Lister]: one step of SCAN a page, on one server after the other, which
// blocks none. A record is told of twice if Redis makes its table smaller meanwhile, or
// if its slot moves to a server that is not listed yet, and missed if that one has been.
func (s *Store) List(ctx context.Context, p semel.ListParams) (res semel.ListResult, err error) {
	c, err := parseCursor(p.Cursor)
	if err != nil {
		return res, err
	}
	if ctx.Err() != nil {
		return res, ended(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, s.options.Timeout)
	defer cancel()
	client, next, err := s.server(ctx, c.Server)
	if err != nil {
		return res, unavailable(err)
	}
	limit := min(max(p.Limit, 1), 1000)
	if len(c.Seen) == 0 {
		if c.Seen, c.Scan, err = s.scan(ctx, client, c.Scan, limit); err != nil {
			return res, unavailable(err)
		}
	}
	page := c.Seen[:min(len(c.Seen), limit*len(semel.KeyID{}))]
	c.Seen = c.Seen[len(page):]
	if res.Records, err = s.records(ctx, client, page, &p); err != nil {
		return res, err
	}
	switch c.Server = client.Options().Addr; {
	case len(c.Seen) > 0, c.Scan != 0:
	case next == "":
		return res, nil
	default:
		c = cursor{Server: next}
	}
	res.Next, err = c.String()
	return res, err
}

// server returns the first server from an address on, in the order of addresses, and the
// one after it, if there is one. A server that has gone is passed over.
func (s *Store) server(ctx context.Context, from string) (found *redis.Client, next string, err error) {
	clients, err := s.route.all(ctx)
	if err != nil {
		return nil, "", err
	}
	for _, c := range clients {
		if addr := c.Options().Addr; addr >= from && (found == nil || addr < found.Options().Addr) {
			found = c
		}
	}
	if found == nil {
		return nil, "", errors.New("the servers that were not listed yet have gone; begin anew")
	}
	for _, c := range clients {
		if addr := c.Options().Addr; addr > found.Options().Addr && (next == "" || addr < next) {
			next = addr
		}
	}
	return found, next, nil
}

// scan makes one step through the keys. A step may find none, or more than it was asked
// for. The cursor 0 is the beginning, and the end.
func (s *Store) scan(ctx context.Context, client *redis.Client, from uint64, count int) (keys []byte, next uint64, err error) {
	names, next, err := client.Scan(ctx, from, glob(s.options.Prefix)+strings.Repeat("?", 2*len(semel.KeyID{})), int64(count)).Result()
	for _, name := range names {
		if key, err := hex.DecodeString(name[len(s.options.Prefix):]); err == nil {
			keys = append(keys, key...)
		}
	}
	return keys, next, err
}

// glob is a pattern that matches a text only.
func glob(text string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`).Replace(text)
}

// records reads those of a page that are wanted, all in one go.
func (s *Store) records(ctx context.Context, client *redis.Client, page []byte, p *semel.ListParams) (found []semel.Record, err error) {
	var calls []*call
	var keys []semel.KeyID
	for ; len(page) > 0; page = page[len(semel.KeyID{}):] {
		key := semel.KeyID(page)
		keys = append(keys, key)
		calls = append(calls, &call{key: s.name(key), script: &s.scripts.list})
	}
	if len(calls) == 0 {
		return nil, nil
	}
	(&primary{client: client}).send(ctx, calls)
	for i, c := range calls {
		if redirected(c.err) { // its slot has moved
			continue
		}
		if codeOf(c.err) != "WRONGTYPE" && c.err != nil {
			return nil, c.verdict()
		}
		if r := listed(keys[i], c); wanted(&r, p) {
			found = append(found, r)
		}
	}
	return found, nil
}

// listed is a record as a list shows it; none if there is none.
func listed(key semel.KeyID, c *call) semel.Record {
	unreadable := semel.Record{Key: key, State: semel.StateUnreadable}
	if c.err != nil {
		return unreadable
	}
	a, err := c.answer(key)
	if err != nil {
		return unreadable
	}
	if a.record.State == semel.StateDone {
		a.record.Result.Data = nil
	}
	return a.record
}

func wanted(r *semel.Record, p *semel.ListParams) bool {
	switch {
	case r.State == semel.StateNone:
		return false
	case p.State != semel.StateNone && r.State != p.State:
		return false
	}
	return p.ScopeID == nil || r.State != semel.StateUnreadable && r.ScopeID == *p.ScopeID
}
