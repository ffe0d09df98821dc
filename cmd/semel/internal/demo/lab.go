package demo

import (
	"context"
	"crypto/rand"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// lab runs trials against the gateway and keeps the last run of each. All methods
// may be called concurrently.
type lab struct {
	gateway string // its address
	tally   func(ctx context.Context, order string) (count int, total int64, err error)
	bell    *bell
	trials  map[string]trial

	mu   sync.Mutex
	runs map[string]*run // by trial
}

// run is one run of a trial.
type run struct {
	ended     bool
	exchanges []exchange // the one to tell of is the last
	charges   int
	asWanted  bool
}

func (r *run) last() exchange { return r.exchanges[len(r.exchanges)-1] }

func newLab(gateway string, tally func(context.Context, string) (int, int64, error), changes *bell) *lab {
	l := &lab{gateway: gateway, tally: tally, bell: changes, trials: map[string]trial{}, runs: map[string]*run{}}
	for _, g := range trialGroups() {
		for _, t := range g.trials {
			l.trials[t.id] = t
		}
	}
	return l
}

// reset forgets all runs; those under way are not noted any more.
func (l *lab) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.runs = map[string]*run{}
	l.bell.ring()
}

// last returns the last run of a trial, or one that has not begun.
func (l *lab) last(id string) (r run, begun bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if known := l.runs[id]; known != nil {
		return *known, true
	}
	return run{}, false
}

// ServeHTTP runs the trial that the path names and answers when it has ended. The
// trial "own" is what the body holds.
func (l *lab) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("trial")
	t, known := l.trials[id]
	if id == ownTrial {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		t, known = ownRequest(string(text)), true
	}
	if !known {
		http.NotFound(w, r)
		return
	}
	l.try(r.Context(), t)
	w.WriteHeader(http.StatusNoContent)
}

// try runs a trial under a new order and key.
func (l *lab) try(ctx context.Context, t trial) {
	begun := new(run)
	l.mu.Lock()
	l.runs[t.id] = begun
	l.mu.Unlock()
	l.bell.ring()
	n := names{order: newOrder(), key: newUUID()}
	done := run{ended: true, exchanges: l.converse(ctx, t.send(n), t.atOnce)}
	done.charges, _, _ = l.tally(ctx, n.order)
	done.asWanted = t.id == ownTrial || done.end() == t.want
	l.mu.Lock()
	if l.runs[t.id] == begun {
		l.runs[t.id] = &done
	}
	l.mu.Unlock()
	l.bell.ring()
}

func (r *run) end() finale {
	x := r.last()
	return finale{status: x.status, code: x.problem.Code, replayed: x.replayed, charges: r.charges}
}

// converse sends the messages. Of those sent at once the answer that came first
// is put last: it is the one to tell of.
func (l *lab) converse(ctx context.Context, all []message, atOnce bool) []exchange {
	var exchanges []exchange
	if !atOnce {
		for _, m := range all {
			exchanges = append(exchanges, converse(ctx, l.gateway, m))
		}
		return exchanges
	}
	answers := make(chan exchange)
	for _, m := range all {
		go func() { answers <- converse(ctx, l.gateway, m) }()
	}
	for range all {
		exchanges = append(exchanges, <-answers)
	}
	slices.Reverse(exchanges)
	return exchanges
}

const ownTrial = "own"

// ownRequest is a trial of what somebody wrote in the page: the line ends that a
// text field has become those of HTTP, and lengthMark the length of the body.
func ownRequest(text string) trial {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")
	_, body, complete := strings.Cut(text, "\r\n\r\n")
	if !complete {
		text = strings.TrimRight(text, "\r\n") + "\r\n\r\n"
	}
	text = strings.Replace(text, lengthMark, strconv.Itoa(len(body)), 1)
	m := message{text: text, hangUp: announced(text) > len(body)}
	return trial{id: ownTrial, send: func(names) []message { return []message{m} }}
}

const lengthMark = "{length}"

var contentLength = regexp.MustCompile(`(?im)^content-length:[ \t]*([0-9]+)`)

func announced(text string) int {
	if m := contentLength.FindStringSubmatch(text); m != nil {
		n, _ := strconv.Atoi(m[1])
		return n
	}
	return 0
}

// ownDraft is what a visitor's request begins as.
func ownDraft() string {
	n := names{order: newOrder(), key: rand.Text()[:8]}
	d := n.pay(keyLine(n.key))
	text := strings.ReplaceAll(d.message().text, "\r\n", "\n")
	return strings.Replace(text, "Content-Length: "+strconv.Itoa(d.length), "Content-Length: "+lengthMark, 1)
}
