package semel

import "time"

// Observer is told what the engine does, for metrics and traces. It is called
// synchronously and concurrently: it must be quick and must not call the engine.
type Observer interface {
	Observe(ev Event)
}

// Event is one thing that happened. It carries no key text, no principal and no
// data, so that an observer cannot leak them.
type Event struct {
	Kind      EventKind
	Operation string // label of the operation
	Call      string // of EventStoreCall: claim, renew, finish, read, purge
	Key       KeyID
	Fence     Fence
	Attempt   int
	Duration  time.Duration // of the store call, or of the run for EventFinish
	Bytes     int           // of the stored or replayed result
	State     State         // of the finish
	Cached    bool          // the replay came from the local cache
	Count     int           // records purged, or saves pending
	Err       error
}

// EventKind says what happened.
type EventKind uint8

// The kinds of events.
const (
	EventClaim     EventKind = iota + 1 // a run began
	EventReplay                         // a recorded result was handed out
	EventConflict                       // a duplicate met a running one
	EventMismatch                       // a key was used with another input
	EventInDoubt                        // a caller met a record in doubt, or left one
	EventFinish                         // a run's outcome was saved
	EventFenced                         // a run lost its record
	EventLeaseLost                      // a handler was cancelled since its lease was not renewed
	EventRenew                          // a lease was renewed
	EventSaveRetry                      // a save failed and goes on in the background; Count are pending
	EventSaved                          // a background save got through
	EventSaveLost                       // a background save was given up
	EventUnguarded                      // FailOpen let an operation run without a claim
	EventStoreCall                      // a store call returned, with Err if it failed
	EventPurge                          // Count expired records were deleted; Duration is the lag of the next
	EventTombstone                      // a result was not kept
)

// String names the event as metrics do.
func (k EventKind) String() string {
	return nameOf(k, "unknown", "claim", "replay", "conflict", "mismatch", "in-doubt", "finish", "fenced", "lease-lost",
		"renew", "save-retry", "saved", "save-lost", "unguarded", "store-call", "purge", "tombstone")
}
