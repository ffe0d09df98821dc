package onetime

import (
	"encoding/base64"
	"encoding/binary"
	"time"
)

// A token is, in base64url without padding:
//
//	version 1 | key id 4 | random id 16 | expiry 8 | MAC 32
//
// The expiry is in seconds since 1970. Nothing of purpose and subject is in it; they
// are what the MAC is made of besides.
const (
	version   = 1
	bodySize  = 1 + keyIDSize + idSize + 8
	macSize   = 32
	keyIDSize = 4
	idSize    = 16
)

var (
	encoding = base64.RawURLEncoding.Strict() // one spelling for each token
	textSize = encoding.EncodedLen(bodySize + macSize)
)

// body is what of a token its MAC covers.
type body struct {
	key     keyID
	id      [idSize]byte
	expires int64
}

func (b *body) append(buf []byte) []byte {
	buf = append(append(append(buf, version), b.key[:]...), b.id[:]...)
	return binary.BigEndian.AppendUint64(buf, uint64(b.expires))
}

func (b *body) expiry() time.Time { return time.Unix(b.expires, 0).UTC() }

// parse reads a token. What is none gives the zero token, so that all the work that
// follows can be done for it as for any other.
func parse(text string) (b body, mac [macSize]byte, ok bool) {
	var raw [bodySize + macSize]byte
	if len(text) != textSize {
		return body{}, mac, false
	}
	n, err := encoding.Decode(raw[:], []byte(text))
	if err != nil || n != len(raw) || raw[0] != version {
		return body{}, mac, false
	}
	rest := raw[1:]
	rest = rest[copy(b.key[:], rest):]
	rest = rest[copy(b.id[:], rest):]
	b.expires = int64(binary.BigEndian.Uint64(rest))
	copy(mac[:], rest[8:])
	return b, mac, true
}
