package settings

import (
	"net/url"
	"strings"

	"github.com/spf13/pflag"

	"github.com/semel-go/semel/cmd/semel/internal/storeurl"
)

// Setting is a flag's effective text, without secrets, and where it comes from.
type Setting struct{ Name, Value, From string }

func settingsOf(fs *pflag.FlagSet) []Setting {
	list := make([]Setting, len(proxyFlags))
	for i, f := range proxyFlags {
		t := flagText(fs, f.name)
		from := strings.TrimSuffix(t.from, ": "+f.name)
		if from == "" {
			from = "default"
		}
		list[i] = Setting{f.name, withoutSecrets(f, t.value), from}
	}
	return list
}

// withoutSecrets hides what an address may hold of them: password and query.
func withoutSecrets(f flag, value string) string {
	switch {
	case f.name == "store":
		return storeurl.Redacted(value)
	case !strings.Contains(f.kind, "URL"):
		return value
	}
	u, err := url.Parse(value)
	if err != nil {
		return "xxxxx"
	}
	if u.RawQuery != "" {
		u.RawQuery = "xxxxx"
	}
	if u.User == nil && u.RawQuery == "" {
		return value
	}
	return u.Redacted()
}

// withoutUserinfo hides what stands before an @ of an address that need not be one:
// no parser says where its password ends.
func withoutUserinfo(address string) string {
	at := strings.LastIndex(address, "@")
	if at < 0 {
		return address
	}
	for _, scheme := range []string{"http://", "https://"} {
		if strings.HasPrefix(address, scheme) {
			return scheme + "xxxxx" + address[at:]
		}
	}
	return "xxxxx" + address[at:]
}
