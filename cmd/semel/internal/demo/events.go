package demo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

const heartbeat = 15 * time.Second

// events streams the pieces of the page as they change, as server-sent events, until the client leaves or the demo ends.
func (p *page) events(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	changes, stop := p.board.bell.watch()
	defer stop()
	s := &stream{w: w, flush: http.NewResponseController(w).Flush, sent: map[string]string{}}
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		if err := p.send(s, language(r)); err != nil {
			return
		}
		select {
		case <-changes:
		case <-beat.C:
			fmt.Fprint(w, ": here\n\n")
		case <-r.Context().Done():
			return
		}
	}
}

// send sends the pieces that differ from what the stream has.
func (p *page) send(s *stream, lang string) error {
	for _, piece := range p.view(lang).pieces() {
		var html bytes.Buffer
		if err := p.template.ExecuteTemplate(&html, piece.template, piece.view); err != nil {
			return err
		}
		if err := s.put(piece.id, html.String()); err != nil {
			return err
		}
	}
	return s.flush()
}

// stream is what one browser has been sent.
type stream struct {
	w     http.ResponseWriter
	flush func() error
	sent  map[string]string // by piece
}

func (s *stream) put(id, html string) error {
	if s.sent[id] == html {
		return nil
	}
	data, err := json.Marshal(map[string]string{"id": id, "html": html})
	if err != nil {
		return err
	}
	s.sent[id] = html
	_, err = fmt.Fprintf(s.w, "event: piece\ndata: %s\n\n", data)
	return err
}
