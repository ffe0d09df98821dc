package semelhttp_test

import (
	"strings"
	"testing"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/semelhttp"
)

const (
	urlencoded = "application/x-www-form-urlencoded"
	multiform  = `multipart/form-data; boundary="b"`
)

// parts is a multipart form of parts that are written out, heads and all.
func parts(list ...string) string {
	return "--b\r\nContent-Disposition: form-data; " + strings.Join(list, "\r\n--b\r\nContent-Disposition: form-data; ") + "\r\n--b--\r\n"
}

// What may stand at the place of a key in a form.
//
// Field fault: validation failure of an internal key silently turns dedupe off.
func TestKeyInForm(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("k", 256)
	tests := []keyCase{
		{"field", "amount=1&key=k-1", urlencoded, "k-1"},
		{"charset", "key=k-1", urlencoded + "; charset=UTF-8", "k-1"},
		{"escaped", "%6Bey=%C3%A9+%22x%26", urlencoded, `é "x&`},
		{"as long as it may be, and escaped", "key=" + strings.Repeat("%6b", 255), urlencoded, long[1:]},
		{"part", parts("name=amount\r\n\r\n1", "name=key\r\n\r\nk-1"), multiform, "k-1"},
		{"after a file", parts("name=key; filename=a\r\n\r\nfile", "name=key\r\n\r\nk-1"), multiform, "k-1"},
		{"absent", "amount=1", urlencoded, "-"},
		{"other case", "Key=k-1", urlencoded, "-"},
		{"no such part", parts("name=amount\r\n\r\n1"), multiform, "-"},
		{"a file", parts("name=key; filename=a\r\n\r\nk-1"), multiform, "-"},
		{"empty", "", urlencoded, "-"},
		{"JSON", `{"key":"k-1"}`, "application/json", "-"},
		{"no type", "key=k-1", "", "-"},
		{"no value", "key", urlencoded, ""},
		{"blank", "key=+", urlencoded, ""},
		{"blank part", parts("name=key\r\n\r\n"), multiform, ""},
		{"twice", "key=k-1&key=k-1", urlencoded, ""},
		{"two parts", parts("name=key\r\n\r\nk-1", "name=key\r\n\r\nk-1"), multiform, ""},
		{"twice, written otherwise", "key=k-1&%6bey=k-2", urlencoded, ""},
		{"no escape", "key=%zz", urlencoded, ""},
		{"no UTF-8", "key=%FF", urlencoded, ""},
		{"over-long", "key=" + long, urlencoded, ""},
		{"over-long, and escaped", "key=" + strings.Repeat("%6b", 256), urlencoded, ""},
		{"over-long, whatever it says", "key=" + strings.Repeat("%zz", 256), urlencoded, ""},
		{"over-long part", parts("name=key\r\n\r\n" + long), multiform, ""},
		{"cut", strings.TrimSuffix(parts("name=key\r\n\r\nk-1"), "--\r\n"), multiform, ""},
		{"no boundary", parts("name=key\r\n\r\nk-1"), "multipart/form-data", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.check(t, semelhttp.KeyForm("key"))
		})
	}
}

// A browser sends the parts of a form with a new boundary at each submit.
func TestKeyInFormSubmittedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, keys(semelhttp.KeyForm("key")), echo)
	form := parts("name=key\r\n\r\nk-1", "name=amount\r\n\r\n1")
	first := w.post(form, unkeyed, typed(multiform))
	replays(t, first, w.post(strings.ReplaceAll(form, "--b", "--other"), unkeyed, typed("multipart/form-data; boundary=other")))
	w.post(strings.ReplaceAll(form, "\n1", "\n2"), unkeyed, typed(multiform)).isProblem(t, 422, "key-reused")
	w.ran(1)
}

// Headers count before forms; fields are searched in their order.
func TestKeyInFormAmongOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, keys(semelhttp.KeyForm("a"), semelhttp.KeyBody("/id"), semelhttp.KeyForm("b"), semelhttp.KeyHeader("X-Key")), echo)
	w.post("b=second&a=first", typed(urlencoded))
	w.post("b=second", typed(urlencoded))
	w.post("a=first", typed(urlencoded), header("X-Key", "header"))
	w.post(`{"id":"body"}`)
	for _, key := range []string{"first", "second", "header", "body"} {
		if got := w.record(alice, "", key).State; got != semel.StateDone {
			t.Errorf("the record of %q is %v", key, got)
		}
	}
	w.post("b=&a=third", typed(urlencoded)).is(t, 201, "b=&a=third")
	w.post("a=&b=third", typed(urlencoded)).isProblem(t, 400, "invalid-key")
	w.ran(5)
}

func TestKeyInFormIsChecked(t *testing.T) {
	t.Parallel()
	o := semelhttp.Options{RequireKey: true, Keys: []semelhttp.KeySource{semelhttp.KeyForm("key")}, MinKeyLength: 2, MaxKeyLength: 36, KeyFormat: semelhttp.KeyUUID}
	w := newWorld(t, &setup{http: o}, echo)
	for _, key := range []string{"k", "k-1", strings.Repeat("k", 37)} {
		w.post("key="+key, typed(urlencoded)).isProblem(t, 400, "invalid-key")
	}
	w.post("key=k-1", typed(urlencoded), header("Content-Encoding", "gzip")).isProblem(t, 400, "invalid-key")
	w.post("amount=1", typed(urlencoded)).isProblem(t, 400, "missing-key")
	const id = "key=0190d6b5-6f2c-7b5e-8d3a-2f4b6c8d0e1f"
	w.post(id, typed(urlencoded), as("")).isProblem(t, 401, "no-principal")
	w.ran(0)
	w.post(id, typed(urlencoded)).is(t, 201, id)
	w.ran(1)
}
