package semelhttp

import (
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

// identify makes the input of the fingerprint: version, method, path, query,
// type, encoding and body. Where a route is in the scope it stands for method and
// path.
func (d *identity) identify(r *http.Request, route string, body *requestBody) semel.Input {
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
	contentType := strings.Join(r.Header["Content-Type"], ",")
	d.add(essence(contentType))
	d.add(strings.ToLower(strings.Join(r.Header["Content-Encoding"], ",")))
	kind, sum := digestBody(contentType, body)
	d.buf = append(d.buf, kind...)
	d.add(string(sum[:]))
	return d.input()
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

// digestBody digests the raw bytes, or the parts of a multipart form: each submit
// of a form makes a new boundary, which must not make another request of it.
func digestBody(contentType string, body *requestBody) (kind string, sum [sha256.Size]byte) {
	if essence(contentType) == "multipart/form-data" {
		if sum, ok := digestForm(contentType, body); ok {
			return "form:", sum
		}
	}
	return "raw:", body.digest()
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
