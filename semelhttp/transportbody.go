package semelhttp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// sentBody is a request body that can be sent again: from get, else from data.
type sentBody struct {
	data   []byte
	get    func() (io.ReadCloser, error)
	length int64 // that of get, as in [http.Request.ContentLength]
}

// takeBody makes the body of req repeatable: by its GetBody, else by reading it.
func (t *Transport) takeBody(req *http.Request) (*sentBody, error) {
	inject := t.opts.Preset.BodyField != ""
	switch {
	case req.Body == nil || req.Body == http.NoBody:
		return &sentBody{}, nil
	case inject && signed(req.Header):
		return nil, errors.New("semelhttp: the request has a digest or coding of its body, into which the key has to go; set the key field yourself before you digest or compress")
	case req.GetBody != nil && !inject:
		return &sentBody{get: req.GetBody, length: req.ContentLength}, nil
	}
	data, err := readBody(req, t.opts.MaxBody)
	return &sentBody{data: data}, err
}

// signed reports whether something in the header depends on the body's bytes.
func signed(h http.Header) bool {
	for _, name := range [...]string{"Content-Encoding", "Content-Digest", "Repr-Digest", "Digest", "Content-Md5", "Signature"} {
		if h.Get(name) != "" {
			return true
		}
	}
	return false
}

// readBody reads a body of up to limit bytes.
func readBody(req *http.Request, limit int64) ([]byte, error) {
	tooLarge := fmt.Errorf("semelhttp: the request body has more than %d bytes, too much to keep for another try; set GetBody, or raise MaxBody", limit)
	if req.ContentLength > limit {
		return nil, tooLarge
	}
	data, err := io.ReadAll(io.LimitReader(req.Body, limit+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("semelhttp: the request body could not be read, and nothing was sent: %w", err)
	case int64(len(data)) > limit:
		return nil, tooLarge
	case req.ContentLength > 0 && req.ContentLength != int64(len(data)):
		return nil, fmt.Errorf("semelhttp: the request body has %d bytes, its ContentLength says %d", len(data), req.ContentLength)
	}
	return data, nil
}

// source returns what opens the body, and its length.
func (b *sentBody) source() (open func() (io.ReadCloser, error), length int64) {
	switch {
	case b.get != nil:
		return b.get, b.length
	case len(b.data) == 0:
		return func() (io.ReadCloser, error) { return http.NoBody, nil }, 0
	}
	return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.data)), nil }, int64(len(b.data))
}

// attach puts the body into a request; with rewind net/http may open it once more
// by itself.
func (b *sentBody) attach(req *http.Request, rewind bool) error {
	open, length := b.source()
	body, err := open()
	if err != nil {
		return fmt.Errorf("semelhttp: GetBody: %w", err)
	}
	req.Body, req.ContentLength = body, length
	if len(req.Trailer) > 0 {
		req.ContentLength = -1 // trailers need chunks
	}
	if rewind {
		req.GetBody = open
	}
	return nil
}

// wantsWhole reports whether an answer is to be read before it is returned.
func wantsWhole(resp *http.Response, limit int64) bool {
	if resp.ContentLength >= 0 {
		return resp.ContentLength <= limit
	}
	return isJSONType(resp.Header.Get("Content-Type"))
}

// readWhole reads the body of resp, up to limit. What is longer goes on as a stream.
func readWhole(resp *http.Response, limit int64) error {
	data, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err != nil {
		resp.Body.Close()
		return err
	}
	if int64(len(data)) > limit {
		resp.Body = rest{io.MultiReader(bytes.NewReader(data), resp.Body), resp.Body}
		return nil
	}
	resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(data))
	return nil
}

// peek returns the body of resp up to limit, and leaves it to be read as before.
func peek(resp *http.Response, limit int64) []byte {
	data, err := io.ReadAll(io.LimitReader(resp.Body, limit))
	after := io.Reader(resp.Body)
	if err != nil {
		after = broken{err}
	}
	resp.Body = rest{io.MultiReader(bytes.NewReader(data), after), resp.Body}
	return data
}

// rest is a body of which a part was read before.
type rest struct {
	io.Reader
	io.Closer
}

// broken fails as the body did.
type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }

// discard lets the connection of an unwanted answer be used again.
func discard(resp *http.Response) {
	_, _ = io.CopyN(io.Discard, resp.Body, maxProblem)
	resp.Body.Close()
}
