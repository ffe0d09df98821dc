// Package webhook checks that a delivery comes from its sender, as
// standardwebhooks.com has it: an HMAC-SHA-256 of id, time and body.
package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// tolerance is how far a delivery's time may be from this host's clock.
const tolerance = 5 * time.Minute

const (
	prefix    = "whsec_"
	leastSize = 16 // bytes of a secret
)

// Verifier checks deliveries. It may be used concurrently.
type Verifier struct {
	secrets [][]byte
	now     func() time.Time
}

// Parse reads secrets as senders show them, whsec_ and base64, one a line: while one
// takes the place of another both count.
func Parse(text string) (*Verifier, error) {
	v := &Verifier{now: time.Now}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		digits, found := strings.CutPrefix(line, prefix)
		secret, err := base64.StdEncoding.DecodeString(digits)
		if !found || err != nil || len(secret) < leastSize {
			return nil, fmt.Errorf("a line is no secret; write each as the sender shows it, %s and base64 of %d bytes or more", prefix, leastSize)
		}
		v.secrets = append(v.secrets, secret)
	}
	if len(v.secrets) == 0 {
		return nil, fmt.Errorf("there is no secret; write what the sender shows, beginning with %s", prefix)
	}
	return v, nil
}

// Verify is [semelhttp.Options.Verify]. Of id and time there has to be one line each:
// of two, the service could read the other one.
func (v *Verifier) Verify(r *http.Request, body []byte) error {
	id, stamp := r.Header["Webhook-Id"], r.Header["Webhook-Timestamp"]
	if len(id) != 1 || len(stamp) != 1 {
		return errors.New("a delivery has one Webhook-Id and one Webhook-Timestamp")
	}
	seconds, err := strconv.ParseInt(stamp[0], 10, 64)
	if err != nil || v.now().Sub(time.Unix(seconds, 0)).Abs() > tolerance {
		return errors.New("the delivery is too old, or from the future")
	}
	signatures := strings.Fields(strings.Join(r.Header["Webhook-Signature"], " "))
	for _, secret := range v.secrets {
		if contains(signatures, sign(secret, id[0], stamp[0], body)) {
			return nil
		}
	}
	return errors.New("no signature is the sender's")
}

func sign(secret []byte, id, stamp string, body []byte) []byte {
	m := hmac.New(sha256.New, secret)
	m.Write([]byte(id + "." + stamp + "."))
	m.Write(body)
	return []byte("v1," + base64.StdEncoding.EncodeToString(m.Sum(nil)))
}

func contains(signatures []string, want []byte) bool {
	for _, got := range signatures {
		if hmac.Equal([]byte(got), want) {
			return true
		}
	}
	return false
}
