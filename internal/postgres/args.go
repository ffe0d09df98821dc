package postgres

import (
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/internal/sqlrecord"
)

// micros is a duration as a parameter: microseconds, rounded up; -1 for forever.
func micros(d time.Duration) int64 {
	if d == semel.Forever {
		return -1
	}
	return sqlrecord.After(0, d)
}

// uuid is 16 bytes as a parameter that every driver passes on.
func uuid(b [16]byte) string { return hex.EncodeToString(b[:]) }

// null is b, or NULL if b is nil; some drivers make no difference.
func null(b []byte) any {
	if b == nil {
		return nil
	}
	return b
}

// array is an array as a parameter: in PostgreSQL's text form, which every driver
// passes on, and which is quicker to make than a driver's own arrays.
type array struct{ text strings.Builder }

// newArray returns an array with room for n elements of some size.
func newArray(n, size int) *array {
	a := new(array)
	a.text.Grow(n*(size+1) + 2)
	return a
}

func (a *array) next() {
	if a.text.Len() == 0 {
		a.text.WriteByte('{')
		return
	}
	a.text.WriteByte(',')
}

func (a *array) uuid(b [16]byte) {
	a.next()
	a.hex(b[:])
}

func (a *array) int(n int64) {
	a.next()
	var digits [20]byte
	a.text.Write(strconv.AppendInt(digits[:0], n, 10))
}

func (a *array) bool(b bool) {
	a.next()
	if b {
		a.text.WriteByte('t')
		return
	}
	a.text.WriteByte('f')
}

// bytes adds a bytea.
func (a *array) bytes(s string) {
	a.next()
	if s == "" {
		a.text.WriteString(`""`)
		return
	}
	a.text.WriteString(`"\\x`)
	a.hex([]byte(s))
	a.text.WriteByte('"')
}

func (a *array) hex(b []byte) {
	const digits = "0123456789abcdef"
	for _, c := range b {
		a.text.WriteByte(digits[c>>4])
		a.text.WriteByte(digits[c&15])
	}
}

// arg is the array as a parameter.
func (a *array) arg() string {
	if a.text.Len() == 0 {
		return "{}"
	}
	return a.text.String() + "}"
}

// pieces are byte strings of any length in one parameter, each with its place.
type pieces struct {
	all           []byte
	starts, sizes *array
}

func newPieces(n int) *pieces { return &pieces{starts: newArray(n, 6), sizes: newArray(n, 5)} }

// add takes nil as NULL.
func (p *pieces) add(b []byte) {
	p.starts.int(int64(len(p.all)) + 1)
	if b == nil {
		p.sizes.int(-1)
		return
	}
	p.sizes.int(int64(len(b)))
	p.all = append(p.all, b...)
}

// arg are the pieces as a parameter, never NULL.
func (p *pieces) arg() []byte {
	if p.all == nil {
		return []byte{}
	}
	return p.all
}
