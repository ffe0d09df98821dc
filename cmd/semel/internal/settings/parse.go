package settings

import (
	"fmt"
	"math"
	"net"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/cmd/semel/internal/storeurl"
)

// units of sizes, longest suffix first.
var units = []struct {
	suffix string
	bytes  int64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30},
	{"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1}, {"", 1},
}

// parseSize reads a whole number of bytes with an optional unit, such as 10MiB.
func parseSize(s string) (int64, error) {
	for _, u := range units {
		digits, found := strings.CutSuffix(s, u.suffix)
		if !found {
			continue
		}
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || n <= 0 || n > math.MaxInt64/u.bytes {
			break
		}
		return n * u.bytes, nil
	}
	return 0, fmt.Errorf("%q is no size; write a whole number with B, KiB, MiB or GiB, such as 10MiB", s)
}

// parseSizeOrNone takes 0B as well.
func parseSizeOrNone(s string) (int64, error) {
	if s == "0B" {
		return 0, nil
	}
	return parseSize(s)
}

// parseDuration reads a duration that is not negative.
func parseDuration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is no duration; write one such as 500ms, 30s, 24h", s)
	}
	return d, nil
}

func parseRetention(s string) (time.Duration, error) {
	if s == "forever" {
		return semel.Forever, nil
	}
	return parseDuration(s)
}

// ParseRetention reads how long a decided record stays: "forever", or 1s and
// more, since a record that is forgotten at once decides nothing.
func ParseRetention(s string) (time.Duration, error) {
	d, err := parseRetention(s)
	if err == nil && d < time.Second {
		err = fmt.Errorf("%v is below 1s; use 1s or more, or forever", d)
	}
	return d, err
}

// parseListen reads an address to listen on; port 0 picks a free one.
func parseListen(s string) (string, error) {
	host, port, err := net.SplitHostPort(s)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return "", fmt.Errorf("%q is no address; write HOST:PORT, such as 127.0.0.1:8080, or :8080 for all interfaces", s)
	}
	return net.JoinHostPort(host, port), nil
}

func parseAdmin(s string) (string, error) {
	if s == "off" {
		return "", nil
	}
	return parseListen(s)
}

func parseStore(s string) (string, error) { return s, storeurl.Check(s) }

func parseBool(s string) (bool, error) {
	b, err := strconv.ParseBool(s)
	if err != nil {
		return false, fmt.Errorf("%q is neither true nor false", s)
	}
	return b, nil
}

// oneOf returns a parser of the given words.
func oneOf(words ...string) func(string) (string, error) {
	return func(s string) (string, error) {
		if slices.Contains(words, s) {
			return s, nil
		}
		return "", fmt.Errorf("%q is not one of %s", s, strings.Join(words, ", "))
	}
}

var guardable = []string{"POST", "PATCH", "PUT", "DELETE"}

// parseMethods reads a comma list of methods.
func parseMethods(s string) ([]string, error) {
	var methods []string
	for m := range strings.SplitSeq(s, ",") {
		m = strings.TrimSpace(m)
		if !slices.Contains(guardable, m) {
			return nil, fmt.Errorf("%q cannot be guarded; choose from %s (the others are safe or carry no effect)", m, strings.Join(guardable, ", "))
		}
		if !slices.Contains(methods, m) {
			methods = append(methods, m)
		}
	}
	return methods, nil
}

// parseHeaders reads a comma list of header names and returns canonical ones.
func parseHeaders(s string) ([]string, error) {
	names := words(s)
	for i, name := range names {
		if !isToken(name) {
			return nil, fmt.Errorf("%q is no header name", name)
		}
		if name = textproto.CanonicalMIMEHeaderKey(name); belongsToConnection(name) {
			return nil, fmt.Errorf("%s belongs to one connection and is not passed on; take it out", name)
		}
		names[i] = textproto.CanonicalMIMEHeaderKey(name)
	}
	return names, nil
}

// belongsToConnection reports headers that say how a message is sent, to whom or
// under which key, which nobody but the gateway may say.
func belongsToConnection(name string) bool {
	switch name {
	case "Connection", "Keep-Alive", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Content-Length", "Host", "Expect",
		"Idempotency-Key", "X-Idempotency-Key":
		return true
	}
	return false
}
