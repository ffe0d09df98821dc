package semelhttp

import (
	"net/url"
	"slices"
	"testing"
)

// FuzzTokenField: a token is found where net/url finds the field, and only there.
func FuzzTokenField(f *testing.F) {
	for _, seed := range []string{"form_token=a", "x=1&form_token=a&form_token=b", "form%5Ftoken=%41", "form_token", "form_token=%zz", "&&=", "form+token=a", "form_token=a;b"} {
		f.Add(seed)
	}
	k := &tokenKey{field: "form_token"}
	f.Fuzz(func(t *testing.T, text string) {
		body := &requestBody{blocks: [][]byte{[]byte(text)}}
		got, err := k.urlencoded("", body)
		if err != nil {
			t.Fatal(err)
		}
		form, err := url.ParseQuery(text)
		want := form[k.field]
		for i, value := range want {
			if len(value) > maxToken {
				want[i] = ""
			}
		}
		tooLong := slices.ContainsFunc(got, func(v string) bool { return v == "" })
		if err == nil && !tooLong && !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
		if err == nil && len(got) != len(want) {
			t.Errorf("%q: got %d values, want %d", text, len(got), len(want))
		}
	})
}

// FuzzTokenPart: no form of parts makes it panic, and what is found was sent.
func FuzzTokenPart(f *testing.F) {
	f.Add("b", "--b\r\nContent-Disposition: form-data; name=\"form_token\"\r\n\r\na\r\n--b--\r\n")
	f.Add("b", "--b\r\nContent-Disposition: form-data; name=form_token; filename=x\r\n\r\na\r\n--b--\r\n")
	f.Add("b", "--b\r\n\r\n--b")
	k := &tokenKey{field: "form_token"}
	f.Fuzz(func(t *testing.T, boundary, text string) {
		body := &requestBody{blocks: [][]byte{[]byte(text)}}
		values, err := k.multipart("multipart/form-data; boundary="+boundary, body)
		for _, v := range values {
			if len(v) > maxToken || err != nil {
				t.Errorf("%q: got %q, %v", text, v, err)
			}
		}
		if body.at != (place{}) {
			t.Error("the body is not at its start")
		}
	})
}
