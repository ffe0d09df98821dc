package storeurl

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
)

// The words for TLS of MySQL and Redis, which are those of go-sql-driver/mysql.
const (
	tlsVerified   = "true"
	tlsUnverified = "skip-verify"
	tlsPreferred  = "preferred"
	tlsOff        = "false"
)

// certificates are the parameters that name files, and the name in the server's.
var certificates = []parameter{{"tls_ca", anything}, {"tls_cert", anything}, {"tls_key", anything}, {"tls_name", anything}}

func (a *address) usesCertificates() bool {
	return a.params["tls_ca"] != "" || a.params["tls_cert"] != "" || a.params["tls_key"] != "" || a.params["tls_name"] != ""
}

// checkCertificates refuses those that would be without effect.
func (a *address) checkCertificates() error {
	mode := a.params["tls"]
	return errors.Join(
		refuse(a.usesCertificates() && mode != "" && mode != tlsVerified, "tls_ca, tls_cert, tls_key and tls_name need tls=true"),
		refuse((a.params["tls_cert"] == "") != (a.params["tls_key"] == ""), "tls_cert and tls_key need one another"))
}

// refuse is the error of what is bad, with its fix.
func refuse(bad bool, text string) error {
	if !bad {
		return nil
	}
	return errors.New(text)
}

// verifiedTLS checks the server's name and who vouches for it. An empty host is that
// of each connection.
func verifiedTLS(host string, params map[string]string) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: cmp.Or(params["tls_name"], host)}
	if file := params["tls_ca"]; file != "" {
		pem, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("tls_ca: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("tls_ca: %s holds no certificate in PEM form", file)
		}
	}
	if file := params["tls_cert"]; file != "" {
		pair, err := tls.LoadX509KeyPair(file, params["tls_key"])
		if err != nil {
			return nil, fmt.Errorf("tls_cert and tls_key: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}
