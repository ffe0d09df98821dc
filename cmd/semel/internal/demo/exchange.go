package demo

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/semel-go/semel/semelhttp"
)

// exchange is a message and what the gateway answered.
type exchange struct {
	sent, got  string // as they were on the wire
	status     int    // 0: no answer, or none that could be read
	replayed   bool
	retryAfter string
	problem    problem
}

// problem is what a program reads of an answer of the gateway itself.
type problem struct {
	Code   semelhttp.Code
	Retry  semelhttp.Retry
	Detail string
}

const problemType = "application/problem+json"

// patience is how long an answer is waited for.
const patience = 15 * time.Second

// converse writes the message on a connection of its own and reads the answer.
func converse(ctx context.Context, addr string, m message) exchange {
	x := exchange{sent: m.text}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return x
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	conn.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(conn, m.text); err != nil {
		return x
	}
	if m.hangUp {
		conn.(*net.TCPConn).CloseWrite()
	}
	x.read(conn)
	return x
}

// maxAnswer is how much of an answer is read.
const maxAnswer = 64 << 10

func (x *exchange) read(from io.Reader) {
	var wire bytes.Buffer
	defer func() { x.got = wire.String() }()
	method, _, _ := strings.Cut(x.sent, " ")
	res, err := http.ReadResponse(bufio.NewReader(io.TeeReader(io.LimitReader(from, maxAnswer), &wire)), &http.Request{Method: method})
	if err != nil {
		return
	}
	defer res.Body.Close()
	body, _ := io.ReadAll(res.Body)
	x.status = res.StatusCode
	x.replayed = res.Header.Get(replayedHeader) == "true"
	x.retryAfter = res.Header.Get("Retry-After")
	if res.Header.Get("Content-Type") == problemType && json.Unmarshal(body, &x.problem) != nil {
		x.problem = problem{}
	}
}
