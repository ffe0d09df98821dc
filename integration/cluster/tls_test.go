package cluster

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/semel-go/semel/integration/internal/engines"
)

// With sslmode=verify-full and tls=true the server has to show a certificate of the
// named authority for the host of the address; anything else is no connection.
func TestVerifiedConnections(t *testing.T) {
	t.Parallel()
	good, other := newCertificate(t), newCertificate(t)
	for name, c := range map[string]struct {
		store   func(t *testing.T) string
		ca      string // parameter that names it
		further string
	}{
		"PostgreSQL": {
			store: func(t *testing.T) string {
				settings := map[string]string{"ssl": "on", "ssl_cert_file": good.cert, "ssl_key_file": good.key}
				plain := engines.NewPostgres(t, &engines.Options{Settings: settings}).Database(t)
				return strings.Replace(plain, "sslmode=disable", "sslmode=verify-full", 1)
			},
			ca: "&sslrootcert=",
		},
		"MariaDB": {
			store: func(t *testing.T) string {
				m := engines.NewMariaDB(t, &engines.Options{Settings: map[string]string{"ssl_cert": good.cert, "ssl_key": good.key}})
				return onlyOverTLS(t, mysqlURL(t, m.Database(t))) + "?tls=true"
			},
			ca: "&tls_ca=",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := c.store(t)
			must(t, "migrate", "--store", store+c.ca+good.cert)
			for problem, bad := range map[string]string{
				"another authority":   store + c.ca + other.cert,
				"the system's own":    store,
				"another host's name": strings.Replace(store, "@127.0.0.1:", "@localhost:", 1) + c.ca + good.cert,
			} {
				if out, err := semel(t, "migrate", "--store", bad); err == nil || !strings.Contains(out, "certificate") {
					t.Errorf("%s: %v\n%s", problem, err, out)
				}
			}
		})
	}
}

// onlyOverTLS is the store under a user who has to come over TLS.
func onlyOverTLS(t *testing.T, store string) string {
	t.Helper()
	role := addRole(t, store)
	role.exec(t, "GRANT ALL ON "+role.database+".* TO "+role.name, "ALTER USER "+role.name+" REQUIRE SSL")
	if out, err := semel(t, "migrate", "--store", role.url+"?tls=false"); err == nil {
		t.Errorf("the user came without TLS: %s", out)
	}
	return role.url
}

// certificate is one for 127.0.0.1 that vouches for itself, as files that a server's
// account can read.
type certificate struct{ cert, key string }

func newCertificate(t *testing.T) certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "database"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "semel-cluster-tls-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	c := certificate{filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")}
	give(t, c.cert, "CERTIFICATE", der)
	give(t, c.key, "PRIVATE KEY", private)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return c
}

// give writes a file for the account that servers run under.
func give(t *testing.T, file, kind string, der []byte) {
	t.Helper()
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() != 0 {
		return
	}
	nobody, err := user.Lookup("nobody") // see engines
	if err != nil {
		t.Fatal(err)
	}
	uid, errUID := strconv.Atoi(nobody.Uid)
	gid, errGID := strconv.Atoi(nobody.Gid)
	if errUID != nil || errGID != nil {
		t.Fatal(errUID, errGID)
	}
	if err := os.Chown(file, uid, gid); err != nil {
		t.Fatal(err)
	}
}
