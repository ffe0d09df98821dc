package engines

import (
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Options are those of a private server.
type Options struct {
	// Settings are the server's, by its own names, and prevail over the package's:
	// "synchronous_commit": "off" for PostgreSQL, "innodb_flush_log_at_trx_commit":
	// "0" for MariaDB. Default: none.
	Settings map[string]string
}

func (o *Options) settings() map[string]string {
	if o == nil {
		return nil
	}
	return o.Settings
}

// lines are the settings, one in a line.
func lines(settings map[string]string, format string) string {
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		fmt.Fprintf(&text, format+"\n", name, settings[name])
	}
	return text.String()
}

// password is the administrator's: others on this machine can connect, too, and he
// may run programs.
func password() string { return rand.Text() }
