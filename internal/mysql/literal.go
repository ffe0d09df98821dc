package mysql

import (
	"bytes"
	"encoding/hex"
	"strconv"

	"github.com/semel-go/semel/internal/sqlrecord"
)

// A statement for a batch is one of its kind, which a server had better not prepare.
// All bytes stand in it as hexadecimal literals: no mode of quoting, character set
// or setting of a driver has a say in them.

// literal appends to a statement.
type literal []byte

func (l *literal) text(s string) { *l = append(*l, s...) }

func (l *literal) bytes(b []byte) {
	*l = append(*l, "x'"...)
	*l = hex.AppendEncode(*l, b)
	*l = append(*l, '\'')
}

func (l *literal) number(n int64) { *l = strconv.AppendInt(*l, n, 10) }

// insertSize is the length of one record in an insert, without its texts.
const insertSize = 450

// insertText is insertRecord for several keys.
func (d dialect) insertText(claims []*claim, least int64) string {
	l := make(literal, 0, 512+insertSize*len(claims))
	l.text(d.expand("{bounded} " + insertHead))
	fresh := d.expand("(LAST_INSERT_ID({now}),")
	for i, c := range claims {
		if i > 0 {
			l.text(",")
		}
		l.text(fresh)
		l.record(c, least)
	}
	l.text(insertTail)
	return string(l)
}

func (l *literal) record(c *claim, least int64) {
	r := sqlrecord.Fresh(&c.p, 0, 0)
	m, d := expiryOf(c.p.Retention)
	l.bytes(r.Key)
	l.text(",1,")
	l.number(int64(r.State))
	l.text(",")
	l.number(int64(r.Policy))
	l.text(",")
	l.bytes(r.Token)
	l.text(",GREATEST(started_at,")
	l.number(least)
	l.text("),1,started_at+")
	l.number(r.LeaseUntil)
	l.text(",started_at*")
	l.number(m)
	l.text("+")
	l.number(d)
	l.text(",0,0,")
	l.bytes(r.Fingerprint)
	l.text(",")
	l.bytes(r.ScopeID)
	l.text(",")
	l.bytes([]byte(r.Operation))
	l.text(",")
	l.bytes([]byte(r.KeyText))
	l.text(",")
	l.number(int64(r.ResultKind))
	l.text(")")
}

// keys appends "x'…',x'…'".
func (l *literal) keys(n int, key func(i int) []byte) {
	for i := range n {
		if i > 0 {
			l.text(",")
		}
		l.bytes(key(i))
	}
}

// selectText is selectRecord for several keys.
func (d dialect) selectText(n int, key func(i int) []byte) string {
	l := make(literal, 0, 512+36*n)
	l.text(d.expand(selectHead + " WHERE r.key IN ("))
	l.keys(n, key)
	l.text(") ORDER BY r.key")
	return string(l)
}

// column appends an expression that is value(i) in the row of the i-th key: written
// once if all are the same, else picked by the position of the row's key.
func (l *literal) column(n int, keys string, value func(l *literal, i int)) {
	var all literal
	value(&all, 0)
	first, same := len(all), true
	for i := 1; i < n; i++ {
		all.text(",")
		begin := len(all)
		value(&all, i)
		same = same && bytes.Equal(all[begin:], all[:first])
	}
	if same {
		*l = append(*l, all[:first]...)
		return
	}
	l.text("ELT(FIELD(r.key," + keys + "),")
	*l = append(*l, all...)
	l.text(")")
}

// integer is column for numbers, which ELT would turn into text.
func (l *literal) integer(n int, keys string, value func(i int) int64) {
	l.text("CAST(")
	l.column(n, keys, func(l *literal, i int) { l.number(value(i)) })
	l.text(" AS SIGNED)")
}

// result appends bytes that may be NULL.
func (l *literal) result(b []byte) {
	if b == nil {
		l.text("NULL")
		return
	}
	l.bytes(b)
}
