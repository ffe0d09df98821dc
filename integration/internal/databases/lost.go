package databases

import (
	"database/sql"
	"testing"

	"github.com/semel-go/semel/integration/internal/faultproxy"
)

// Lost is a statement whose reply does not come.
type Lost struct {
	*DB
	// Pool is behind a proxy that lets the fault happen to the statement; the database's
	// own pool is not.
	Pool *sql.DB
	// Resent: the connection is closed in the place of the reply, and the driver has
	// the statement sent again, though it was executed.
	Resent bool
}

// EachLost runs a test on all servers, for each way in which the next statement with
// this beginning stays without a reply. It fails a test that does not send it.
func EachLost(t *testing.T, statement string, run func(t *testing.T, l *Lost)) {
	t.Helper()
	for _, e := range Servers() {
		for name, fault := range map[string]faultproxy.Fault{
			"never arrives": faultproxy.CutBefore(), "reply cut": faultproxy.CutReply(), "closed": faultproxy.CloseReply(),
		} {
			t.Run(e.Name+", "+name, func(t *testing.T) {
				t.Parallel()
				l := &Lost{DB: e.Open(t), Resent: e.Resends && name == "closed"}
				pool, proxy := l.BehindProxy(t)
				l.Pool = pool
				proxy.Arm(faultproxy.Starts(statement), fault)
				run(t, l)
			})
		}
	}
}
