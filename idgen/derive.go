package idgen

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"

	"github.com/semel-go/semel"
)

// Derive returns the UUID that belongs to parts within scope: the same one whenever
// and wherever it is asked for, another one for other parts. Use it as primary key of
// what must be there once, such as the invoice of an order: the second insert of
// it is a duplicate key.
//
// The derivation is public and versioned: the first 16 bytes of SHA-256 over
// "semel/uuid/1", the scope's principal, its operation, and the parts, each preceded by
// its length as a big-endian uint64; then version 8 and the variant of RFC 9562
// are set. Parts are compared byte by byte, and their borders count. It is framed like
// [semel.KeyOf], whose first word is another one: an id that was published says
// nothing of the record's key, nor of the keys that [semel.Key.Derive] gives to calls
// of other services. For those use that, since it is the same on every attempt of one
// operation.
//
// Whoever knows the parts can compute the id. An empty principal, no parts or only
// empty parts are an error, as with semel.KeyOf.
func Derive(scope semel.Scope, parts ...string) (UUID, error) {
	if semel.KeyOf(scope, parts...).ID() == (semel.KeyID{}) {
		return UUID{}, errors.New("idgen: nothing to derive an id from; name the scope's principal (or semel.Global) and a part that is not empty")
	}
	buf := make([]byte, 0, 256)
	for _, part := range append([]string{"semel/uuid/1", scope.Principal, scope.Operation}, parts...) {
		buf = binary.BigEndian.AppendUint64(buf, uint64(len(part)))
		buf = append(buf, part...)
	}
	sum := sha256.Sum256(buf)
	u := UUID(sum[:16])
	u.stamp(8)
	return u, nil
}
