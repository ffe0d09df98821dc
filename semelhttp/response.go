package semelhttp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/semel-go/semel"
)

// Response is a recorded answer.
type Response struct {
	Status int // 200–999
	Header []HeaderPair
	// Trailer holds what follows the body. A name that was not announced keeps
	// [http.TrailerPrefix].
	Trailer []HeaderPair
	Body    []byte
}

// HeaderPair is one header field. Pairs of one name keep their order.
type HeaderPair struct {
	Name, Value string
	// Added says that the value was added to ones which an outer layer had set, and
	// does not replace them.
	Added bool
}

// responseFormat is the first byte of an encoded response.
const responseFormat = 1

// EncodeResponse returns resp as stores keep it, with the bytes of the body
// copied. Whether it can be sent is checked where it is read: see [DecodeResponse].
//
// The format: a byte of version (1), the status, header, trailer and body, where
// numbers and lengths are unsigned varints (encoding/binary), a list of pairs
// begins with its length in bytes, a pair is 2×(length of the name) + Added,
// name, length of the value, value, and the body is its length and its bytes.
func EncodeResponse(resp Response) semel.StoredResult {
	var e responseEncoder
	return e.encode(&resp)
}

// responseEncoder encodes with room to reuse.
type responseEncoder struct{ header, trailer []byte }

func (e *responseEncoder) encode(resp *Response) semel.StoredResult {
	e.header, e.trailer = appendPairs(e.header[:0], resp.Header), appendPairs(e.trailer[:0], resp.Trailer)
	out := make([]byte, 0, 1+4*binary.MaxVarintLen32+len(e.header)+len(e.trailer)+len(resp.Body))
	out = append(out, responseFormat)
	out = binary.AppendUvarint(out, uint64(resp.Status))
	out = appendSized(out, e.header)
	out = appendSized(out, e.trailer)
	out = appendSized(out, resp.Body)
	return semel.StoredResult{Kind: semel.ResultHTTP, Data: out}
}

func appendPairs(buf []byte, pairs []HeaderPair) []byte {
	for _, p := range pairs {
		head := uint64(len(p.Name)) << 1
		if p.Added {
			head |= 1
		}
		buf = append(binary.AppendUvarint(buf, head), p.Name...)
		buf = appendSized(buf, p.Value)
	}
	return buf
}

func appendSized[S string | []byte](buf []byte, s S) []byte {
	return append(binary.AppendUvarint(buf, uint64(len(s))), s...)
}

var errResponseDamaged = errors.New("semelhttp: the recorded response is damaged; it is not replayed")

// DecodeResponse reads a recorded response. The body shares its bytes with
// stored. A tombstone, another kind of result, a newer format, or a response that
// could not be sent as it is (its header holds a line break, say) is an error.
func DecodeResponse(stored semel.StoredResult) (Response, error) {
	if stored.Kind != semel.ResultHTTP {
		return Response{}, fmt.Errorf("semelhttp: the record holds no response (result kind %d)", stored.Kind)
	}
	d := responseDecoder{rest: stored.Data}
	if version := d.bytes(1); !d.bad && version[0] > responseFormat {
		return Response{}, errors.New("semelhttp: the response was recorded by a newer version; upgrade here first")
	}
	status := d.number()
	resp := Response{Header: d.pairs(""), Trailer: d.pairs(http.TrailerPrefix), Body: d.bytes(d.number())}
	if d.bad || len(d.rest) > 0 || status < 200 || status > 999 {
		return Response{}, errResponseDamaged
	}
	resp.Status = int(status)
	return resp, nil
}

// responseDecoder consumes rest from its front; after a mistake it is bad and
// empty.
type responseDecoder struct {
	rest []byte
	bad  bool
}

func (d *responseDecoder) number() uint64 {
	n, size := binary.Uvarint(d.rest)
	if size <= 0 {
		d.bad, d.rest = true, nil
		return 0
	}
	d.rest = d.rest[size:]
	return n
}

func (d *responseDecoder) bytes(n uint64) []byte {
	if n > uint64(len(d.rest)) {
		d.bad, d.rest = true, nil
		return nil
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

// pairs decodes a list of pairs whose names may have a prefix. One string holds
// the text of all.
func (d *responseDecoder) pairs(prefix string) []HeaderPair {
	list := d.bytes(d.number())
	if len(list) == 0 {
		return nil
	}
	text := string(list)
	in := responseDecoder{rest: list}
	cut := func(n uint64) string {
		size := len(in.bytes(n))
		end := len(list) - len(in.rest)
		return text[end-size : end]
	}
	pairs := make([]HeaderPair, 0, min(len(list)/16+1, 64))
	for len(in.rest) > 0 {
		head := in.number()
		p := HeaderPair{Name: cut(head >> 1), Value: cut(in.number()), Added: head&1 == 1}
		in.bad = in.bad || !isToken(strings.TrimPrefix(p.Name, prefix)) || !isFieldValue(p.Value)
		pairs = append(pairs, p)
	}
	d.bad = d.bad || in.bad
	return pairs
}

// tombstone is the result of an answer that is not kept.
func tombstone(status int) semel.StoredResult {
	if status == 0 {
		return semel.StoredResult{Kind: semel.ResultTombstone}
	}
	return semel.StoredResult{Kind: semel.ResultTombstone, Data: strconv.AppendInt([]byte("status="), int64(status), 10)}
}

// tombstoneStatus reads what tombstone wrote; 0 for any other remark.
func tombstoneStatus(remark []byte) int {
	status, err := strconv.Atoi(remarked(remark, "status"))
	if err != nil || status < 100 || status > 999 {
		return 0
	}
	return status
}

// remarked is what a remark says of a name, as name=value between blanks.
func remarked(remark []byte, name string) string {
	for word := range strings.FieldsSeq(string(remark)) {
		if value, ok := strings.CutPrefix(word, name+"="); ok {
			return value
		}
	}
	return ""
}
