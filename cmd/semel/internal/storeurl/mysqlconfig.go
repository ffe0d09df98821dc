package storeurl

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"time"

	"github.com/go-sql-driver/mysql"
)

// mysqlPassword is the variable that MySQL's own programs read.
const mysqlPassword = "MYSQL_PWD"

var mysqlParameters = slices.Concat([]parameter{
	{"socket", anything},
	{"tls", oneOf(tlsVerified, tlsUnverified, tlsPreferred, tlsOff)},
	{"allowCleartextPasswords", oneOf("true", "false")},
}, certificates, shared)

// checkMySQL refuses what contradicts itself, or would be silently without effect.
func checkMySQL(a address) error {
	socket, mode := a.params["socket"], a.params["tls"]
	return errors.Join(
		refuse(a.user == "", "name the user before the host: mysql://USER:PASSWORD@HOST/DATABASE"),
		refuse(len(a.hosts) > 1, "one host can be named: MySQL's addresses have no list; let a name or a proxy lead to the primary"),
		refuse(socket == "" && len(a.hosts) == 0, "name the host after the @, or a socket: ?socket=/run/mysqld/mysqld.sock"),
		refuse(socket != "" && len(a.hosts) > 0, "a socket and a host are there; take one of them out"),
		refuse(socket != "" && (mode != "" || a.usesCertificates()), "a socket has no TLS; take the tls parameters out"),
		refuse(a.params["allowCleartextPasswords"] == "true" && socket == "" && mode != tlsVerified && !a.usesCertificates(),
			"allowCleartextPasswords would send the password in the clear; add tls=true"),
		a.checkCertificates())
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
	host, _, err := net.SplitHostPort(cfg.Addr)
	if err != nil {
		return err
	}
	cfg.TLS, err = verifiedTLS(host, a.params)
	return err
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
	return exposed(cfg.TLSConfig != tlsUnverified, cfg.TLSConfig == tlsUnverified, "add tls=true to --store")
}
