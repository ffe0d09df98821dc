package faultproxy

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"sync"
)

// Commands of the client; see "Command Phase" in MySQL's documentation of its protocol.
const (
	comQuit         = 0x01
	comQuery        = 0x03
	comChangeUser   = 0x11
	comStmtPrepare  = 0x16
	comStmtExecute  = 0x17
	comStmtLongData = 0x18
	comStmtClose    = 0x19
	comStmtFetch    = 0x1c
	// comLogin is none of the protocol: the handshake, which is answered alike.
	comLogin = 0xf0
)

// Capabilities that are taken from the server's greeting: with TLS or compression
// nothing could be read, and the rest are other forms of the same replies and queries.
const hiddenCapabilities uint32 = 1<<5 | // compression
	1<<11 | // TLS
	1<<24 | // results without EOF packets
	1<<25 | // results without their columns
	1<<26 | // zstd
	1<<27 // queries with attributes

// mysql follows the protocol of MySQL and MariaDB. A turn ends with a command.
type mysql struct {
	mu       sync.Mutex
	prepared map[uint32]string // SQL by the number that the server gave
	reply    *mysqlReply       // what the server is answering
	greeted  bool
}

func newMySQL() *mysql { return &mysql{prepared: map[uint32]string{}} }

func (m *mysql) fromClient(r *bufio.Reader) (message, error) {
	p, err := readPacket(r)
	if err != nil {
		return message{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.reply == nil { // the first packet of all
		m.reply = &mysqlReply{command: comLogin}
		return message{raw: p.raw, ends: true}, nil
	}
	if p.number != 0 || len(p.payload) == 0 { // more of a login, or of a file
		return message{raw: p.raw}, nil
	}
	return m.command(p), nil
}

func (m *mysql) command(p packet) message {
	c := message{raw: p.raw, ends: true}
	sql := string(p.payload[1:])
	switch p.payload[0] {
	case comQuery:
		c.statement = sql
	case comStmtExecute:
		c.statement = m.prepared[statementID(p.payload)]
	case comStmtClose:
		delete(m.prepared, statementID(p.payload))
		c.ends = false
	case comQuit, comStmtLongData:
		c.ends = false
	}
	if c.ends {
		m.reply = &mysqlReply{command: p.payload[0], sql: sql}
	}
	return c
}

// statementID is the number of the prepared statement in a command or a reply.
func statementID(payload []byte) uint32 {
	if len(payload) < 5 {
		return 0
	}
	return binary.LittleEndian.Uint32(payload[1:])
}

func (m *mysql) fromServer(r *bufio.Reader) (message, error) {
	p, err := readPacket(r)
	if err != nil {
		return message{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.greeted {
		m.greeted = true
		hideCapabilities(p.raw[4:])
		return message{raw: p.raw}, nil
	}
	if m.reply == nil { // it refuses before the client has said a word
		return message{raw: p.raw}, nil
	}
	if id, ok := m.reply.prepares(p.payload); ok {
		m.prepared[id] = m.reply.sql
	}
	return message{raw: p.raw, ends: m.reply.next(p.payload)}, nil
}

// hideCapabilities changes the greeting: the version's text, thread (4), salt (8),
// zero, capabilities (2), character set (1), status (2), capabilities (2), length of
// the salt (1), reserved (6), MariaDB's capabilities (4).
func hideCapabilities(greeting []byte) {
	end := bytes.IndexByte(greeting, 0)
	if end < 0 || len(greeting) < end+1+31 {
		return
	}
	fixed := greeting[end+1:]
	hide(fixed[13:], hiddenCapabilities&0xffff)
	hide(fixed[18:], hiddenCapabilities>>16)
	clear(fixed[27:31])
}

func hide(field []byte, bits uint32) {
	shown := binary.LittleEndian.Uint16(field) &^ uint16(bits)
	binary.LittleEndian.PutUint16(field, shown)
}

// packet is a payload with its frame. Those of 16 MiB or more come in several frames.
type packet struct {
	raw, payload []byte
	number       byte
}

func readPacket(r *bufio.Reader) (p packet, err error) {
	const full = 1<<24 - 1
	for size := full; size == full; {
		head := make([]byte, 4)
		if _, err := io.ReadFull(r, head); err != nil {
			return packet{}, err
		}
		size = int(head[0]) | int(head[1])<<8 | int(head[2])<<16
		if p.raw == nil {
			p.number = head[3]
		}
		frame, err := take(r, head, size)
		if err != nil {
			return packet{}, err
		}
		p.raw = append(p.raw, frame...)
		p.payload = append(p.payload, frame[4:]...)
	}
	return p, nil
}
