package faultproxy

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
)

// Codes of what may stand in place of a startup message; see "Message Formats" in
// PostgreSQL's documentation of its protocol 3.
const (
	cancelRequest  = 80877102
	sslRequest     = 80877103
	gssencRequest  = 80877104
	maxMessageSize = 1 << 30 // PostgreSQL's own bound
)

// postgres follows PostgreSQL's protocol 3. A turn ends with what the server answers
// by ReadyForQuery: the startup, a simple query, a Sync.
type postgres struct {
	started  bool
	prepared map[string]string // SQL by the name of the prepared statement
	portals  map[string]string // SQL by the name of the portal
}

func newPostgres() *postgres {
	return &postgres{prepared: map[string]string{}, portals: map[string]string{}}
}

func (p *postgres) fromClient(r *bufio.Reader) (message, error) {
	if !p.started {
		return p.startup(r)
	}
	m, err := typed(r)
	if err != nil {
		return message{}, err
	}
	body := fields(m.raw[5:])
	switch m.raw[0] {
	case 'Q': // simple query
		m.statement, m.ends = body.text(), true
	case 'P': // Parse
		name := body.text()
		p.prepared[name] = body.text()
	case 'B': // Bind
		portal := body.text()
		p.portals[portal] = p.prepared[body.text()]
	case 'E': // Execute
		m.statement = p.portals[body.text()]
	case 'S', 'F': // Sync, FunctionCall
		m.ends = true
	}
	return m, nil
}

// startup reads a message without a type. Encryption is refused, so that the rest can
// be read.
func (p *postgres) startup(r *bufio.Reader) (message, error) {
	head := make([]byte, 8)
	if _, err := io.ReadFull(r, head); err != nil {
		return message{}, err
	}
	size, code := binary.BigEndian.Uint32(head), binary.BigEndian.Uint32(head[4:])
	if size < 8 || size > maxMessageSize {
		return message{}, errors.New("faultproxy: not a startup message of PostgreSQL")
	}
	raw, err := take(r, head, int(size)-8)
	if err != nil {
		return message{}, err
	}
	switch code {
	case sslRequest, gssencRequest:
		return message{answer: []byte{'N'}}, nil
	case cancelRequest:
		return message{raw: raw, cancels: true}, nil
	}
	p.started = true
	return message{raw: raw, ends: true}, nil
}

func (p *postgres) fromServer(r *bufio.Reader) (message, error) {
	m, err := typed(r)
	if err != nil {
		return message{}, err
	}
	m.ends = m.raw[0] == 'Z' // ReadyForQuery
	return m, nil
}

// typed reads a message that begins with its type and length.
func typed(r *bufio.Reader) (message, error) {
	head := make([]byte, 5)
	if _, err := io.ReadFull(r, head); err != nil {
		return message{}, err
	}
	size := binary.BigEndian.Uint32(head[1:])
	if size < 4 || size > maxMessageSize {
		return message{}, errors.New("faultproxy: not a message of PostgreSQL")
	}
	raw, err := take(r, head, int(size)-4)
	return message{raw: raw}, err
}

// fields is the rest of a message.
type fields []byte

// text cuts off a string that ends with a zero.
func (f *fields) text() string {
	text, rest, _ := bytes.Cut(*f, []byte{0})
	*f = rest
	return string(text)
}
