package semelhttp_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/semelhttp"
)

func apiRoutes() []semelhttp.OpenAPIRoute {
	return []semelhttp.OpenAPIRoute{
		{Method: "POST", Path: "/charges/{id}", Options: &semelhttp.Options{RequireKey: true, JSON: &semelhttp.JSONFingerprint{}}},
		{Method: "PATCH", Path: "/files/{path...}", Options: &semelhttp.Options{Retention: semel.Forever, StrictKeys: true, Headers: []string{"X-Key", "Idempotency-Key"}}},
		{Method: "POST", Path: "/polls/{poll}/votes", Options: &semelhttp.Options{RequireKey: true, Keys: []semelhttp.KeySource{semelhttp.KeyPath("poll")}}},
		{Method: "POST", Path: "/hooks/{$}", Options: &semelhttp.Options{
			Retention: 90 * time.Minute, Keys: []semelhttp.KeySource{semelhttp.KeyWebhook("github"), semelhttp.KeyBody("/id"), semelhttp.KeyForm("id")},
			Verify: unsigned, Derived: &semelhttp.DerivedKey{Window: 10 * time.Second, Reject: true},
		}},
	}
}

var update = flag.Bool("update", false, "write the golden file anew")

// Golden: the fragment is the same bytes each time.
func TestOpenAPIFragment(t *testing.T) {
	t.Parallel()
	got, err := semelhttp.OpenAPIFragment(apiRoutes()...)
	if err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/openapi.json"
	if *update {
		if err := os.WriteFile(golden, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("the fragment differs from %s; see the difference after go test -run OpenAPI -update", golden)
	}
	reversed := apiRoutes()
	slices.Reverse(reversed)
	if again, _ := semelhttp.OpenAPIFragment(reversed...); !bytes.Equal(got, again) {
		t.Error("the order of routes changes the fragment")
	}
}

// Every problem is in it under its own status, and every reference leads somewhere.
func TestOpenAPIFragmentIsConsistent(t *testing.T) {
	t.Parallel()
	fragment, err := semelhttp.OpenAPIFragment(apiRoutes()...)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Paths map[string]map[string]struct {
			Responses map[string]struct{ Description string }
		}
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(fragment, &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Paths) != 4 || doc.Paths["/files/{path}"]["patch"].Responses == nil || doc.Paths["/hooks/"]["post"].Responses == nil {
		t.Errorf("paths: %v", doc.Paths)
	}
	responses := doc.Paths["/charges/{id}"]["post"].Responses
	for status, codes := range map[string]string{
		"400": "missing-key invalid-key incomplete-body ambiguous-body", "401": "no-principal", "409": "in-progress outcome-unknown result-unavailable",
		"413": "payload-too-large", "422": "key-reused", "503": "overloaded store-unavailable",
	} {
		for code := range strings.SplitSeq(codes, " ") {
			if !strings.Contains(responses[status].Description, "`"+code+"`") {
				t.Errorf("%s says nothing of %s", status, code)
			}
		}
	}
	for _, part := range strings.Split(string(fragment), `"$ref": "#/components/schemas/`)[1:] {
		name, _, _ := strings.Cut(part, `"`)
		if doc.Components.Schemas[name] == nil {
			t.Errorf("nothing is at %s", name)
		}
	}
}

func TestOpenAPIFragmentRefuses(t *testing.T) {
	t.Parallel()
	_, err := semelhttp.OpenAPIFragment(
		semelhttp.OpenAPIRoute{Method: "GET", Path: "/a"}, semelhttp.OpenAPIRoute{Method: "POST", Path: "a"},
		semelhttp.OpenAPIRoute{Method: "POST", Path: "/b"}, semelhttp.OpenAPIRoute{Method: "POST", Path: "/b"},
		semelhttp.OpenAPIRoute{Method: "POST", Path: "/c", Options: &semelhttp.Options{Retention: 1}},
	)
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{"GET /a is not guarded", `"a" is no path`, "POST /b stands there twice", "Retention 1ns is below"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("nothing about %q in:\n%v", want, err)
		}
	}
}

func unsigned(*http.Request, []byte) error { return errors.New("no signature") }
