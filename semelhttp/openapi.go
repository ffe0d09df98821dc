package semelhttp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/semel-go/semel"
)

// OpenAPIRoute is an operation of which [OpenAPIFragment] tells.
type OpenAPIRoute struct {
	// Method is one of the guarded methods, Path a path of OpenAPI or a pattern of
	// [net/http.ServeMux] without method and host. Both are required.
	Method, Path string
	// Options are those of the route's middleware. Default nil: the defaults.
	Options *Options
	// Engine is that of the route's middleware, whose retention counts where Options have
	// none. Default nil: one with the default retention, 24 hours.
	Engine *semel.Engine
}

// OpenAPIFragment describes routes to their clients as a part of an OpenAPI 3.1
// document, to be merged into the one that describes the rest: parameters, the
// answers of the layer, how long answers are replayed (the expiry policy which the
// draft asks services to publish), and in x-idempotency the same for programs. It is
// JSON, the same bytes for the same routes. All mistakes are reported at once.
//
// Source: draft-ietf-httpapi-idempotency-key-header-07, sections 2.3 and 2.5.
func OpenAPIFragment(routes ...OpenAPIRoute) ([]byte, error) {
	paths := make(map[string]map[string]any)
	var errs []error
	for _, route := range routes {
		path := openAPIPath(route.Path)
		method := strings.ToLower(route.Method)
		errs = append(errs, route.check(), refuse(paths[path][method] != nil, "OpenAPIFragment: %s %s stands there twice", route.Method, route.Path))
		if paths[path] == nil {
			paths[path] = make(map[string]any)
		}
		paths[path][method] = route.operation()
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return marshalIndented(object{
		"paths":      paths,
		"components": object{"schemas": object{"IdempotencyProblem": problemSchema()}},
	})
}

func (t OpenAPIRoute) check() error {
	o := t.Options.withDefaults()
	return errors.Join(o.validate(),
		refuse(!strings.HasPrefix(t.Path, "/"), "OpenAPIFragment: %q is no path; begin with /", t.Path),
		refuse(!slices.Contains(o.Methods, t.Method), "OpenAPIFragment: %s %s is not guarded; take it out, or add the method to its Options", t.Method, t.Path))
}

// openAPIPath makes a path template of a pattern: OpenAPI knows no {rest...} and
// no {$}.
func openAPIPath(pattern string) string {
	return strings.ReplaceAll(strings.ReplaceAll(pattern, "...}", "}"), "{$}", "")
}

// object is a JSON object.
type object map[string]any

func marshalIndented(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("semelhttp: %w", err)
	}
	return b.Bytes(), nil
}

func (t OpenAPIRoute) operation() object {
	d := describe(t)
	op := object{"responses": d.responses(), "x-idempotency": d.extension()}
	if parameters := d.parameters(); len(parameters) > 0 {
		op["parameters"] = parameters
	}
	return op
}

// problemSchema is the schema of a [Problem] on the wire.
func problemSchema() object {
	text := object{"type": "string"}
	return object{
		"type":        "object",
		"description": "An answer of the idempotency layer itself (RFC 9457). Programs act on code, or on retry.",
		"required":    []string{"type", "title", "status", "detail", "code", "retry"},
		"properties": object{
			"type":            object{"type": "string", "format": "uri"},
			"title":           text,
			"status":          object{"type": "integer"},
			"detail":          text,
			"code":            text,
			"retry":           object{"type": "string", "enum": []Retry{RetrySameKey, RetryFixRequest, RetryNewKey, RetryNever}},
			"original_status": object{"type": "integer", "description": "Status of the first answer, where it is known."},
		},
	}
}
