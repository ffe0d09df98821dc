package faultproxy

import (
	"bufio"
	"bytes"
	"io"
)

// protocol follows one connection. Its methods are called by one goroutine each.
type protocol interface {
	// fromClient reads the client's next message.
	fromClient(r *bufio.Reader) (message, error)
	// fromServer reads the server's next message.
	fromServer(r *bufio.Reader) (message, error)
}

// message is what is passed on at once.
type message struct {
	raw       []byte
	statement string // what it makes the server execute; "" for nothing
	// ends: the client waits for the reply after it, or it is the last of such a reply.
	ends bool
	// cancels: it asks the server to cancel a statement of another connection.
	cancels bool
	// answer goes back to the client; the server is not asked.
	answer []byte
}

// take reads n more bytes after head. Nothing is allocated for bytes that do not come.
func take(r io.Reader, head []byte, n int) ([]byte, error) {
	raw := bytes.NewBuffer(head)
	if _, err := io.CopyN(raw, r, int64(n)); err != nil {
		return nil, err
	}
	return raw.Bytes(), nil
}
