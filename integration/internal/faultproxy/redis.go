package faultproxy

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
)

// Redis is a proxy in front of a Redis server at addr, without TLS. A statement is a
// command with its first argument: "EVALSHA" and the digest, "SET" and the key. It ends
// with the test, and so do its connections.
func Redis(t testing.TB, addr string) *Proxy {
	t.Helper()
	return start(t, addr, func() protocol { return resp{} })
}

// resp follows RESP, versions 2 and 3; see "Redis serialization protocol specification".
// A turn ends with every command.
type resp struct{}

var errNotRESP = errors.New("faultproxy: not a message of Redis")

func (resp) fromClient(r *bufio.Reader) (message, error) {
	v := reader{in: r}
	words, err := v.command()
	if err != nil {
		return message{}, err
	}
	return message{raw: v.raw.Bytes(), statement: strings.Join(words, " "), ends: true}, nil
}

func (resp) fromServer(r *bufio.Reader) (message, error) {
	v := reader{in: r}
	kind, err := v.value()
	// What is pushed is no reply.
	return message{raw: v.raw.Bytes(), ends: kind != '>'}, err
}

// reader keeps what it reads.
type reader struct {
	in  *bufio.Reader
	raw bytes.Buffer
}

// command reads an array of texts, and returns the first two.
func (v *reader) command() (words []string, err error) {
	kind, n, err := v.line()
	if err != nil || kind != '*' {
		return nil, errors.Join(err, errNotRESP)
	}
	for i := range n {
		kind, size, err := v.line()
		if err != nil || kind != '$' {
			return nil, errors.Join(err, errNotRESP)
		}
		text, err := v.text(size)
		if err != nil {
			return nil, err
		}
		if i < 2 {
			words = append(words, text)
		}
	}
	return words, nil
}

// value reads a reply to its end.
func (v *reader) value() (kind byte, err error) {
	kind, n, err := v.line()
	if err != nil {
		return kind, err
	}
	parts := 0
	switch kind {
	case '$', '!', '=': // bulk
		_, err = v.text(n)
	case '*', '~', '>': // array, set, push
		parts = n
	case '%': // map
		parts = 2 * n
	case '|': // attributes, and what they are of
		parts = 2*n + 1
	case '+', '-', ':', '_', ',', '#', '(': // one line
	default:
		err = errNotRESP
	}
	for range parts {
		if err != nil {
			return kind, err
		}
		_, err = v.value()
	}
	return kind, err
}

// line reads a type with its number, if it has one; none is -1.
func (v *reader) line() (kind byte, n int, err error) {
	line, err := v.in.ReadBytes('\n')
	if err != nil {
		return 0, 0, err
	}
	v.raw.Write(line)
	if len(line) < 3 {
		return 0, 0, errNotRESP
	}
	switch kind = line[0]; kind {
	case '*', '$', '!', '=', '~', '>', '%', '|':
		n, err = strconv.Atoi(strings.TrimSpace(string(line[1:])))
		if err != nil || n > 1<<29 {
			return kind, 0, fmt.Errorf("%w: %.20q", errNotRESP, line)
		}
	}
	return kind, n, nil
}

// text reads so many bytes and the end of the line; none is -1.
func (v *reader) text(size int) (string, error) {
	if size < 0 {
		return "", nil
	}
	begin := v.raw.Len()
	if _, err := io.CopyN(&v.raw, v.in, int64(size)+2); err != nil {
		return "", err
	}
	return string(v.raw.Bytes()[begin : begin+size]), nil
}
