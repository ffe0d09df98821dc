package redisstore

import (
	"bufio"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
)

const (
	silence = "…" // no reply any more, on a connection that stays open
	skipped = "-" // no reply to this one
)

// scripted is a store on a server that answers scripts and PING as it is told: the text of a
// reply, or "" to hang up. The last one is repeated.
func scripted(t testing.TB, o *redis.Options, replies ...string) *Store {
	t.Helper()
	said := make(chan string, len(replies)+1000)
	for _, r := range replies {
		said <- r
	}
	for range 1000 {
		said <- replies[len(replies)-1]
	}
	return scriptedBy(t, o, said)
}

// scriptedBy takes each reply from a channel when a script has come.
func scriptedBy(t testing.TB, o *redis.Options, said <-chan string) *Store {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o.Addr, o.ContextTimeoutEnabled, o.DisableIdentity = l.Addr().String(), true, true
	client := redis.NewClient(o)
	var served sync.WaitGroup
	served.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			served.Go(func() { serve(conn, said) })
		}
	})
	t.Cleanup(func() {
		client.Close()
		l.Close()
		served.Wait()
	})
	all, err := loadScripts()
	if err != nil {
		t.Fatal(err)
	}
	options := (*Options)(nil).withDefaults()
	return &Store{client: client, route: newRoute(client, options), scripts: all, options: options}
}

// serve answers one connection.
func serve(conn net.Conn, said <-chan string) {
	defer conn.Close()
	r := bufio.NewReader(conn)
	for {
		name, err := command(r)
		if err != nil {
			return
		}
		reply := "-ERR unknown command\r\n"
		switch name = strings.ToUpper(name); {
		case strings.HasPrefix(name, "EVAL"), name == "PING":
			reply = <-said
		case name == "SUBSCRIBE":
			reply = "*3\r\n$9\r\nsubscribe\r\n$11\r\nsemel:ended\r\n:1\r\n"
		}
		switch reply {
		case skipped:
			continue
		case "":
			return
		case silence:
			_, _ = io.Copy(io.Discard, r)
			return
		}
		if _, err := io.WriteString(conn, reply); err != nil {
			return
		}
	}
}

// command reads a command and returns its name.
func command(r *bufio.Reader) (name string, err error) {
	words, err := number(r)
	for i := range words {
		size, err := number(r)
		if err != nil {
			return "", err
		}
		word := make([]byte, size+2)
		if _, err := io.ReadFull(r, word); err != nil {
			return "", err
		}
		if i == 0 {
			name = string(word[:size])
		}
	}
	return name, err
}

func number(r *bufio.Reader) (int, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(line[1:]))
}
