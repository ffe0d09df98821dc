package storeurl

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/go-sql-driver/mysql"
)

// mysqlPassword is the variable that MySQL's own programs read.
const mysqlPassword = "MYSQL_PWD"

var mysqlParameters = append([]parameter{
	{"socket", anything},
	{"tls", oneOf(tlsVerified, tlsUnverified, tlsPreferred, tlsOff)},
	{"tls_ca", anything},
	{"tls_cert", anything},
	{"tls_key", anything},
	{"tls_name", anything},
	{"allowCleartextPasswords", oneOf("true", "false")},
}, shared...)

// The words of go-sql-driver/mysql for TLS.
const (
	tlsVerified   = "true"
	tlsUnverified = "skip-verify"
	tlsPreferred  = "preferred"
	tlsOff        = "false"
)

// checkMySQL refuses what contradicts itself, or would be silently without effect.
func checkMySQL(a address) error {
	socket, mode := a.params["socket"], a.params["tls"]
	var errs []error
	refuse := func(bad bool, text string) {
		if bad {
			errs = append(errs, errors.New(text))
		}
	}
	refuse(a.user == "", "name the user before the host: mysql://USER:PASSWORD@HOST/DATABASE")
	refuse(len(a.hosts) > 1, "one host can be named: MySQL's addresses have no list; let a name or a proxy lead to the primary")
	refuse(socket == "" && len(a.hosts) == 0, "name the host after the @, or a socket: ?socket=/run/mysqld/mysqld.sock")
	refuse(socket != "" && len(a.hosts) > 0, "a socket and a host are there; take one of them out")
	refuse(socket != "" && (mode != "" || a.usesCertificates()), "a socket has no TLS; take the tls parameters out")
	refuse(a.usesCertificates() && mode != "" && mode != tlsVerified, "tls_ca, tls_cert, tls_key and tls_name need tls=true")
	refuse(a.params["allowCleartextPasswords"] == "true" && socket == "" && mode != tlsVerified && !a.usesCertificates(),
		"allowCleartextPasswords would send the password in the clear; add tls=true")
	refuse((a.params["tls_cert"] == "") != (a.params["tls_key"] == ""), "tls_cert and tls_key need one another")
	return errors.Join(errs...)
}

func (a *address) usesCertificates() bool {
	return a.params["tls_ca"] != "" || a.params["tls_cert"] != "" || a.params["tls_key"] != "" || a.params["tls_name"] != ""
}

// driverConfig translates an address in which check and checkMySQL have found
// nothing wrong. The settings go to the driver as they are: its own text form has
// no escapes for a password.
func driverConfig(a address) (*mysql.Config, error) {
	cfg := mysql.NewConfig()
	cfg.User, cfg.Passwd, cfg.DBName = a.user, a.password, a.database
	if !a.hasPassword {
		cfg.Passwd = os.Getenv(mysqlPassword)
	}
	cfg.Net, cfg.Addr = "unix", a.params["socket"]
	if len(a.hosts) > 0 {
		cfg.Net, cfg.Addr = "tcp", a.hosts[0]
	}
	cfg.Timeout = time.Duration(a.int(connectTimeout, defaultConnectTimeout)) * time.Second
	cfg.AllowCleartextPasswords = a.params["allowCleartextPasswords"] == "true"
	cfg.RejectReadOnly = true                                       // after a failover: the connection leads to a server that is no primary any more
	cfg.Params = map[string]string{"innodb_lock_wait_timeout": "1"} // see sqlstore.NewMySQL
	cfg.ConnectionAttributes = "program_name:semel"
	cfg.Logger = &mysql.NopLogger{} // what it would say comes as an error too
	return cfg, setTLS(cfg, a)
}

func setTLS(cfg *mysql.Config, a address) error {
	mode := a.params["tls"]
	switch {
	case cfg.Net == "unix":
		return nil
	case mode == "" && a.usesCertificates():
		mode = tlsVerified
	case mode == "":
		mode = tlsPreferred // as MySQL's own programs
	}
	if mode != tlsVerified {
		cfg.TLSConfig = mode
		return nil
	}
	var err error
	cfg.TLS, err = verifiedTLS(cfg.Addr, a.params)
	return err
}

// verifiedTLS checks the server's name and who vouches for it.
func verifiedTLS(addr string, params map[string]string) (*tls.Config, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
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

// mysqlName is where the connections lead, without credentials.
func mysqlName(cfg *mysql.Config) string {
	if cfg.Net == "unix" {
		return fmt.Sprintf("mysql:///%s?socket=%s", cfg.DBName, cfg.Addr)
	}
	return fmt.Sprintf("mysql://%s/%s", cfg.Addr, cfg.DBName)
}

func mysqlWarnings(cfg *mysql.Config) []string {
	host, _, err := net.SplitHostPort(cfg.Addr)
	if err != nil || !isElsewhere(host) || cfg.TLS != nil {
		return nil
	}
	return exposed(cfg.TLSConfig != tlsUnverified, cfg.TLSConfig == tlsUnverified, "tls=true")
}
