package semelhttp

import (
	"crypto/sha256"
	"errors"
	"io"
	"net/http"
	"sync"
)

// Intent makes the keys of one thing that a user wants done, such as what a form
// submits: the same key for the same content until there is an answer, and a new
// one after each answer and for other content. So a retry cannot execute twice, and
// a user who corrects a rejected form is not told for ever that the key was used
// with another request. A status from 500 on is an answer only if it is a replay:
// before that, nobody knows how far the operation came.
//
// The zero value is ready. An Intent may be used concurrently: a double click has
// one key.
type Intent struct {
	mu      sync.Mutex
	key     string
	content [sha256.Size]byte
}

// Key returns the key under which content is to be sent now.
func (n *Intent) Key(content []byte) string { return n.keyOf(sha256.Sum256(content), NewKey) }

func (n *Intent) keyOf(content [sha256.Size]byte, fresh func() string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.key == "" || n.content != content {
		n.key, n.content = fresh(), content
	}
	return n.key
}

// Settle tells what came of a request that was sent with key: what [Client.Do] or
// [http.Client.Do] returned. The key stays in use after no answer, 401, 429,
// in-progress and other problems that say same-key, and while the outcome is not
// known: outcome-unknown, and a status from 500 on that is no replay. Everything
// else is an answer. The body of resp can be read as before.
func (n *Intent) Settle(key string, resp *http.Response, err error) {
	if !isAnswer(resp, err) {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.key == key { // else another content has replaced it
		n.key = ""
	}
}

// Do sends req through c under the intent's key, and settles it. What counts as
// content is method, address and body.
func (n *Intent) Do(c *Client, req *http.Request) (*http.Response, error) {
	if len(c.transport.lines(req)) > 0 {
		closeBody(req)
		return nil, errors.New("semelhttp: the request has a key already, and the intent would make one; take it out")
	}
	req, err := c.rewindable(req)
	if err != nil {
		return nil, err
	}
	content, err := contentOf(req)
	if err != nil {
		closeBody(req)
		return nil, err
	}
	key := n.keyOf(content, c.transport.opts.NewKey)
	resp, err := c.Do(req.WithContext(WithKey(req.Context(), key)))
	n.Settle(key, resp, err)
	return resp, err
}

// contentOf digests what the user wants done.
func contentOf(req *http.Request) (sum [sha256.Size]byte, err error) {
	h := sha256.New()
	io.WriteString(h, req.Method+" "+req.URL.String()+"\n")
	if req.GetBody != nil {
		body, err := req.GetBody()
		if err != nil {
			return sum, err
		}
		defer body.Close()
		if _, err := io.Copy(h, body); err != nil {
			return sum, err
		}
	}
	h.Sum(sum[:0])
	return sum, nil
}

// isAnswer reports whether an operation has answered.
func isAnswer(resp *http.Response, err error) bool {
	p, ok := errors.AsType[*ProblemError](err)
	if err == nil {
		p = problemOf(resp)
		ok = p != nil
	}
	switch {
	case ok:
		return p.Retry != RetrySameKey && !errors.Is(p, ErrOutcomeUnknown) && settles(p.Status)
	case err != nil:
		return false
	case Replayed(resp):
		return true
	}
	return settles(resp.StatusCode) && resp.StatusCode != http.StatusTooManyRequests
}

// settles reports whether a status, first hand, says what came of the operation.
func settles(status int) bool { return status < 500 && status != http.StatusUnauthorized }
