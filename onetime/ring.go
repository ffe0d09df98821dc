package onetime

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
)

// minSecret is the least size of a secret in bytes.
const minSecret = 32

// keyID names a secret. It is a digest of it, so that nobody has to give out names.
type keyID [keyIDSize]byte

// ring holds the secrets: the first one signs, all of them verify.
type ring struct {
	keys []key
	hash func() hash.Hash
}

type key struct {
	id     keyID
	secret []byte
}

func newRing(secrets [][]byte) (*ring, error) {
	if len(secrets) == 0 {
		return nil, errors.New("onetime: there is no secret; pass one of 32 random bytes, the same in all processes, made for instance with: openssl rand -hex 32")
	}
	r := &ring{hash: sha256.New}
	for i, secret := range secrets {
		if len(secret) < minSecret {
			return nil, fmt.Errorf("onetime: secret %d has %d bytes, which may be guessed; use 32 random bytes or more, made for instance with: openssl rand -hex 32", i+1, len(secret))
		}
		k := key{secret: bytes.Clone(secret)}
		copy(k.id[:], digest(sha256.New, secret, "semel/onetime/key/1"))
		if _, known := r.find(k.id); known {
			return nil, fmt.Errorf("onetime: secret %d stands there twice; take one of the two out", i+1)
		}
		r.keys = append(r.keys, k)
	}
	return r, nil
}

// find returns the key of a token, and the first one in place of one that is not
// there. It looks at all of them whatever it finds.
func (r *ring) find(id keyID) (k *key, known bool) {
	at, found := 0, 0
	for i := range r.keys {
		same := subtle.ConstantTimeCompare(r.keys[i].id[:], id[:])
		at = subtle.ConstantTimeSelect(same, i, at)
		found |= same
	}
	if len(r.keys) == 0 {
		return nil, false
	}
	return &r.keys[at], found == 1
}

// mac is the MAC of a token for purpose and subject.
func (r *ring) mac(k *key, b *body, purpose, subject string) []byte {
	return digest(r.hash, k.secret, "semel/onetime/1", purpose, subject, string(b.append(nil)))
}

// digest is HMAC over the parts, each preceded by its length, so that borders count.
func digest(hash func() hash.Hash, secret []byte, parts ...string) []byte {
	m := hmac.New(hash, secret)
	var size [8]byte
	for _, part := range parts {
		binary.BigEndian.PutUint64(size[:], uint64(len(part)))
		m.Write(size[:])
		m.Write([]byte(part))
	}
	return m.Sum(nil)
}
