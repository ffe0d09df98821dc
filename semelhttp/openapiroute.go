package semelhttp

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/semel-go/semel"
)

// description tells of a route's options.
type description struct {
	o         Options
	retention time.Duration
}

func describe(t OpenAPIRoute) description {
	c := t.Options.withDefaults()
	retention := 24 * time.Hour
	if t.Engine != nil {
		retention = t.Engine.Defaults().Retention
	}
	return description{c, cmp.Or(c.Retention, retention)}
}

// parameters are the headers that may hold a key.
func (d description) parameters() []object {
	var list []object
	for _, source := range d.o.Keys {
		if source.header == "" {
			continue
		}
		list = append(list, object{
			"name":        source.header,
			"in":          "header",
			"required":    d.o.RequireKey && len(d.o.Keys) == 1 && source.token == nil,
			"description": d.keyText(source),
			"schema":      object{"type": "string", "minLength": max(d.o.MinKeyLength, 1)},
		})
	}
	return list
}

func (d description) keyText(source KeySource) string {
	kept := "The answer is kept for at least " + spell(d.retention) + " and sent again for the same key."
	if k := source.token; k != nil {
		return fmt.Sprintf("The token that came with the form, in this header or in the form's field %s. It is good for one form of one user. %s", k.field, kept)
	}
	if source.sender != "" {
		return "Names the event, the same in each attempt to deliver it. " + kept
	}
	form := "bare or in double quotes (a String of RFC 9651)"
	if d.o.StrictKeys {
		form = "in double quotes (a String of RFC 9651)"
	}
	return fmt.Sprintf("Names the operation: a new value, such as a UUID, for each one, and the same in every retry; %d to %d characters, %s. %s", d.o.MinKeyLength, d.o.MaxKeyLength, form, kept)
}

// spell writes a time for people.
func spell(t time.Duration) string {
	units := []struct {
		size time.Duration
		name string
	}{{24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}, {time.Second, "second"}}
	if t >= semel.Forever {
		return "as long as the service lives"
	}
	for _, u := range units {
		if n := t / u.size; t%u.size == 0 && (n > 1 || u.size <= time.Minute) {
			return plural(int64(n), u.name)
		}
	}
	return t.String()
}

func plural(n int64, name string) string {
	if n == 1 {
		return "1 " + name
	}
	return strconv.FormatInt(n, 10) + " " + name + "s"
}

// extension says the same for programs.
func (d description) extension() object {
	var keys []object
	for _, source := range d.o.Keys {
		switch {
		case source.token != nil:
			keys = append(keys, object{"in": "form-token", "name": source.header, "field": string(source.token.field), "purpose": source.token.purpose})
		case source.inPath():
			keys = append(keys, object{"in": "path", "name": source.segment})
		case source.inForm():
			keys = append(keys, object{"in": "form", "field": string(source.field)})
		case source.inBody():
			keys = append(keys, object{"in": "body", "pointer": source.pointer})
		default:
			keys = append(keys, object{"in": "header", "name": source.header})
		}
	}
	x := object{"keys": keys, "required": d.o.RequireKey, "retention": seconds(d.retention), "replayedHeader": d.o.ReplayedHeader, "maxRequestBody": d.o.MaxRequestBody}
	if d.o.Derived != nil {
		x["derived"] = object{"window": seconds(d.o.Derived.Window), "reject": d.o.Derived.Reject}
	}
	return x
}

// seconds is a time for programs: whole seconds, or forever.
func seconds(t time.Duration) any {
	if t >= semel.Forever {
		return "forever"
	}
	return int64(t / time.Second)
}

// responses are the answers of the layer itself, by status.
func (d description) responses() object {
	byStatus := make(map[int][]Problem)
	for _, code := range d.codes() {
		p := NewProblem(code)
		if code == CodeMissingKey {
			p = missingKey(d.o.Keys)
		}
		byStatus[p.Status] = append(byStatus[p.Status], p)
	}
	list := make(object, len(byStatus))
	for status, problems := range byStatus {
		list[strconv.Itoa(status)] = response(problems)
	}
	return list
}

func response(problems []Problem) object {
	var texts []string
	var codes []Code
	for _, p := range problems {
		codes = append(codes, p.Code)
		texts = append(texts, fmt.Sprintf("`%s`: %s", p.Code, p.Detail))
	}
	r := object{
		"description": strings.Join(texts, "\n\n"),
		"content": object{"application/problem+json": object{"schema": object{"allOf": []object{
			{"$ref": "#/components/schemas/IdempotencyProblem"},
			{"type": "object", "properties": object{"code": object{"enum": codes}}},
		}}}},
	}
	if slices.ContainsFunc(problems, func(p Problem) bool { return p.RetryAfter > 0 }) {
		r["headers"] = object{"Retry-After": object{
			"description": "Seconds after which the same request may get another answer; there where it can.",
			"schema":      object{"type": "integer", "minimum": 1},
		}}
	}
	return r
}

// codes are the problems that the route can answer with, in the order of their
// pages.
func (d description) codes() []Code {
	o := &d.o
	tokens := len(o.tokenHeaders()) > 0
	all := []struct {
		code Code
		can  bool
	}{
		{CodeMissingKey, o.RequireKey}, {CodeInvalidKey, true}, {CodeIncompleteBody, true},
		{CodeAmbiguousBody, o.JSON != nil}, {CodeInvalidSignature, o.Verify != nil}, {CodeNoPrincipal, true},
		{CodeTokenRefused, tokens}, {CodeTokenExpired, tokens}, {CodeTokenUsed, tokens},
		{CodeReplayForbidden, o.ReplayAuthorize != nil}, {CodePayloadTooLarge, true}, {CodeKeyReused, true},
		{CodeDuplicateContent, o.Derived != nil && o.Derived.Reject}, {CodeInProgress, true}, {CodeOutcomeUnknown, true},
		{CodeResultUnavailable, true}, {CodeOverloaded, true}, {CodeStoreUnavailable, true},
	}
	var codes []Code
	for _, c := range all {
		if c.can {
			codes = append(codes, c.code)
		}
	}
	return codes
}
