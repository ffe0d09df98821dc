package security

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// message is one request as its bytes came.
type message struct {
	line string // method, target and version
	head string // header lines, each with its end
	body string // with its chunks taken off, trailers appended
}

func (m *message) has(line string) bool { return strings.Contains(m.head, "\r\n"+line+"\r\n") }

// strictUpstream reads what the gateway sends byte by byte and takes offence at
// everything that two parsers could read in two ways.
type strictUpstream struct {
	t *testing.T
	net.Listener

	mu  sync.Mutex
	got []message
}

// wire keeps the bytes of one connection.
type wire struct {
	net.Conn
	read bytes.Buffer
}

func (w *wire) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	w.read.Write(p[:n])
	return n, err
}

func newStrictUpstream(t *testing.T) *strictUpstream {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	u := &strictUpstream{t: t, Listener: l}
	var open sync.WaitGroup
	open.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			open.Go(func() { u.serve(&wire{Conn: conn}) })
		}
	})
	t.Cleanup(func() { l.Close(); open.Wait() })
	return u
}

func (u *strictUpstream) url() string { return "http://" + u.Addr().String() }

func (u *strictUpstream) serve(conn *wire) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	for {
		if _, err := in.Peek(1); err != nil {
			return
		}
		m, err := readStrictly(in)
		u.add(m)
		if err != nil {
			u.t.Errorf("the upstream got bytes of two meanings: %v in\n%q", err, conn.read.String())
			return
		}
		io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
	}
}

func (u *strictUpstream) add(m message) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.got = append(u.got, m)
}

// messages returns what came so far.
func (u *strictUpstream) messages() []message {
	u.mu.Lock()
	defer u.mu.Unlock()
	return append([]message(nil), u.got...)
}

var (
	requestLine = regexp.MustCompile(`^[A-Z]+ /[!-~]* HTTP/1\.1$`)
	fieldLine   = regexp.MustCompile("^([A-Za-z0-9!#$%&'*+.^_`|~-]+): ([\\t -~\\x80-\\xff]*)$")
)

// readStrictly reads one request of which no parser can have another opinion.
func readStrictly(in *bufio.Reader) (m message, err error) {
	if m.line, err = readLine(in); err != nil {
		return m, err
	}
	if !requestLine.MatchString(m.line) {
		return m, fmt.Errorf("request line %q", m.line)
	}
	fields, err := readFields(in, &m)
	if err != nil {
		return m, err
	}
	m.body, err = readBody(in, fields)
	return m, err
}

// readFields reads the header lines; the names of those that must be single come
// back in lower case.
func readFields(in *bufio.Reader, m *message) (map[string]string, error) {
	m.head = "\r\n"
	fields := map[string]string{}
	for {
		line, err := readLine(in)
		if err != nil || line == "" {
			return fields, err
		}
		m.head += line + "\r\n"
		parts := fieldLine.FindStringSubmatch(line)
		if parts == nil {
			return nil, fmt.Errorf("header line %q", line)
		}
		name := strings.ToLower(parts[1])
		if _, twice := fields[name]; twice && single[name] {
			return nil, fmt.Errorf("two lines of %s", name)
		}
		fields[name] = parts[2]
	}
}

var single = map[string]bool{"host": true, "content-length": true, "transfer-encoding": true, "idempotency-key": true, "x-tenant": true}

func readBody(in *bufio.Reader, fields map[string]string) (string, error) {
	length, hasLength := fields["content-length"]
	coding, hasCoding := fields["transfer-encoding"]
	switch {
	case hasLength && hasCoding:
		return "", fmt.Errorf("Content-Length %q and Transfer-Encoding %q", length, coding)
	case hasCoding && coding != "chunked":
		return "", fmt.Errorf("Transfer-Encoding %q", coding)
	case hasCoding:
		return readChunks(in)
	case hasLength:
		return readExactly(in, length, 10)
	}
	return "", nil
}

func readExactly(in *bufio.Reader, size string, base int) (string, error) {
	n, err := strconv.ParseUint(size, base, 31)
	if err != nil {
		return "", err
	}
	data := make([]byte, n)
	_, err = io.ReadFull(in, data)
	return string(data), err
}

func readChunks(in *bufio.Reader) (string, error) {
	var body strings.Builder
	for {
		size, err := readLine(in)
		if err != nil {
			return "", err
		}
		if size == "0" {
			var trailers message
			_, err := readFields(in, &trailers)
			return body.String() + trailers.head, err
		}
		data, err := readExactly(in, size, 16)
		if err != nil {
			return "", err
		}
		body.WriteString(data)
		if end, err := readLine(in); err != nil || end != "" {
			return "", fmt.Errorf("a chunk ends with %q, %v", end, err)
		}
	}
}

// readLine reads up to CR LF and refuses any other control character.
func readLine(in *bufio.Reader) (string, error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return line, err
	}
	line, ok := strings.CutSuffix(line, "\r\n")
	if !ok || strings.ContainsAny(line, "\r\n\x00") {
		return line, fmt.Errorf("a line without its end, or with another: %q", line)
	}
	return line, nil
}
