package combiner

import (
	"slices"
	"time"
)

// lanes are the flushes under way. The combiner's lock guards them.
type lanes struct {
	max      int
	flights  int
	patience time.Duration
	open     []*lane
	alarmed  bool // a timer will call overtake
}

// lane flushes one batch after the other.
type lane struct {
	began time.Time // its last flush
}

func (ls *lanes) enter() *lane {
	l := &lane{began: time.Now()}
	ls.open = append(ls.open, l)
	return l
}

func (ls *lanes) leave(l *lane) {
	ls.open = slices.DeleteFunc(ls.open, func(o *lane) bool { return o == l })
}

func (ls *lanes) mayOpen() bool { return len(ls.open) > 0 && len(ls.open) < ls.max }

// attended reports a lane whose flush is young: the queue is its next batch.
func (ls *lanes) attended() bool { return slices.ContainsFunc(ls.open, ls.young) }

// surplus reports that enough other lanes attend to the queue: the fewer, the larger
// the batches.
func (ls *lanes) surplus(l *lane) bool {
	young := 0
	for _, o := range ls.open {
		if o != l && ls.young(o) {
			young++
		}
	}
	return young >= ls.flights
}

func (ls *lanes) young(l *lane) bool { return time.Since(l.began) < ls.patience }

// alarm has overtake called once the youngest flush is old, unless that is on its
// way already.
func (ls *lanes) alarm(overtake func()) {
	if ls.alarmed {
		return
	}
	ls.alarmed = true
	youngest := ls.open[0].began
	for _, l := range ls.open[1:] {
		if l.began.After(youngest) {
			youngest = l.began
		}
	}
	time.AfterFunc(ls.patience-time.Since(youngest), overtake)
}
