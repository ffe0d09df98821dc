package semelhttp

import (
	"net/http"
	"slices"
	"strings"

	"github.com/semel-go/semel"
)

// maxRecordedHeader is the size from which on a header makes an answer too large to
// be recorded, whatever its body.
const maxRecordedHeader = 64 << 10

// result is the answer as stores keep it. It is called when the handler is done
// and before anything was sent, or everything was.
func (c *capture) result() semel.StoredResult {
	if c.lossy || c.over || c.status == http.StatusSwitchingProtocols {
		return c.tombstone()
	}
	if c.declared >= 0 && bodyAllowed(c.status) && c.declared != c.written {
		return c.tombstone() // the client sees a broken answer; a replay could not be one
	}
	if !c.live {
		c.sniffed = sniff(&c.memory.sent, c.status, c.memory.body)
	}
	m := c.memory
	m.pairs = c.headerPairs(m.pairs[:0])
	if m.token != nil {
		m.pairs = append(m.pairs, HeaderPair{Name: contentField, Value: m.token.content})
	}
	header := len(m.pairs)
	m.pairs = c.trailerPairs(m.pairs)
	result := m.encoder.encode(&Response{Status: c.status, Header: m.pairs[:header], Trailer: m.pairs[header:], Body: m.body})
	if len(result.Data)-len(m.body) > maxRecordedHeader {
		return c.tombstone()
	}
	return result
}

// tombstone is the result of an answer that is not kept.
func (c *capture) tombstone() semel.StoredResult {
	t := tombstone(c.status)
	t.Data = c.memory.token.remark(t.Data)
	return t
}

// headerPairs appends the header fields that are the handler's: what an outer
// layer had set before is not, since the replay passes through that layer too.
func (c *capture) headerPairs(pairs []HeaderPair) []HeaderPair {
	rules := &c.m.rules
	connection, _ := c.memory.sent.get("Connection")
	for name, values := range c.memory.sent.all {
		if strings.HasPrefix(name, http.TrailerPrefix) || !rules.keeps(name, connection) {
			continue
		}
		before, _ := c.memory.entry.get(name)
		if slices.Equal(before, values) {
			continue
		}
		added := len(before) > 0 && len(before) < len(values) && slices.Equal(before, values[:len(before)])
		if added {
			values = values[len(before):]
		}
		pairs = rules.appendPairs(pairs, name, values, added)
	}
	if c.sniffed != "" {
		pairs = append(pairs, HeaderPair{Name: "Content-Type", Value: c.sniffed})
	}
	return sortPairs(pairs)
}

func (c *capture) trailerPairs(pairs []HeaderPair) []HeaderPair {
	first := len(pairs)
	for name, values := range c.under.Header() {
		plain := strings.TrimPrefix(name, http.TrailerPrefix)
		if c.memory.sent.isTrailer(name) && c.m.rules.keeps(plain, nil) {
			pairs = c.m.rules.appendPairs(pairs, name, values, false)
		}
	}
	sortPairs(pairs[first:])
	return pairs
}

func (r *recordRules) appendPairs(pairs []HeaderPair, name string, values []string, added bool) []HeaderPair {
	cookie := strings.EqualFold(name, "Set-Cookie")
	for _, v := range values {
		v, ok := fieldValue(v)
		if ok && (!cookie || r.keepsCookie(v)) {
			pairs = append(pairs, HeaderPair{Name: name, Value: v, Added: added})
		}
	}
	return pairs
}

// sortPairs orders by name, so that equal answers have equal records, and keeps
// the order of one name's values.
func sortPairs(pairs []HeaderPair) []HeaderPair {
	slices.SortStableFunc(pairs, func(a, b HeaderPair) int { return strings.Compare(a.Name, b.Name) })
	return pairs
}
