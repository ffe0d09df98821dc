package settings

import (
	"strconv"
	"strings"
	"time"

	"github.com/semel-go/semel"
)

// FormatDuration writes a duration as it is read: 24h, 1m30s, forever.
func FormatDuration(d time.Duration) string {
	if d == semel.Forever {
		return "forever"
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// FormatSize writes a size as it is read, in the largest unit that is exact.
func FormatSize(n int64) string {
	for _, u := range []string{"GiB", "MiB", "KiB"} {
		if size := unitSize(u); n%size == 0 {
			return strconv.FormatInt(n/size, 10) + u
		}
	}
	return strconv.FormatInt(n, 10)
}

func unitSize(suffix string) int64 {
	for _, u := range units {
		if u.suffix == suffix {
			return u.bytes
		}
	}
	return 1
}

// FormatUnknown is the word for --on-unknown.
func FormatUnknown(hold bool) string {
	if hold {
		return "hold"
	}
	return "retry"
}

// KeyTexts are the sources of the route's keys as in the file.
func (t Route) KeyTexts() []string {
	var list []string
	for _, source := range t.Keys {
		list = append(list, source.String())
	}
	if len(list) == 0 {
		list = []string{"header:Idempotency-Key"}
	}
	if t.Derived != nil {
		list = append(list, "derived:"+FormatDuration(t.Derived.Window))
	}
	return list
}

// Duplicates is the word for what becomes of the duplicates of a derived key.
func (d *Derived) Duplicates() string {
	if d.Reject {
		return "reject"
	}
	return "replay"
}
