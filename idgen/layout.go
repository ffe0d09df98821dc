package idgen

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// Layout says where the bits of a [Snowflake] are. From the highest: the sign, always
// 0; milliseconds since Epoch; WorkerBits; SequenceBits. The zero value means the
// default: 41 bits of milliseconds since 2025, which last until September 2094, 10 bits
// for 1,024 workers, 12 for 4,096 ids a millisecond and worker.
//
// Ids of one table must all have one layout. A group refuses another one than its first.
type Layout struct {
	// Epoch is the moment of which milliseconds are counted. Default
	// 2025-01-01T00:00:00Z.
	Epoch time.Time
	// WorkerBits, 1–16. Default 10.
	WorkerBits int
	// SequenceBits, 1–22. Default 12.
	SequenceBits int
}

const (
	defaultWorkerBits   = 10
	defaultSequenceBits = 12
	// minTimeBits are 17 years of milliseconds.
	minTimeBits = 39
)

func (l Layout) withDefaults() Layout {
	if l.Epoch.IsZero() {
		l.Epoch = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	l.WorkerBits = cmp.Or(l.WorkerBits, defaultWorkerBits)
	l.SequenceBits = cmp.Or(l.SequenceBits, defaultSequenceBits)
	return l
}

// validate checks a layout with its defaults.
func (l Layout) validate() error {
	return errors.Join(
		refuse(l.WorkerBits < 1 || l.WorkerBits > 16, "Layout.WorkerBits is %d; use 1 to 16, or 0 for %d", l.WorkerBits, defaultWorkerBits),
		refuse(l.SequenceBits < 1 || l.SequenceBits > 22, "Layout.SequenceBits is %d; use 1 to 22, or 0 for %d", l.SequenceBits, defaultSequenceBits),
		refuse(l.timeBits() < minTimeBits, "Layout leaves %d bits for milliseconds, less than 17 years; lower WorkerBits or SequenceBits", l.timeBits()),
	)
}

func (l Layout) timeBits() int { return 63 - l.WorkerBits - l.SequenceBits }

// Time returns the moment of an id of this layout, in milliseconds.
func (l Layout) Time(id Snowflake) time.Time {
	l = l.withDefaults()
	return l.moment(int64(id) >> uint(l.WorkerBits+l.SequenceBits))
}

// Worker returns the worker id in an id of this layout.
func (l Layout) Worker(id Snowflake) int {
	l = l.withDefaults()
	return int(int64(id) >> uint(l.SequenceBits) & mask(l.WorkerBits))
}

// Sequence returns the number of an id of this layout within its millisecond and
// worker.
func (l Layout) Sequence(id Snowflake) int {
	l = l.withDefaults()
	return int(int64(id) & mask(l.SequenceBits))
}

func mask(bits int) int64 { return 1<<uint(bits) - 1 }

// tick is a time in milliseconds since the epoch.
func (l Layout) tick(at time.Time) int64 { return at.UnixMilli() - l.Epoch.UnixMilli() }

// moment is the time of a tick.
func (l Layout) moment(tick int64) time.Time { return time.UnixMilli(l.Epoch.UnixMilli() + tick).UTC() }

// lastTick is the last one that an id can hold.
func (l Layout) lastTick() int64 { return 1<<l.timeBits() - 1 }

// workers is how many worker ids there are.
func (l Layout) workers() int { return 1 << l.WorkerBits }

// String says all of the layout, in the words that a group's record keeps.
func (l Layout) String() string {
	l = l.withDefaults()
	return fmt.Sprintf("ms since %d, %d worker bits, %d sequence bits", l.Epoch.UnixMilli(), l.WorkerBits, l.SequenceBits)
}

func refuse(bad bool, format string, args ...any) error {
	if !bad {
		return nil
	}
	return fmt.Errorf("idgen: "+format, args...)
}
