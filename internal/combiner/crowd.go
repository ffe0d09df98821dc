package combiner

// crowd judges whether there are so many calls that they share flushes. The
// combiner's lock guards it.
type crowd struct {
	direct  int // calls that need not share
	flights int // batches under way where calls share
	here    bool
	size    float64 // calls in a flush: a moving average
}

// crowdMemory is how many flushes it takes to believe in a change.
const crowdMemory = 16

// admits reports that a call may be flushed alone, beside those under way.
func (c *crowd) admits(flushes int) bool { return flushes < c.flights || !c.here && flushes < c.direct }

// gathers says that a call has to wait.
func (c *crowd) gathers() {
	if !c.here {
		c.here, c.size = true, float64(c.direct)
	}
}

// flushes takes note of a flush of n calls. The crowd is gone when flushes have been
// small for a while.
func (c *crowd) flushes(n int) {
	c.size += (float64(n) - c.size) / crowdMemory
	if c.size < float64(c.direct)/2 {
		c.here = false
	}
}
