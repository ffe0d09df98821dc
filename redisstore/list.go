package redisstore

import (
	"context"
	"crypto/sha1"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/semel-go/semel"
)

// cursor is where the next page begins: in which server's keys, with which cursor of
// SCAN, and the keys that were seen and did not fit on the last page.
type cursor struct {
	Servers string `json:"a,omitempty"` // all of them, in short
	Server  string `json:"s,omitempty"`
	Run     string `json:"r,omitempty"` // of the server, which forgets its order when it starts anew
	Scan    uint64 `json:"c,omitempty"`
	Seen    []byte `json:"k,omitempty"` // keys of 16 bytes
}

var (
	errCursor  = errors.New("redisstore: the cursor is none of this store's; begin with an empty one")
	errServers = errors.New("redisstore: a server was restarted, or others have taken its place, so that the list cannot go on; begin anew")
)

func parseCursor(text string) (c cursor, err error) {
	if text == "" {
		return c, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || json.Unmarshal(b, &c) != nil || c.Server == "" || len(c.Seen)%len(semel.KeyID{}) != 0 {
		return c, errCursor
	}
	return c, nil
}

func (c *cursor) String() (string, error) {
	b, err := json.Marshal(c)
	return base64.RawURLEncoding.EncodeToString(b), err
}

// List is [semel.Lister]: one step of SCAN a page, on one server after the other, which
// blocks none. A record may be told of twice while Redis changes the size of its table,
// and twice or not at all if its slot moves to another server meanwhile. After a restart
// or a failover the pages that are left are an error: a list begins anew then.
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
	client, next, err := s.server(ctx, &c)
	if err != nil {
		return res, err
	}
	limit := min(max(p.Limit, 1), 1000)
	if len(c.Seen) == 0 {
		if err := s.scan(ctx, client, &c, limit); err != nil {
			return res, err
		}
	}
	page := c.Seen[:min(len(c.Seen), limit*len(semel.KeyID{}))]
	c.Seen = c.Seen[len(page):]
	if res.Records, err = s.records(ctx, client, page, &p); err != nil {
		return res, err
	}
	switch {
	case len(c.Seen) > 0, c.Scan != 0:
	case next == "":
		return res, nil
	default:
		c = cursor{Servers: c.Servers, Server: next}
	}
	res.Next, err = c.String()
	return res, err
}

// server returns the server of a cursor, and the one after it in the order of addresses,
// if there is one.
func (s *Store) server(ctx context.Context, c *cursor) (found *redis.Client, next string, err error) {
	clients, err := s.servers(ctx)
	if err != nil {
		return nil, "", err
	}
	address := func(c *redis.Client) string { return c.Options().Addr }
	slices.SortFunc(clients, func(a, b *redis.Client) int { return strings.Compare(address(a), address(b)) })
	all := sha1.New()
	for _, client := range clients {
		_, _ = io.WriteString(all, address(client)+"\n") // a hash takes all
	}
	servers := base64.RawURLEncoding.EncodeToString(all.Sum(nil)[:6])
	if c.Server == "" && len(clients) > 0 {
		*c = cursor{Servers: servers, Server: address(clients[0])}
	}
	at := slices.IndexFunc(clients, func(client *redis.Client) bool { return address(client) == c.Server })
	if at < 0 || c.Servers != servers {
		return nil, "", errServers
	}
	if at+1 < len(clients) {
		next = address(clients[at+1])
	}
	return clients[at], next, nil
}

// scan makes one step through the keys. A step may find none, or more than it was asked
// for. The cursor 0 is the beginning, and the end.
func (s *Store) scan(ctx context.Context, client *redis.Client, c *cursor, count int) error {
	pipe := client.Pipeline()
	info := pipe.Info(ctx, "server")
	scan := pipe.Scan(ctx, c.Scan, glob(s.options.Prefix)+strings.Repeat("?", 2*len(semel.KeyID{})), int64(count))
	_, _ = pipe.Exec(ctx) // each command has its own error
	names, next, err := scan.Result()
	if err != nil {
		return unavailable(err)
	}
	run := infoOf(info.Val())["run_id"] // empty where INFO is forbidden
	if c.Scan != 0 && run != c.Run {
		return errServers
	}
	c.Run, c.Scan = run, next
	for _, name := range names {
		if key, err := hex.DecodeString(name[len(s.options.Prefix):]); err == nil {
			c.Seen = append(c.Seen, key...)
		}
	}
	return nil
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
