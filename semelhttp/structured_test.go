package semelhttp

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// vectors are the HTTP working group's, which lie beside the repository.
const vectors = "../../shared/data/structured-field-tests"

type vector struct {
	Name     string            `json:"name"`
	Raw      []string          `json:"raw"`
	Expected []json.RawMessage `json:"expected"`
	MustFail bool              `json:"must_fail"`
	CanFail  bool              `json:"can_fail"`
}

func TestStructuredFieldVectors(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"string.json", "string-generated.json", "item.json"} {
		data, err := os.ReadFile(filepath.Join(vectors, file))
		if err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatalf("the vectors must be there in CI: %v", err)
			}
			t.Skipf("the public test vectors are not on this machine; put them into %s to run this test: %v", vectors, err)
		}
		var all []vector
		if err := json.Unmarshal(data, &all); err != nil || len(all) == 0 {
			t.Fatalf("%s: %d vectors, %v", file, len(all), err)
		}
		for _, v := range all {
			t.Run(file+"/"+v.Name, func(t *testing.T) { checkVector(t, v) })
		}
	}
}

func checkVector(t *testing.T, v vector) {
	got, err := parseStringItem(strings.Join(v.Raw, ", "))
	var want string
	if v.MustFail || json.Unmarshal(v.Expected[0], &want) != nil { // or an Item of another type
		if err == nil {
			t.Errorf("%q was accepted as %q", v.Raw, got)
		}
		return
	}
	if err != nil && !v.CanFail || err == nil && got != want {
		t.Errorf("%q: got %q, %v, want %q", v.Raw, got, err, want)
	}
}

func TestStringItemParameters(t *testing.T) {
	t.Parallel()
	good := []string{
		`;a`, `; a`, `;a=1`, `;a=-1.5`, `;a=123456789012345`, `;a=123456789012.123`, `;a="x\"y"`, `;a=tok/en:x`, `;*a-b.c_d=*`,
		`;a=:aGk=:`, `;a=:aGk:`, `;a=::`, `;a=?1;b=?0`, `;a=@1659578233`, `;a=@-1`, `;a=%"f%c3%bc"`, `;a;b;c `,
	}
	for _, params := range good {
		if got, err := parseStringItem(`"k"` + params); got != "k" || err != nil {
			t.Errorf("%s: %q, %v", params, got, err)
		}
	}
	bad := []string{
		` ;a`, `;`, `;A`, `;1`, `;a=`, `;a= 1`, `;a=1.`, `;a=.5`, `;a=1234567890123456`, `;a=1234567890123.1`, `;a=1.1234`, `;a=-`,
		`;a="x`, `;a=:aGk`, `;a=:a!k=:`, `;a=?2`, `;a=?`, `;a=@1.5`, `;a=@`, `;a=%"f%C3%BC"`, `;a=%"%ff"`, `;a=%"%c`, `;a=%x`, `;a="ü"`, `;a=(1)`, `x`, `, "k"`, `;a=1 x`,
	}
	for _, params := range bad {
		if got, err := parseStringItem(`"k"` + params); err == nil {
			t.Errorf("%s was accepted: %q", params, got)
		}
	}
}

// FuzzParseKey checks what the rest relies on: a key that is accepted is
// printable ASCII, survives being quoted, and is the same when it is sent again.
func FuzzParseKey(f *testing.F) {
	for _, seed := range []string{`k`, `"k"`, `"a\"b\\c"`, `"k";a=1`, ``, `""`, `"`, `a,b`, "a\x00b", `"ü"`, ` "k" `, `8e03978e-40d5-43dd-bc93-6894a57f9324`} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, line string, strict bool) {
		key, err := ParseKey([]string{line}, strict)
		if err != nil {
			if line != "" && len(line) > 3 && strings.Contains(err.Error(), line) {
				t.Errorf("the error quotes the key: %v", err)
			}
			return
		}
		if strings.Trim(key, " ") == "" || strings.ContainsFunc(key, func(c rune) bool { return c < ' ' || c > '~' }) {
			t.Errorf("accepted %q", key)
		}
		quoted := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(key) + `"`
		if again, err := ParseKey([]string{quoted}, true); again != key || err != nil {
			t.Errorf("%q quoted is %q, %v", key, again, err)
		}
		if loose, err := ParseKey([]string{line}, false); strict && (loose != key || err != nil) {
			t.Errorf("strict reads %q, lenient %q, %v", key, loose, err)
		}
	})
}
