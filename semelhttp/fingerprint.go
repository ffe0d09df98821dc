package semelhttp

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/semel-go/semel"
)

// identity collects the parts of a request's fingerprint without an allocation
// for each of them.
type identity struct {
	buf   []byte
	ends  [8]int
	n     int
	parts [8][]byte
}

func (d *identity) add(part string) {
	d.buf = append(d.buf, part...)
	d.ends[d.n] = len(d.buf)
	d.n++
}

// input returns the collected parts; it is good until the next reset.
func (d *identity) input() semel.Input {
	start := 0
	for i := range d.n {
		d.parts[i] = d.buf[start:d.ends[i]]
		start = d.ends[i]
	}
	return semel.InputBytes(d.parts[:d.n]...)
}

func (d *identity) reset() {
	clear(d.parts[:])
	d.buf, d.n = d.buf[:0], 0
}

// begin collects version, method, path, query, type and encoding: all that comes
// before the body. Where a route is in the scope it stands for method and path.
func (d *identity) begin(r *http.Request, route string) {
	d.reset()
	d.add("semel/http/1")
	if route == "" {
		d.add(r.Method)
		d.add(r.URL.EscapedPath())
	} else {
		d.add("")
		d.add("")
	}
	d.add(canonicalQuery(r.URL.RawQuery))
	d.add(essence(contentType(r)))
	d.add(contentCoding(r))
}

// addContent collects the body.
func (d *identity) addContent(c content) {
	d.buf = append(d.buf, c.kind...)
	d.add(string(c.sum[:]))
}

// inputWith is the input with another content, independent of d.
func (d *identity) inputWith(c content) semel.Input {
	parts := make([][]byte, 0, d.n)
	start := 0
	for i := range d.n - 1 {
		parts = append(parts, bytes.Clone(d.buf[start:d.ends[i]]))
		start = d.ends[i]
	}
	return semel.InputBytes(append(parts, append([]byte(c.kind), c.sum[:]...))...)
}

// sum digests what was collected, each part with its size.
func (d *identity) sum() (sum [sha256.Size]byte) {
	h := sha256.New()
	start := 0
	for i := range d.n {
		writeSized(h, string(d.buf[start:d.ends[i]]))
		start = d.ends[i]
	}
	h.Sum(sum[:0])
	return sum
}

func contentType(r *http.Request) string { return strings.Join(r.Header["Content-Type"], ",") }

func contentCoding(r *http.Request) string {
	return strings.ToLower(strings.Join(r.Header["Content-Encoding"], ","))
}

// essence is the media type without parameters, in lower case.
func essence(contentType string) string {
	media, _, _ := strings.Cut(contentType, ";")
	return strings.ToLower(strings.Trim(media, " \t"))
}

// canonicalQuery orders the pairs of a query by their decoded names, and leaves
// the order of one name's values and every byte of the pairs as they are: for a
// handler that looks values up by name, two queries with the same canonical form
// are the same. A query with a name that cannot be decoded stays as it is.
func canonicalQuery(raw string) string {
	if !strings.Contains(raw, "&") {
		return raw
	}
	type pair struct{ name, text string }
	var pairs []pair
	for text := range strings.SplitSeq(raw, "&") {
		name, _, _ := strings.Cut(text, "=")
		name, err := url.QueryUnescape(name)
		if err != nil {
			return raw
		}
		pairs = append(pairs, pair{name, text})
	}
	byName := func(a, b pair) int { return cmp.Compare(a.name, b.name) }
	if slices.IsSortedFunc(pairs, byName) {
		return raw
	}
	slices.SortStableFunc(pairs, byName)
	texts := make([]string, len(pairs))
	for i, p := range pairs {
		texts[i] = p.text
	}
	return strings.Join(texts, "&")
}

// content is what a body says: how it was understood, and its digest.
type content struct {
	kind string
	sum  [sha256.Size]byte
}

// plainContent digests the raw bytes, or the parts of a multipart form: each
// submit of a form makes a new boundary, which must not make another request of it.
func plainContent(r *http.Request, body *requestBody) content {
	if essence(contentType(r)) == "multipart/form-data" {
		if sum, ok := digestForm(contentType(r), body); ok {
			return content{"form:", sum}
		}
	}
	return content{"raw:", body.digest()}
}

// digestForm digests header and content of each part, in order. It reports false
// for a form that cannot be read to its end.
func digestForm(contentType string, body *requestBody) (sum [sha256.Size]byte, ok bool) {
	_, params, err := mime.ParseMediaType(contentType)
	if err != nil || params["boundary"] == "" {
		return sum, false
	}
	body.rewind()
	defer body.rewind()
	form := multipart.NewReader(body, params["boundary"])
	whole := sha256.New()
	for {
		part, err := form.NextRawPart()
		if err == io.EOF {
			whole.Sum(sum[:0])
			return sum, true
		}
		if err != nil || digestPart(whole, part) != nil {
			return sum, false
		}
	}
}

// digestPart adds the part's header (name, filename and type are there) and the
// digest of its content.
func digestPart(whole hash.Hash, part *multipart.Part) error {
	for _, name := range sortedNames(http.Header(part.Header)) {
		for _, value := range part.Header[name] {
			writeSized(whole, name)
			writeSized(whole, value)
		}
	}
	content := sha256.New()
	if _, err := io.Copy(content, part); err != nil {
		return err
	}
	writeSized(whole, "")
	_, err := whole.Write(content.Sum(nil))
	return err
}

func writeSized(h hash.Hash, s string) {
	var size [8]byte
	binary.BigEndian.PutUint64(size[:], uint64(len(s)))
	h.Write(size[:])
	h.Write([]byte(s))
}
