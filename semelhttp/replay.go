package semelhttp

import (
	"log/slog"
	"net/http"
	"strconv"
	"strings"

	"github.com/semel-go/semel"
)

// replay answers with a recorded response, or with the problem that keeps it back.
// Authorisation comes first: it may have been withdrawn since.
func (x *exchange) replay(rec *semel.Record) {
	m := x.m
	switch {
	case x.from == derived && m.opts.Derived.Reject:
		m.refuse(x.w, NewProblem(CodeDuplicateContent))
	case m.opts.ReplayAuthorize != nil && m.opts.ReplayAuthorize(x.r) != nil:
		m.refuse(x.w, NewProblem(CodeReplayForbidden))
	case rec.Result.Kind == semel.ResultTombstone:
		x.replayTombstone(rec)
	default:
		x.replayResponse(rec)
	}
}

func (x *exchange) replayTombstone(rec *semel.Record) {
	if x.memory.token.differs(remarked(rec.Result.Data, contentRemark)) {
		x.m.refuse(x.w, NewProblem(CodeTokenUsed))
		return
	}
	p := NewProblem(CodeResultUnavailable)
	p.OriginalStatus = tombstoneStatus(rec.Result.Data)
	x.m.refuse(x.w, p)
}

func (x *exchange) replayResponse(rec *semel.Record) {
	m := x.m
	resp, err := DecodeResponse(rec.Result)
	if err != nil {
		m.opts.Logger.LogAttrs(x.r.Context(), slog.LevelError, "semelhttp: a recorded response cannot be read",
			slog.String("key", rec.Key.Short()), slog.Any("error", err))
		m.refuse(x.w, NewProblem(CodeResultUnavailable))
		return
	}
	if x.memory.token.differs(resp.takeContent()) {
		m.refuse(x.w, NewProblem(CodeTokenUsed))
		return
	}
	if !resp.negotiate(x.r.Header["Accept-Encoding"], int64(m.opts.MaxResponseBody)*decodedFactor) {
		p := NewProblem(CodeResultUnavailable)
		p.OriginalStatus = resp.Status
		p.Detail = "The answer is recorded in a content coding that this request does not accept. Send it again with the Accept-Encoding of the first request."
		m.refuse(x.w, p)
		return
	}
	m.writeReplay(x.w, &resp, x.key)
}

// writeReplay sends resp with the marks of a replay.
func (m *middleware) writeReplay(w http.ResponseWriter, resp *Response, key sentKey) {
	h := w.Header()
	setPairs(h, resp.Header)
	if _, typed := h["Content-Type"]; !typed {
		h["Content-Type"] = nil // the first answer had none, so none is to be guessed
	}
	if len(h["Cache-Control"]) == 0 {
		h["Cache-Control"] = m.noStore
	}
	h[m.opts.ReplayedHeader] = m.isTrue
	if len(key.wire) > 0 {
		h[m.opts.Headers[0]] = key.wire[:1:1]
	}
	if bodyAllowed(resp.Status) && len(resp.Trailer) == 0 {
		h["Content-Length"] = []string{strconv.Itoa(len(resp.Body))}
	}
	w.WriteHeader(resp.Status)
	if len(resp.Body) > 0 && bodyAllowed(resp.Status) {
		w.Write(resp.Body)
	}
	setPairs(h, resp.Trailer)
}

// setPairs puts pairs, whose names are sorted, into h.
func setPairs(h http.Header, pairs []HeaderPair) {
	values := make([]string, len(pairs))
	for i, p := range pairs {
		values[i] = p.Value
	}
	for i := 0; i < len(pairs); {
		n := i + 1
		for n < len(pairs) && pairs[n].Name == pairs[i].Name {
			n++
		}
		if pairs[i].Added {
			h[pairs[i].Name] = append(h[pairs[i].Name], values[i:n]...)
		} else {
			h[pairs[i].Name] = values[i:n:n]
		}
		i = n
	}
}

// find returns the first value of a recorded header.
func (r *Response) find(name string) string {
	for _, p := range r.Header {
		if strings.EqualFold(p.Name, name) {
			return p.Value
		}
	}
	return ""
}
