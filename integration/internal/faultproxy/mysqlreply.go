package faultproxy

import "encoding/binary"

// First bytes of packets of the server.
const (
	okPacket   = 0x00
	filePacket = 0xfb // it asks for a file of the client
	eofPacket  = 0xfe
	errPacket  = 0xff
)

// Bits of the server's status.
const (
	moreResults  = 0x08
	cursorExists = 0x40
)

// mysqlReply follows the server's reply to one command, to know its last packet.
type mysqlReply struct {
	command byte
	sql     string // of a query or a statement to prepare
	state   replyState
	lists   int // of parameters and columns that are still to come
}

type replyState int

const (
	atStart replyState = iota
	inColumns
	inRows
	inLists
)

// next takes the server's next packet and says whether it is the last.
func (r *mysqlReply) next(payload []byte) (last bool) {
	if len(payload) == 0 {
		return false
	}
	switch {
	case payload[0] == errPacket:
		return true
	case r.state == inColumns:
		return r.columns(payload)
	case r.state == inRows || r.command == comStmtFetch:
		return r.rows(payload)
	case r.state == inLists:
		return r.list(payload)
	}
	return r.first(payload)
}

func (r *mysqlReply) first(payload []byte) (last bool) {
	switch r.command {
	case comLogin, comChangeUser: // the rest are steps of the login
		return payload[0] == okPacket
	case comStmtPrepare:
		r.state, r.lists = inLists, lists(payload)
		return r.lists == 0
	case comQuery, comStmtExecute:
		return r.result(payload)
	}
	return true
}

// result takes the first packet of a result, of which a query may have several.
func (r *mysqlReply) result(payload []byte) (last bool) {
	switch payload[0] {
	case okPacket:
		return okStatus(payload)&moreResults == 0
	case filePacket:
		return false
	}
	r.state = inColumns
	return false
}

func (r *mysqlReply) columns(payload []byte) (last bool) {
	if !isEOF(payload) {
		return false
	}
	r.state = inRows
	return eofStatus(payload)&cursorExists != 0 // rows come when they are fetched
}

func (r *mysqlReply) rows(payload []byte) (last bool) {
	if !isEOF(payload) {
		return false
	}
	r.state = atStart
	return r.command == comStmtFetch || eofStatus(payload)&moreResults == 0
}

func (r *mysqlReply) list(payload []byte) (last bool) {
	if isEOF(payload) {
		r.lists--
	}
	return r.lists == 0
}

// prepares says whether a packet is the server's word that it has prepared a
// statement, and under which number.
func (r *mysqlReply) prepares(payload []byte) (id uint32, ok bool) {
	if r.command != comStmtPrepare || r.state != atStart || len(payload) < 9 || payload[0] != okPacket {
		return 0, false
	}
	return statementID(payload), true
}

// lists counts the lists after a prepared statement's number (4): its columns (2) and
// its parameters (2), each if there are any.
func lists(payload []byte) (n int) {
	for i := 5; i+2 <= min(len(payload), 9); i += 2 {
		if binary.LittleEndian.Uint16(payload[i:]) > 0 {
			n++
		}
	}
	return n
}

// isEOF tells the packet at the end of a list from a row that begins with a long text.
func isEOF(payload []byte) bool { return payload[0] == eofPacket && len(payload) < 9 }

// eofStatus stands behind the number of warnings (2).
func eofStatus(payload []byte) uint16 {
	if len(payload) < 5 {
		return 0
	}
	return binary.LittleEndian.Uint16(payload[3:])
}

// okStatus stands behind the affected rows and the last number inserted.
func okStatus(payload []byte) uint16 {
	rest := payload[1:]
	for range 2 {
		rest = skipInteger(rest)
	}
	if len(rest) < 2 {
		return 0
	}
	return binary.LittleEndian.Uint16(rest)
}

// skipInteger skips one whose length its first byte tells.
func skipInteger(b []byte) []byte {
	size := 1
	if len(b) > 0 {
		switch b[0] {
		case 0xfc:
			size = 3
		case 0xfd:
			size = 4
		case 0xfe:
			size = 9
		}
	}
	return b[min(size, len(b)):]
}
