package semelhttp

import (
	"net/url"
	"testing"
)

// FuzzFormField: values are found where net/url finds them, and only there. A longer one
// than asked for is still too long.
func FuzzFormField(f *testing.F) {
	for _, seed := range []string{"form_token=a", "x=1&form_token=a&form_token=b", "form%5Ftoken=%41", "form_token", "form_token=%zz", "&&=", "form+token=a", "form_token=a;b", "form_token=01234%35678", "form_token=%30%31%32%33%34%35%36%37%38"} {
		f.Add(seed)
	}
	const longest = 8
	f.Fuzz(func(t *testing.T, text string) {
		got, err := formField("form_token").urlencoded("", &requestBody{blocks: [][]byte{[]byte(text)}}, longest)
		if err != nil {
			t.Fatal(err)
		}
		form, err := url.ParseQuery(text)
		if err != nil {
			return
		}
		want := form["form_token"]
		if len(got) != len(want) {
			t.Fatalf("%q: got %d values, want %d", text, len(got), len(want))
		}
		for i, value := range got {
			cut := len(want[i]) > longest && len(value) > longest
			if value != want[i] && !cut {
				t.Errorf("%q: got %q, want %q", text, value, want[i])
			}
		}
	})
}

// FuzzFormPart: no form of parts makes it panic, and what is found was sent.
func FuzzFormPart(f *testing.F) {
	f.Add("b", "--b\r\nContent-Disposition: form-data; name=\"form_token\"\r\n\r\na\r\n--b--\r\n")
	f.Add("b", "--b\r\nContent-Disposition: form-data; name=form_token; filename=x\r\n\r\na\r\n--b--\r\n")
	f.Add("b", "--b\r\n\r\n--b")
	const longest = 8
	f.Fuzz(func(t *testing.T, boundary, text string) {
		body := &requestBody{blocks: [][]byte{[]byte(text)}}
		values, err := formField("form_token").multipart("multipart/form-data; boundary="+boundary, body, longest)
		for _, v := range values {
			if len(v) > longest+1 || err != nil {
				t.Errorf("%q: got %q, %v", text, v, err)
			}
		}
		if body.at != (place{}) {
			t.Error("the body is not at its start")
		}
	})
}
