package canonjson

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	// ErrSyntax: the text is no JSON (RFC 8259) that all parsers read alike: malformed,
	// more than one value, nested deeper than 10,000, not UTF-8, or with an escaped
	// surrogate that has no partner.
	ErrSyntax = errors.New("canonjson: not JSON")
	// ErrDuplicate: an object has two members of the same name, or of names that differ
	// only in case, which some parsers take for the same.
	ErrDuplicate = errors.New("canonjson: duplicate member")
)

// Digest returns the digest of the JSON text by its meaning, of the values that sel
// selects; nil selects all. Time and memory are linear in the text, whatever its
// depth. Errors: ErrSyntax, ErrDuplicate.
func Digest(text []byte, sel *Selection) (sum [sha256.Size]byte, err error) {
	if !utf8.Valid(text) || !json.Valid(text) || lonelySurrogate(text) {
		return sum, ErrSyntax
	}
	w := walk{dec: json.NewDecoder(bytes.NewReader(text)), root: frame{view: sel.view()}}
	w.dec.UseNumber()
	w.top = &w.root
	for {
		tok, err := w.dec.Token()
		if err != nil {
			return sum, ErrSyntax // json.Valid found it whole
		}
		if err := w.token(tok); err != nil {
			return sum, err
		}
		if w.top == &w.root {
			return sha256.Sum256(w.root.only()), nil
		}
	}
}

// walk keeps the open containers on a stack of its own, so that depth costs no
// recursion. A closed container is a digest in its parent, so that nothing is
// digested twice.
type walk struct {
	dec  *json.Decoder
	root frame // its only element is the document
	top  *frame
}

// frame is an open container.
type frame struct {
	parent  *frame
	object  bool
	name    string // of the member whose value comes next
	named   bool
	view    view
	members []member // of an object, in which their order does not count

	elements hash.Hash // of an array, in which it does: digested as they come
	count    int
	buf      []byte // an element on its way into the digest
}

// member is a value that counts, as its kind and its text or digest.
type member struct {
	name  string
	value []byte
}

func (w *walk) token(tok json.Token) error {
	switch t := tok.(type) {
	case json.Delim:
		if t == '{' || t == '[' {
			w.top = newFrame(w.top, t == '{')
			return nil
		}
		return w.close()
	case string:
		if w.top.object && !w.top.named {
			w.top.name, w.top.named = t, true
			return nil
		}
		w.top.add('"', t)
	case json.Number:
		w.top.add('#', canonicalNumber(t.String()))
	case bool:
		w.top.add('?', strconv.FormatBool(t))
	case nil:
		w.top.add('0', "")
	}
	return nil
}

func newFrame(parent *frame, object bool) *frame {
	f := &frame{parent: parent, object: object, view: parent.next()}
	if !object {
		f.elements = sha256.New()
	}
	return f
}

func (w *walk) close() error {
	f := w.top
	sum, err := f.digest()
	w.top = f.parent
	kind := byte('[')
	if f.object {
		kind = '{'
	}
	w.top.take(kind, string(sum[:]), f.view.counts())
	return err
}

// add adds a scalar, if it counts.
func (f *frame) add(kind byte, text string) { f.take(kind, text, f.next().leaf()) }

// take adds a value. One that does not count leaves no trace in an object, and its
// place in an array.
func (f *frame) take(kind byte, text string, counts bool) {
	if f.elements != nil {
		f.element(kind, text, counts)
		return
	}
	value := append([]byte{kind}, text...)
	if !counts {
		value = nil
	}
	f.members = append(f.members, member{f.name, value})
	f.named = false
}

// element digests an element of an array: size, kind and text.
func (f *frame) element(kind byte, text string, counts bool) {
	f.count++
	if !counts {
		f.buf = binary.BigEndian.AppendUint64(f.buf[:0], 0)
		f.elements.Write(f.buf)
		return
	}
	f.buf = binary.BigEndian.AppendUint64(f.buf[:0], uint64(1+len(text)))
	f.buf = append(f.buf, kind)
	f.buf = append(f.buf, text...)
	f.elements.Write(f.buf)
}

// next is the view of the value that comes next.
func (f *frame) next() view {
	switch {
	case f.parent == nil:
		return f.view
	case f.object:
		return f.view.child(f.name)
	case f.view.everything():
		return f.view
	}
	return f.view.child(strconv.Itoa(f.count))
}

func (f *frame) only() []byte { return f.members[0].value }

// digest closes a container: members in the order of their names, each with its
// size, so that borders count.
func (f *frame) digest() (sum [sha256.Size]byte, err error) {
	if f.elements != nil {
		f.elements.Sum(sum[:0])
		return sum, nil
	}
	if f.ambiguous() {
		return sum, ErrDuplicate
	}
	slices.SortFunc(f.members, func(a, b member) int { return strings.Compare(a.name, b.name) })
	h := sha256.New()
	for _, m := range f.members {
		if m.value == nil {
			continue
		}
		sized(h, []byte(m.name))
		sized(h, m.value)
	}
	h.Sum(sum[:0])
	return sum, nil
}

// ambiguous reports whether two names are the same to some parser: encoding/json
// matches the names of fields without regard to case.
func (f *frame) ambiguous() bool {
	names := make([]string, len(f.members))
	for i, m := range f.members {
		names[i] = strings.Map(foldRune, m.name)
	}
	slices.Sort(names)
	return len(slices.Compact(names)) < len(f.members)
}

// foldRune returns the least of the runes that differ from r only in case.
func foldRune(r rune) rune {
	least := r
	for c := unicode.SimpleFold(r); c != r; c = unicode.SimpleFold(c) {
		least = min(least, c)
	}
	return least
}

func sized(h hash.Hash, b []byte) {
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], uint64(len(b)))
	h.Write(n[:])
	h.Write(b)
}

// lonelySurrogate reports whether valid JSON escapes half a surrogate pair, which
// parsers replace, refuse or keep.
func lonelySurrogate(text []byte) bool {
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		i++ // the escaped character; valid text has one
		if text[i] != 'u' {
			continue
		}
		switch r := hex4(text[i+1:]); {
		case r >= 0xDC00 && r <= 0xDFFF:
			return true
		case r >= 0xD800 && r <= 0xDBFF:
			if !lowSurrogate(text[i+5:]) {
				return true
			}
			i += 6
		}
		i += 4
	}
	return false
}

func lowSurrogate(text []byte) bool {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return false
	}
	r := hex4(text[2:])
	return r >= 0xDC00 && r <= 0xDFFF
}

func hex4(text []byte) uint64 {
	n, err := strconv.ParseUint(string(text[:4]), 16, 32)
	if err != nil {
		return 0
	}
	return n
}
