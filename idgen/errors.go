package idgen

import (
	"errors"
	"fmt"
	"time"

	"github.com/semel-go/semel"
)

// ErrClosed says that the node was closed.
var ErrClosed = errors.New("idgen: the node is closed")

// ErrTimeSpent says that the layout has no milliseconds left.
var ErrTimeSpent = errors.New("idgen: the layout's milliseconds are used up; use one with more bits for them, or a later epoch, in a new table and a new group")

// ClockError says that this host's clock is wrong, or was: an id of its time might be
// there already, or would sort where it does not belong. Nothing was issued. It goes
// away when the clock is right.
type ClockError struct {
	// Behind is by how much the clock is behind; negative: ahead.
	Behind time.Duration
	// Of is what it was compared with, such as "the last id of worker 5".
	Of string
}

func (e *ClockError) Error() string {
	how, by := "behind", e.Behind
	if by < 0 {
		how, by = "ahead of", -by
	}
	return fmt.Sprintf("idgen: this host's clock is %v %s %s; set it right (NTP), or wait until it has caught up", by, how, e.Of)
}

// WorkersError says that every worker id of a group is held by a live node, or was
// retired by an operator.
type WorkersError struct {
	Group   string
	Workers int // how many there are
}

func (e *WorkersError) Error() string {
	return fmt.Sprintf("idgen: all %d worker ids of group %q are taken; close nodes that are not used any more (one that was killed gives its own back "+
		"when its lease is over), have one node a process, or begin a new table and group with more Layout.WorkerBits", e.Workers, e.Group)
}

// LeaseError says that the node may not issue ids now: the store did not renew what it
// holds, and it could not take another worker id yet. It goes on trying. It matches
// [semel.ErrLeaseLost], and Err.
type LeaseError struct {
	Err error // why it could not: the store's error, [*WorkersError] or [*ClockError]
}

func (e *LeaseError) Error() string {
	return "idgen: no ids for now, the worker id's lease or reservation is over and the store gave no other: " + e.Err.Error()
}

// Unwrap returns semel.ErrLeaseLost and the reason.
func (e *LeaseError) Unwrap() []error { return []error{semel.ErrLeaseLost, e.Err} }

// LayoutError says that the group has ids of another layout.
type LayoutError struct {
	Group  string
	Layout Layout // the one that was refused
}

func (e *LayoutError) Error() string {
	return fmt.Sprintf("idgen: group %q was begun with another layout than %v; use the same one everywhere, or another group for another table", e.Group, e.Layout)
}
