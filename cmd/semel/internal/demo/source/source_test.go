package source

import "testing"

func TestFunction(t *testing.T) {
	t.Parallel()
	const file = "package p\n\n// one is\n// one.\nfunc one() {\n\ttwo()\n}\n\n// two is none.\nfunc two() {\n}\n\n// open has no end.\nfunc open() {"
	for name, want := range map[string]string{
		"one":  "// one is\n// one.\nfunc one() {\n    two()\n}\n",
		"two":  "// two is none.\nfunc two() {\n}\n",
		"open": "",
		"none": "",
	} {
		if got := Function(file, name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	const text = "a {\n    b()\n    c()\n    d()\n}\n"
	for want, fragments := range map[string][]string{
		"b()\nc()":           {"b(", "c("},
		"b()\n…\nd()":        {"d(", "b("},
		"a {\n…\n    d()\n}": {"a {", "d(", "}"},
		"":                   {"e("},
	} {
		if got := Lines(text, fragments...); got != want {
			t.Errorf("%q: got %q, want %q", fragments, got, want)
		}
	}
}
