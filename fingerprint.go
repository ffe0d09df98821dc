package semel

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
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

func (in Input) check() error {
	if !in.set {
		return errors.New("semel: the operation has no Input; pass what the key stands for (InputJSON, InputBytes), or say semel.NoInput")
	}
	return in.err
}

// fingerprint digests the input. Each part is preceded by its length, so that
// borders count, and the whole by the number of parts.
func (in Input) fingerprint(secret []byte) Fingerprint {
	var h hash.Hash
	if len(secret) > 0 {
		h = hmac.New(sha256.New, secret)
	} else {
		h = sha256.New()
	}
	head := make([]byte, 0, 64)
	head = appendPart(head, "semel/fingerprint/1")
	h.Write(appendLen(head, len(in.parts)))
	for _, p := range in.parts {
		h.Write(appendLen(head[:0], len(p)))
		h.Write(p)
	}
	fp := Fingerprint{fingerprintVersion}
	h.Sum(fp[1:1])
	return fp
}
