package engines

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// NewRedisTLS is a server for this test alone that speaks TLS only, with a certificate of
// its own. Its TLS method is how to trust it.
func NewRedisTLS(t testing.TB) *RedisServer {
	t.Helper()
	return private(t, startRedisTLS)
}

func startRedisTLS(g *group) (*RedisServer, error) {
	r, err := newRedis(g, "redis-server", password(), nil)
	if err != nil {
		return nil, err
	}
	r.scheme = "rediss"
	certificate, key, err := selfSigned()
	if err != nil {
		return nil, err
	}
	r.trusted = x509.NewCertPool()
	r.trusted.AppendCertsFromPEM(certificate)
	err = errors.Join(
		os.WriteFile(filepath.Join(r.dir, "cert.pem"), certificate, 0o600),
		os.WriteFile(filepath.Join(r.dir, "key.pem"), key, 0o600),
		r.configure(redisSettings(), map[string]string{
			"port": "0", "tls-port": fmt.Sprint(r.port), "tls-cert-file": filepath.Join(r.dir, "cert.pem"), "tls-key-file": filepath.Join(r.dir, "key.pem"),
			"tls-auth-clients": "no", "requirepass": r.password,
		}))
	if err != nil {
		return nil, err
	}
	return r, g.start(r.instance)
}

// TLS is the configuration of a client that trusts the server; nil for one without TLS.
func (r *RedisServer) TLS() *tls.Config {
	if r.trusted == nil {
		return nil
	}
	return &tls.Config{RootCAs: r.trusted, ServerName: "localhost"}
}

// selfSigned is a certificate of localhost for an hour, and its key, in PEM.
func selfSigned() (certificate, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"},
		NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true,
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		return nil, nil, err
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded}), err
}
