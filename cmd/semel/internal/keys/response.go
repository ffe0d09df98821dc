package keys

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/semelhttp"
)

// ReadResponse reads an HTTP response as `curl -i` prints it and returns it as a
// result that a retry will be answered with. Interim (1xx) responses before it
// are skipped. The body is what follows the empty line, as it is: curl has
// decoded chunks already.
func ReadResponse(r io.Reader) (semel.StoredResult, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return semel.StoredResult{}, err
	}
	res, err := parseResponse(data)
	if err != nil {
		return semel.StoredResult{}, fmt.Errorf("no HTTP response as curl -i prints it: %w", err)
	}
	result := semelhttp.EncodeResponse(res)
	if _, err := semelhttp.DecodeResponse(result); err != nil {
		return result, fmt.Errorf("this response cannot be sent: %w", err)
	}
	return result, nil
}

func parseResponse(data []byte) (semelhttp.Response, error) {
	head, body, err := splitResponse(data)
	if err != nil {
		return semelhttp.Response{}, err
	}
	status, pairs, err := parseHead(head)
	if err != nil {
		return semelhttp.Response{}, err
	}
	if status < 200 {
		return parseResponse(body)
	}
	res := semelhttp.Response{Status: status, Body: body}
	for _, p := range pairs {
		switch {
		case strings.EqualFold(p.Name, "Content-Length"):
			if n, err := strconv.Atoi(p.Value); err != nil || n != len(body) {
				return res, fmt.Errorf("the body has %d bytes and Content-Length says %s: the file was cut, changed, or made with --compressed", len(body), p.Value)
			}
		case !slices.Contains(ofOneMessage, p.Name):
			res.Header = append(res.Header, p)
		}
	}
	return res, nil
}

// ofOneMessage are fields that curl shows and a replay must not repeat.
var ofOneMessage = []string{"Transfer-Encoding", "Connection", "Keep-Alive", "Trailer", "Date", "Age", "Alt-Svc", "Set-Cookie", "Idempotency-Key", "Idempotent-Replayed"}

func splitResponse(data []byte) (head, body []byte, err error) {
	for _, gap := range []string{"\r\n\r\n", "\n\n"} {
		if head, body, ok := bytes.Cut(data, []byte(gap)); ok && !bytes.Contains(head, []byte("\n\n")) {
			return head, body, nil
		}
	}
	return nil, nil, errors.New("there is no empty line after the header")
}

// parseHead checks a status line and field lines with net/http, and returns the
// fields in their order, which net/http's map does not keep.
func parseHead(head []byte) (int, []semelhttp.HeaderPair, error) {
	text := strings.ReplaceAll(string(head), "\r\n", "\n")
	first, fields, _ := strings.Cut(text, "\n")
	for _, short := range []string{"HTTP/2 ", "HTTP/3 "} { // as curl writes them
		if rest, ok := strings.CutPrefix(first, short); ok {
			first = strings.TrimSpace(short) + ".0 " + rest
		}
	}
	res, err := http.ReadResponse(bufio.NewReader(strings.NewReader(first+"\n"+withoutFraming(fields)+"\n\n")), nil)
	if err != nil {
		return 0, nil, err
	}
	res.Body.Close()
	return res.StatusCode, pairsOf(fields), nil
}

// withoutFraming drops the fields by which net/http would look for a body.
func withoutFraming(fields string) string {
	var kept []string
	for line := range strings.Lines(fields) {
		name, _, _ := strings.Cut(line, ":")
		if !strings.EqualFold(name, "Content-Length") && !strings.EqualFold(name, "Transfer-Encoding") {
			kept = append(kept, strings.TrimSuffix(line, "\n"))
		}
	}
	return strings.Join(kept, "\n")
}

func pairsOf(fields string) []semelhttp.HeaderPair {
	var pairs []semelhttp.HeaderPair
	for line := range strings.Lines(fields) {
		if name, value, ok := strings.Cut(line, ":"); ok {
			pairs = append(pairs, semelhttp.HeaderPair{Name: http.CanonicalHeaderKey(name), Value: strings.TrimSpace(value)})
		}
	}
	return pairs
}
