package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// event is a line of go test -json; see go doc test2json.
type event struct {
	Action     string
	Package    string
	ImportPath string // of what was built, instead of Package
	Test       string
	Elapsed    float64
	Output     string
}

// id names a test, or a package if test is empty.
type id struct{ pkg, test string }

type report struct {
	out  io.Writer
	show *regexp.Regexp

	said    map[id][]string // output of what has not ended yet
	builds  map[string][]string
	cached  map[string]bool
	tests   map[string]int // passed tests by package
	skips   []string
	failed  []string
	passed  int
	skipped int
}

func newReport(out io.Writer, show *regexp.Regexp) *report {
	return &report{
		out: out, show: show,
		said: map[id][]string{}, builds: map[string][]string{}, cached: map[string]bool{}, tests: map[string]int{},
	}
}

// read reports all events of in. Its error says that the run was no success.
func (r *report) read(in io.Reader) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			r.line(line)
		}
		if errors.Is(err, io.EOF) {
			return r.verdict()
		}
		if err != nil {
			return err
		}
	}
}

func (r *report) verdict() error {
	switch {
	case len(r.failed) > 0:
		return errors.New("failed: " + strings.Join(r.failed, ", "))
	case r.passed == 0:
		return errors.New("no test has passed")
	}
	return nil
}

func (r *report) line(line string) {
	var e event
	if json.Unmarshal([]byte(line), &e) != nil {
		fmt.Fprint(r.out, line) // a message of the go command itself
		return
	}
	switch key := (id{e.Package, e.Test}); e.Action {
	case "build-output":
		r.builds[e.ImportPath] = append(r.builds[e.ImportPath], e.Output)
	case "build-fail":
		r.fail(e.ImportPath, r.builds[e.ImportPath])
	case "output":
		r.output(key, e.Output)
	case "pass", "skip", "fail":
		r.end(key, e)
	}
}

func (r *report) output(key id, text string) {
	if key.test == "" && strings.HasSuffix(strings.TrimSpace(text), "(cached)") {
		r.cached[key.pkg] = true
	}
	if r.show.MatchString(text) {
		fmt.Fprint(r.out, "    ", text)
	}
	r.said[key] = append(r.said[key], text)
}

func (r *report) end(key id, e event) {
	said := r.said[key]
	delete(r.said, key)
	switch {
	case e.Action == "fail":
		r.fail(key.String(), append(r.unfinished(key), said...))
	case key.test == "":
		r.packageEnd(key.pkg, e)
	case e.Action == "skip":
		r.skipped++
		r.skips = append(r.skips, key.String()+": "+reason(said))
	default:
		r.passed++
		r.tests[key.pkg]++
	}
}

// unfinished is what the tests of a package have said that never came to an end,
// such as the panic that ended the process.
func (r *report) unfinished(key id) []string {
	var texts []string
	if key.test != "" {
		return nil
	}
	for k, said := range r.said {
		if k.pkg == key.pkg {
			texts = append(texts, said...)
			delete(r.said, k)
		}
	}
	return texts
}

func (r *report) packageEnd(pkg string, e event) {
	switch {
	case e.Action == "skip":
		fmt.Fprintf(r.out, "?    %s  no tests\n", pkg)
	case r.cached[pkg]:
		fmt.Fprintf(r.out, "ok   %s  %d tests (cached)\n", pkg, r.tests[pkg])
	default:
		fmt.Fprintf(r.out, "ok   %s  %d tests, %.1f s\n", pkg, r.tests[pkg], e.Elapsed)
	}
}

func (r *report) fail(name string, said []string) {
	// A package fails with its tests, and is not counted again.
	if !slices.ContainsFunc(r.failed, func(f string) bool { return strings.HasPrefix(f, name+" ") }) {
		r.failed = append(r.failed, name)
	}
	fmt.Fprintf(r.out, "FAIL %s\n", name)
	for _, text := range said {
		if !strings.HasPrefix(text, "=== ") {
			fmt.Fprint(r.out, "     ", text)
		}
	}
}

func (r *report) summary() {
	slices.Sort(r.skips)
	for _, s := range r.skips {
		fmt.Fprintln(r.out, "skipped", s)
	}
	fmt.Fprintf(r.out, "%d passed, %d failed, %d skipped\n", r.passed, len(r.failed), r.skipped)
}

func (k id) String() string {
	if k.test == "" {
		return k.pkg
	}
	return k.pkg + " " + k.test
}

// reason is what a skipped test said, without the lines of go test.
func reason(said []string) string {
	var lines []string
	for _, text := range said {
		if text = strings.TrimSpace(text); text != "" && !strings.HasPrefix(text, "=== ") && !strings.HasPrefix(text, "--- ") {
			lines = append(lines, text)
		}
	}
	return strings.Join(lines, " ")
}
