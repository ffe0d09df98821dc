package memstore

// due says when a slot's record may be deleted, as far as was known when it was
// queued. It is settled against the record itself once it is due.
type due struct {
	at   instant
	slot uint32
}

// dueQueue is a heap of dues, soonest first. It has no pointers, so that the
// garbage collector does not look into it.
type dueQueue []due

func (q *dueQueue) push(d due) {
	h := append(*q, d)
	i := len(h) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if h[parent].at <= d.at {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = d
	*q = h
}

// pop removes the soonest; the queue must not be empty.
func (q *dueQueue) pop() due {
	h := *q
	top, last := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	*q = h
	if len(h) > 0 {
		h[0] = last
		h.sink()
	}
	return top
}

// sink moves the first element down to its place.
func (q dueQueue) sink() {
	d, i := q[0], 0
	for {
		child := 2*i + 1
		if child >= len(q) {
			break
		}
		if child+1 < len(q) && q[child+1].at < q[child].at {
			child++
		}
		if d.at <= q[child].at {
			break
		}
		q[i] = q[child]
		i = child
	}
	q[i] = d
}
