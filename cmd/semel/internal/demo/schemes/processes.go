package schemes

import "context"

// processes are the two that make ids.
var processes = [...]string{"process-a", "process-b"}

// orders is how many orders get an id, from the processes in turn.
const orders = 1000

// sources make the ids of the processes, one each.
type sources [len(processes)]func() (string, error)

// tally is what became of the orders.
type tally struct {
	orders     int
	duplicates int
	duplicate  string // the last id that was there already
	last       string // the last id
}

// inTurn hands orders to the processes, which run side by side, one to each in turn,
// and counts the ids that were there already.
func (all sources) inTurn(ctx context.Context) (t tally, err error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var issued [len(all)]chan string
	for i, next := range all {
		issued[i] = make(chan string)
		go issue(ctx, stop, next, issued[i])
	}
	seen := map[string]bool{}
	for ; t.orders < orders; t.orders++ {
		select {
		case t.last = <-issued[t.orders%len(issued)]:
		case <-ctx.Done():
			return t, context.Cause(ctx)
		}
		if seen[t.last] {
			t.duplicates, t.duplicate = t.duplicates+1, t.last
		}
		seen[t.last] = true
	}
	return t, nil
}

// issue is a process: it makes an id for each order that comes, until ctx ends.
func issue(ctx context.Context, failed func(error), next func() (string, error), issued chan<- string) {
	for {
		id, err := next()
		if err != nil {
			failed(err)
			return
		}
		select {
		case issued <- id:
		case <-ctx.Done():
			return
		}
	}
}
