package engines

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
)

// scramIterations are those of a password in the tests, as few as lib/pq takes. The 4,096
// of PostgreSQL are most of what a new connection costs under the race detector, and a
// storm of broken connections would measure little else.
const scramIterations = 1000

// scramVerifier is what PostgreSQL stores of a password (RFC 5803), and takes in its
// place.
func scramVerifier(password string) (string, error) {
	salt := make([]byte, 16)
	rand.Read(salt) // never fails (documentation of crypto/rand)
	salted, err := pbkdf2.Key(sha256.New, password, salt, scramIterations, sha256.Size)
	if err != nil {
		return "", err
	}
	stored := sha256.Sum256(keyed(salted, "Client Key"))
	text := base64.StdEncoding.EncodeToString
	return fmt.Sprintf("SCRAM-SHA-256$%d:%s$%s:%s", scramIterations, text(salt), text(stored[:]), text(keyed(salted, "Server Key"))), nil
}

func keyed(key []byte, message string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(message))
	return mac.Sum(nil)
}
