package mysql

import (
	"time"

	"github.com/semel-go/semel/internal/sqlrecord"
)

// expiryOf is a retention as m and d of "time * m + d".
func expiryOf(retention time.Duration) (m, d int64) {
	if d = sqlrecord.After(0, retention); d == sqlrecord.Never {
		return 0, d
	}
	return 1, d
}

// since is the time of a statement's server, which began at start when it was sent
// at sent, as it may be now at the latest. Leases count from the start.
func since(start int64, sent time.Time) int64 {
	return start + time.Since(sent).Microseconds()
}
