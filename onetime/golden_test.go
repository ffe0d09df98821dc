package onetime

import (
	"bytes"
	"os"
	"reflect"
	"regexp"
	"testing"
)

const (
	goldenSecret = "0123456789abcdef0123456789abcdef"
	golden       = "AcKsBOyrq6urq6urq6urq6urq6urAAAAAHDb2IB0btgeGHcKhkzv0Tp8hbXGJeJ8PFr4JciMIdzwb-Ckow"
)

// The form of tokens is public (docs/one-time-tokens.md), so that services in other
// languages can issue them; this one was made by other means, from the page alone.
func TestGoldenToken(t *testing.T) {
	t.Parallel()
	issuer, err := NewIssuer([][]byte{[]byte(goldenSecret)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	b := body{key: issuer.ring.keys[0].id, expires: 1893456000} // 2030-01-01
	copy(b.id[:], bytes.Repeat([]byte{0xab}, idSize))
	raw := append(b.append(nil), issuer.ring.mac(&issuer.ring.keys[0], &b, "order", "alice")...)
	if got := encoding.EncodeToString(raw); got != golden {
		t.Errorf("got  %s\nwant %s", got, golden)
	}
}

// The page has the golden token and a row for every option.
func TestPageIsComplete(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/one-time-tokens.md")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(page, []byte("\n"+golden+"\n")) {
		t.Error("docs/one-time-tokens.md has another token")
	}
	for _, options := range []any{IssuerOptions{}, Options{}, StoredOptions{}} {
		kind := reflect.TypeOf(options)
		for field := range kind.Fields() {
			row := regexp.MustCompile(`(?m)^\| ` + kind.Name() + `\.([A-Za-z]+, )*` + field.Name + `(, [A-Za-z]+)* \|`)
			if !row.Match(page) {
				t.Errorf("docs/one-time-tokens.md has no row for %s.%s", kind.Name(), field.Name)
			}
		}
	}
}
