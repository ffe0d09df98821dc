package token

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const (
	// refreshEvery is for how long keys are used before they are read again: a key
	// that the issuer took out counts no longer than this.
	refreshEvery = 5 * time.Minute
	// refreshPause is the least time between two tries. Tokens with unknown keys
	// make one more try, so whoever invents such tokens causes no flood.
	refreshPause = 10 * time.Second
	readTimeout  = 3 * time.Second
	maxSetSize   = 1 << 20
	minRSABits   = 2048
)

// Keys is the set of public keys whose tokens count, read from a file or URL. It
// is read again when it is old or a token names an unknown key; while it cannot
// be read, the last good keys count. All methods may be called concurrently.
type Keys struct {
	source string
	client *http.Client
	tell   func(error)
	now    func() time.Time

	mu     sync.Mutex
	keys   []jose.JSONWebKey
	read   time.Time     // when keys were read
	tried  time.Time     // when they were last tried to be read
	flight chan struct{} // closed at the end of the try under way, nil between
}

// Open reads the keys of source, a file or an http or https URL. The try and all
// later ones are reported to tell, which may be called concurrently.
func Open(ctx context.Context, source string, tell func(error)) (*Keys, error) {
	k := newKeys(source, tell)
	if err := k.Refresh(ctx); err != nil {
		return nil, err
	}
	return k, nil
}

func newKeys(source string, tell func(error)) *Keys {
	return &Keys{source: source, tell: tell, now: time.Now, client: &http.Client{
		// A transport of its own: no proxy from the environment, and nothing shared.
		Transport:     &http.Transport{DisableKeepAlives: true, ForceAttemptHTTP2: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       readTimeout,
	}}
}

// IsURL reports whether source is an address and not a file.
func IsURL(source string) bool {
	return strings.HasPrefix(source, "http://") || strings.HasPrefix(source, "https://")
}

// Refresh reads the keys now, or waits for the read under way. An error leaves
// the keys as they are.
func (k *Keys) Refresh(ctx context.Context) error { return k.refresh(ctx, 0) }

// refresh reads the keys if the last try was before pause, or waits for the read
// under way, which readTimeout bounds.
func (k *Keys) refresh(ctx context.Context, pause time.Duration) error {
	flight, mine := k.begin(0, pause)
	if mine {
		return k.fly(ctx, flight)
	}
	if flight != nil {
		<-flight
	}
	return nil
}

// fly reads the keys for all who wait for flight.
func (k *Keys) fly(ctx context.Context, flight chan struct{}) error {
	keys, err := k.load(context.WithoutCancel(ctx))
	k.end(keys, err)
	close(flight)
	k.tell(err)
	return err
}

// begin makes a flight the caller's if the keys are older than age, the last try
// was before pause, and none is under way.
func (k *Keys) begin(age, pause time.Duration) (flight chan struct{}, mine bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.now()
	if k.flight != nil || now.Sub(k.read) < age || now.Sub(k.tried) < pause {
		return k.flight, false
	}
	k.flight, k.tried = make(chan struct{}), now
	return k.flight, true
}

func (k *Keys) end(keys []jose.JSONWebKey, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err == nil {
		k.keys, k.read = keys, k.now()
	}
	k.flight = nil
}

// candidates are the keys that a token which names kid may be signed with. Old
// keys are read again by one caller, and count for the others meanwhile; if they
// cannot be read they go on to count.
func (k *Keys) candidates(ctx context.Context, kid string) []jose.JSONWebKey {
	if flight, mine := k.begin(refreshEvery, refreshPause); mine {
		k.fly(ctx, flight)
	}
	found := k.named(kid)
	if len(found) == 0 {
		k.refresh(ctx, refreshPause)
		found = k.named(kid)
	}
	return found
}

// named are the keys called kid; a token without a name may be anybody's.
func (k *Keys) named(kid string) []jose.JSONWebKey {
	k.mu.Lock()
	defer k.mu.Unlock()
	var found []jose.JSONWebKey
	for _, key := range k.keys {
		if kid == "" || key.KeyID == kid {
			found = append(found, key)
		}
	}
	return found
}

func (k *Keys) load(ctx context.Context) ([]jose.JSONWebKey, error) {
	read := os.ReadFile
	if IsURL(k.source) {
		read = func(address string) ([]byte, error) { return k.fetch(ctx, address) }
	}
	data, err := read(k.source)
	if err != nil {
		return nil, err
	}
	return parseSet(data)
}

func (k *Keys) fetch(ctx context.Context, address string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "application/jwk-set+json, application/json")
	res, err := k.client.Do(r)
	if err != nil {
		if failed, ok := errors.AsType[*url.Error](err); ok {
			err = failed.Err // without the address, whose query may be a secret
		}
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the server of the key set answered %d; give the address that answers with the set itself", res.StatusCode)
	}
	data, err := io.ReadAll(io.LimitReader(res.Body, maxSetSize+1))
	if err == nil && len(data) > maxSetSize {
		err = fmt.Errorf("the key set is larger than %d bytes", maxSetSize)
	}
	return data, err
}

// parseSet reads a JWK set (RFC 7517) and keeps the public keys for signatures.
// One that cannot be read, of a kind that is not known here, is left out as the
// RFC asks; secrets are never taken for keys.
func parseSet(data []byte) ([]jose.JSONWebKey, error) {
	var set struct{ Keys []json.RawMessage }
	if err := json.Unmarshal(data, &set); err != nil {
		return nil, errors.New("this is no JWK set; it begins with {\"keys\":[")
	}
	var keys []jose.JSONWebKey
	for _, raw := range set.Keys {
		var key jose.JSONWebKey
		if key.UnmarshalJSON(raw) == nil && verifies(key) {
			keys = append(keys, key.Public())
		}
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("the key set holds no public key for signatures (RSA of %d bits or more, EC or Ed25519)", minRSABits)
	}
	return keys, nil
}

func verifies(key jose.JSONWebKey) bool {
	if key.Use != "" && key.Use != "sig" {
		return false
	}
	switch public := key.Public().Key.(type) {
	case *rsa.PublicKey:
		return public.N.BitLen() >= minRSABits
	case *ecdsa.PublicKey, ed25519.PublicKey:
		return true
	}
	return false
}
