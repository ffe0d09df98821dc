package main

import (
	"regexp"
	"strings"
	"testing"
)

func TestReport(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		events string
		want   []string // each is in the report
		not    string
		err    string
	}{
		{
			name: "passed",
			events: `{"Action":"start","Package":"p"}
{"Action":"output","Package":"p","Test":"TestA","Output":"figures: 7\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"chatter\n"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p","Test":"TestA/x"}
{"Action":"pass","Package":"p","Elapsed":1.25}
`,
			want: []string{"    figures: 7\n", "ok   p  2 tests, 1.2 s\n", "\n2 passed, 0 failed, 0 skipped\n"},
			not:  "chatter",
		},
		{
			name: "cached and without tests",
			events: `{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Output":"ok  \tp\t(cached)\n"}
{"Action":"pass","Package":"p"}
{"Action":"skip","Package":"q"}
`,
			want: []string{"ok   p  1 tests (cached)\n", "?    q  no tests\n"},
		},
		{
			name: "failed",
			events: `{"Action":"output","Package":"p","Test":"TestA","Output":"got 1, want 2\n"}
{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"fail","Package":"p"}
`,
			want: []string{"FAIL p TestA\n     got 1, want 2\n", "0 passed, 1 failed, 0 skipped"},
			err:  "failed: p TestA",
		},
		{
			name: "the process died",
			events: `{"Action":"output","Package":"p","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"panic: boom\n"}
{"Action":"output","Package":"p","Output":"exit status 2\n"}
{"Action":"fail","Package":"p"}
`,
			want: []string{"FAIL p\n     panic: boom\n     exit status 2\n", "0 passed, 1 failed"},
			err:  "failed: p",
		},
		{
			name: "not built",
			events: `{"ImportPath":"p [p.test]","Action":"build-output","Output":"undefined: x\n"}
{"ImportPath":"p [p.test]","Action":"build-fail"}
{"Action":"pass","Package":"q","Test":"TestA"}
`,
			want: []string{"FAIL p [p.test]\n     undefined: x\n"},
			err:  "failed: p [p.test]",
		},
		{
			name: "skipped",
			events: `{"Action":"output","Package":"p","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:7: no browser\n"}
{"Action":"skip","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p","Test":"TestB"}
`,
			want: []string{"skipped p TestA: a_test.go:7: no browser\n", "1 passed, 0 failed, 1 skipped"},
		},
		{name: "nothing ran", events: "go: no modules were found\n", want: []string{"go: no modules"}, err: "no test has passed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			r := newReport(&out, regexp.MustCompile("^figures: "))
			err := r.read(strings.NewReader(tt.events))
			r.summary()
			for _, want := range tt.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("the report lacks %q:\n%s", want, out.String())
				}
			}
			if tt.not != "" && strings.Contains(out.String(), tt.not) {
				t.Errorf("the report has %q:\n%s", tt.not, out.String())
			}
			if got := text(err); got != tt.err {
				t.Errorf("error %q, want %q", got, tt.err)
			}
		})
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
