package semelhttp

import (
	"bytes"
	"io"
	"net/http"
)

// Client sends requests through a [Transport] and tells the operation's answers
// from those of the layer. It may be used concurrently.
type Client struct {
	http      http.Client
	transport *Transport
}

// NewClient returns a client that does what base does (its redirects, cookies and
// timeout; nil is a client of its own) through a [Transport]. Base is not changed.
// Its Timeout bounds all tries together.
func NewClient(base *http.Client, opts *TransportOptions) (*Client, error) {
	c := &Client{}
	if base != nil {
		c.http = *base
	}
	t, err := NewTransport(c.http.Transport, opts)
	if err != nil {
		return nil, err
	}
	c.http.Transport, c.transport = t, t
	return c, nil
}

// HTTP returns the client beneath, for libraries that ask for an [http.Client].
// It returns problems as responses: see [CheckResponse].
func (c *Client) HTTP() *http.Client { return &c.http }

// Do sends a request as [http.Client.Do] does, with these differences: an answer of
// the layer itself is a [*ProblemError], and a body without GetBody is read first,
// so that a redirect with 307 or 308 can take it along. If the error is nil, the
// response is the operation's own, and the caller closes its body.
func (c *Client) Do(req *http.Request) (*http.Response, error) {
	req, err := c.rewindable(req)
	if err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	if err := CheckResponse(resp); err != nil {
		resp.Body.Close()
		return nil, err
	}
	return resp, nil
}

// rewindable returns req with a body that can be opened again.
func (c *Client) rewindable(req *http.Request) (*http.Request, error) {
	if req.Body == nil || req.Body == http.NoBody || req.GetBody != nil || !takesKey(req.Method) {
		return req, nil
	}
	data, err := readBody(req, c.transport.opts.MaxBody)
	closeBody(req)
	if err != nil {
		return nil, err
	}
	req = req.WithContext(req.Context()) // a copy
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
	req.Body, _ = req.GetBody()
	req.ContentLength = int64(len(data))
	return req, nil
}
