package postgres

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/semel-go/semel"
)

// Field fault: an error of the store taken for contention, or for success.
func TestClassesOfErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want class
	}{
		{coded("40001"), classAgain},
		{coded("40P01"), classAgain},
		{coded("55P03"), classHeld},
		{coded("53100"), classFull},
		{coded("53300"), classFailed},
		{coded("22021"), classFailed},
		{coded("25006"), classFailed},
		{coded("57014"), classFailed},
		{coded("57P01"), classLost},
		{coded("57P02"), classLost},
		{coded("57P03"), classUnsent},
		{coded("08006"), classLost},
		{coded("08001"), classUnsent},
		{coded("58030"), classLost},
		{coded("XX000"), classLost},
		{coded("28P01"), classUnsent},
		{coded("3D000"), classUnsent},
		{fmt.Errorf("wrapped: %w", coded("40001")), classAgain},
		{Unsent(context.DeadlineExceeded), classUnsent},
		{safe{}, classUnsent},
		{driver.ErrBadConn, classLost},
		{&net.OpError{Op: "dial", Err: errors.New("refused")}, classUnsent},
		{&net.OpError{Op: "read", Err: errors.New("reset")}, classLost},
		{io.ErrUnexpectedEOF, classLost},
		{context.DeadlineExceeded, classLost},
	} {
		if got := classOf(c.err); got != c.want {
			t.Errorf("%v: class %d; want %d", c.err, got, c.want)
		}
	}
}

func TestErrorsNameTheFix(t *testing.T) {
	t.Parallel()
	for state, text := range map[string]string{"25006": "primary", "42P01": "semel migrate", "42501": "GRANT", "53300": "max_connections", "26000": "Pooler"} {
		err := failure(coded(state))
		if !errors.Is(err, semel.ErrStoreUnavailable) || !errors.Is(err, coded(state)) || !strings.Contains(err.Error(), text) {
			t.Errorf("%v; want unavailable, the cause, and %q", err, text)
		}
	}
}

func TestAnswersOfTheContractStayAsTheyAre(t *testing.T) {
	t.Parallel()
	for _, err := range []error{nil, semel.ErrFenced, &semel.RecordFormatError{Format: 2}, errBusy, errClosed} {
		if failure(err) != err || unread(t.Context(), err) != err {
			t.Errorf("%v has become %v", err, failure(err))
		}
	}
}
