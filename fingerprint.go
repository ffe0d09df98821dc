package semel

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"

	"github.com/semel-go/semel/internal/canonjson"
)

// Fingerprint is the digest of the request that a key stands for: one byte of
// version, then HMAC-SHA-256 of the input under the engine's secret (plain
// SHA-256 without one).
type Fingerprint [1 + sha256.Size]byte

const fingerprintVersion = 1

// Input is what the fingerprint of an operation is made of. The same key with
// another input is refused with a [*MismatchError]. The zero Input is refused:
// where there is nothing to compare, say [NoInput].
type Input struct {
	parts [][]byte
	set   bool
	err   error
}

// NoInput is the input of operations whose key says everything.
var NoInput = Input{set: true}

// InputBytes makes an input of parts. Their borders count: ("ab","c") differs
// from ("a","bc"), and no part from one empty part.
func InputBytes(parts ...[]byte) Input { return Input{parts: parts, set: true} }

// InputString is [InputBytes] for strings.
func InputString(parts ...string) Input {
	b := make([][]byte, len(parts))
	for i, p := range parts {
		b[i] = []byte(p)
	}
	return InputBytes(b...)
}

// InputJSON makes an input of v as encoding/json writes it: struct fields in
// their order, maps sorted by key. A value that cannot be encoded is refused when
// the operation begins.
func InputJSON(v any) Input {
	b, err := json.Marshal(v)
	if err != nil {
		return Input{set: true, err: fmt.Errorf("semel: the input cannot be encoded as JSON; use InputBytes: %w", err)}
	}
	return InputBytes(b)
}

// InputJSONText makes an input of JSON text by its meaning: the order of members,
// whitespace and the spelling of numbers and strings do not count. Numbers are exact:
// 1, 1.0 and 1e0 are equal, 9007199254740993 and 9007199254740992 are not. fields
// says which values count; nil: all. A text with two members of one name, or of names
// that differ only in case, is refused with [ErrAmbiguousInput] when the operation
// begins, since parsers disagree about which one counts; one that is no JSON counts
// byte by byte.
func InputJSONText(text []byte, fields *JSONFields) Input {
	var sel *canonjson.Selection
	if fields != nil {
		sel = fields.sel
	}
	sum, err := canonjson.Digest(text, sel)
	switch {
	case errors.Is(err, canonjson.ErrDuplicate):
		return Input{set: true, err: ErrAmbiguousInput}
	case err != nil:
		return InputBytes([]byte("raw"), text)
	}
	return InputBytes([]byte("json"), sum[:])
}

// JSONFields says which values of a JSON text count for its fingerprint.
type JSONFields struct{ sel *canonjson.Selection }

// SelectJSON makes a selection of JSON pointers (RFC 6901). With include, only the
// values there count; what is at a pointer of ignore never does. A pointer that
// leads nowhere in a text selects nothing in it. The error names what is no pointer.
func SelectJSON(include, ignore []string) (*JSONFields, error) {
	sel, err := canonjson.NewSelection(include, ignore)
	if err != nil {
		return nil, fmt.Errorf("semel: %w", err)
	}
	return &JSONFields{sel}, nil
}

func (in Input) check() error {
	if !in.set {
		return errors.New("semel: the operation has no Input; pass what the key stands for (InputJSON, InputBytes), or say semel.NoInput")
	}
	return in.err
}

// fingerprint digests the input: the number of parts, and each part preceded by
// its length, so that borders count.
func (in Input) fingerprint(secret []byte) Fingerprint {
	fp := Fingerprint{fingerprintVersion}
	if size := in.size(); len(secret) == 0 && size <= 512 { // in one piece, on the stack
		buf := appendLen(appendPart(make([]byte, 0, 600), fingerprintPrefix), len(in.parts))
		for _, p := range in.parts {
			buf = appendPart(buf, p)
		}
		sum := sha256.Sum256(buf)
		copy(fp[1:], sum[:])
		return fp
	}
	h := newDigest(secret)
	h.Write(appendLen(appendPart(nil, fingerprintPrefix), len(in.parts)))
	for _, p := range in.parts {
		h.Write(appendLen(nil, len(p)))
		h.Write(p)
	}
	copy(fp[1:], h.Sum(nil))
	return fp
}

const fingerprintPrefix = "semel/fingerprint/1"

func newDigest(secret []byte) hash.Hash {
	if len(secret) == 0 {
		return sha256.New()
	}
	return hmac.New(sha256.New, secret)
}

// size is what the parts take with their lengths.
func (in Input) size() (n int) {
	for _, p := range in.parts {
		n += 8 + len(p)
	}
	return n
}
