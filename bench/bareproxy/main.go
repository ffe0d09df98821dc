// Command bareproxy is what the gateway is compared with: net/http's reverse
// proxy on a transport that is tuned like the gateway's, and nothing else.
//
//	bareproxy UPSTREAM
//
// It prints the address that it listens on.
package main

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"sync"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bareproxy:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("usage: bareproxy UPSTREAM")
	}
	upstream, err := url.Parse(args[0])
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr())
	server := &http.Server{Handler: proxy(upstream), ReadHeaderTimeout: 10 * time.Second}
	return server.Serve(listener)
}

func proxy(upstream *url.URL) http.Handler {
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(upstream)
			r.SetXForwarded()
		},
		Transport:  &http.Transport{MaxIdleConnsPerHost: 1024, IdleConnTimeout: time.Second, DisableCompression: true},
		BufferPool: &buffers{sync.Pool{New: func() any { return new([size]byte) }}},
	}
}

const size = 32 << 10

type buffers struct{ pool sync.Pool }

func (b *buffers) Get() []byte  { return b.pool.Get().(*[size]byte)[:] }
func (b *buffers) Put(p []byte) { b.pool.Put((*[size]byte)(p)) }
