package engines

import (
	"net/url"
	"regexp"
)

var mysqlAddress = regexp.MustCompile(`@tcp\([^)]*\)`)

// Through is a DSN, of PostgreSQL, MySQL or Redis, with another address (host:port): that of
// a standby, of PgBouncer or of a proxy.
func Through(dsn, addr string) string {
	if at := mysqlAddress.FindStringIndex(dsn); at != nil {
		return dsn[:at[0]] + "@tcp(" + addr + ")" + dsn[at[1]:]
	}
	u, err := url.Parse(dsn)
	if err != nil {
		return dsn // it was not made here; the driver will say what is wrong with it
	}
	u.Host = addr
	return u.String()
}
