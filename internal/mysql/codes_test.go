package mysql

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/semel-go/semel/internal/intx"
)

func TestErrorsAreClassifiedByTheirNumber(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want Class
	}{
		{deadlock, Conflict},
		{fmt.Errorf("saving: %w", deadlock), Conflict},
		{errors.Join(errors.New("saving"), deadlock), Conflict},
		{fmt.Errorf("%w: %w", io.EOF, lockWait1205), Locked},
		{serverError("ERROR 1213 (40001): as the client writes it"), Conflict},
		{serverError("Error 1213: without a state"), Conflict},
		{serverError("Error 3572 (HY000): NOWAIT is set"), Locked},
		{refused1406, Refused},
		{diskFull, Full},
		{serverError("Error 1040 (08004): Too many connections"), Unreached},
		{serverError("Error 1290 (HY000): read-only"), Unreached},
		{serverError("Error 1180 (HY000): during COMMIT"), Unsure},
		{errors.New("Error reading packet 1213"), Unsure},
		{errors.New("Error : x"), Unsure},
		{errors.New("error"), Unsure},
		{errors.New("invalid connection"), Unsure},
		{driver.ErrBadConn, Unreached},
		{&net.OpError{Op: "dial", Err: errors.New("refused")}, Unreached},
		{&net.OpError{Op: "read", Err: errors.New("reset")}, Unsure},
		{context.DeadlineExceeded, Unsure},
		{nil, Unsure},
	} {
		if got := ClassOf(c.err); got != c.want {
			t.Errorf("%v: class %d; want %d", c.err, got, c.want)
		}
	}
}

func TestErrorsOfTransactions(t *testing.T) {
	t.Parallel()
	s := &Store{}
	for _, c := range []struct {
		name string
		err  error
		want intx.Class
		open bool
	}{
		{"the key is held", fmt.Errorf("%w: %w", errSameKey, lockWait1205), intx.ClassLocked, false},
		{"another row is held", lockWait1205, intx.ClassConflict, false},
		{"deadlock", deadlock, intx.ClassConflict, false},
		{"refused", refused1406, intx.ClassOther, false},
		{"the work's own", errors.New("out of stock"), intx.ClassOther, true},
		{"connection lost", errors.New("invalid connection"), intx.ClassLost, true},
		{"connection reset", &net.OpError{Op: "read", Err: errors.New("reset")}, intx.ClassLost, true},
		{"too many connections", serverError("Error 1040 (08004): Too many connections"), intx.ClassLost, false},
		{"during the commit", serverError("Error 1180 (HY000): during COMMIT"), intx.ClassOther, true},
	} {
		if class, open := s.ClassTx(c.err); class != c.want || open != c.open {
			t.Errorf("%s: %v, open %v; want %v, %v", c.name, class, open, c.want, c.open)
		}
	}
}
