package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/cmd/semel/internal/cli"
	"github.com/semel-go/semel/cmd/semel/internal/keys"
	"github.com/semel-go/semel/cmd/semel/internal/storeurl"
	"github.com/semel-go/semel/semelhttp"
)

// outcome is what a command did.
type outcome struct {
	code     int
	out, err string
}

func run(t *testing.T, stdin string, environ []string, args ...string) outcome {
	t.Helper()
	var out, err bytes.Buffer
	code := cli.Run(t.Context(), args, cli.IO{In: strings.NewReader(stdin), Out: &out, Err: &err, Environ: environ})
	return outcome{code, out.String(), err.String()}
}

func (o outcome) want(t *testing.T, code int, texts ...string) {
	t.Helper()
	if o.code != code {
		t.Errorf("exit code %d, want %d", o.code, code)
	}
	for _, text := range texts {
		if !strings.Contains(o.out+o.err, text) {
			t.Errorf("missing %q", text)
		}
	}
	if t.Failed() {
		t.Logf("out: %s\nerr: %s", o.out, o.err)
	}
}

const alice = "header:Authorization=Bearer k1"

// shop is a store with one record in each state, as a gateway leaves them.
type shop struct {
	t    *testing.T
	flag string // --store
	open *storeurl.Handle
}

func newShop(t *testing.T) *shop {
	file := filepath.Join(t.TempDir(), "semel.db")
	s := &shop{t: t, flag: "--store=sqlite:" + file}
	var err error
	if s.open, err = storeurl.Open(t.Context(), "sqlite:"+file); err != nil {
		t.Fatal(err)
	}
	engine, err := semel.New(s.open.Store, &semel.Options{Policy: semel.AtMostOnce, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	running := s.begin(engine, "running")
	t.Cleanup(func() {
		running.Finish(semel.Verdict{State: semel.StateReleased})
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := engine.Close(ctx); err != nil {
			t.Error(err)
		}
		s.open.Close()
	})
	answer := semelhttp.EncodeResponse(semelhttp.Response{Status: 201, Header: []semelhttp.HeaderPair{{Name: "Location", Value: "/orders/7"}}, Body: []byte("bell\a")})
	s.begin(engine, "done").Finish(semel.Verdict{State: semel.StateDone, Result: answer})
	s.begin(engine, "tombstone").Finish(semel.Verdict{State: semel.StateDone, Result: semel.StoredResult{Data: []byte("status=200")}})
	s.begin(engine, "doubt").Finish(semel.Verdict{State: semel.StateInDoubt, Cause: semel.CauseHandler})
	s.begin(engine, "released").Finish(semel.Verdict{State: semel.StateReleased})
	return s
}

func (s *shop) begin(engine *semel.Engine, key string) *semel.Run {
	s.t.Helper()
	op := semel.Op{Key: semelhttp.KeyFor(alice, "", key), Input: semel.NoInput, Label: "POST"}
	r, _, err := engine.Begin(s.t.Context(), op)
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

func (s *shop) record(key string) semel.Record {
	s.t.Helper()
	rec, err := s.open.Store.Read(s.t.Context(), semel.ReadParams{Key: id(key)})
	if err != nil {
		s.t.Fatal(err)
	}
	return rec
}

func id(key string) semel.KeyID { return semelhttp.KeyFor(alice, "", key).ID() }

func TestGet(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	run(t, "", nil, "keys", "get", "done", "--principal="+alice, s.flag).
		want(t, 0, "state       done", "201", `"Location: /orders/7"`, `"bell\a"`, id("done").String())
	run(t, "", nil, "keys", "get", `"done"`, "--principal="+alice, s.flag).want(t, 0, "done") // quoted as on the wire
	run(t, "", nil, "keys", "get", "--id="+id("doubt").String(), s.flag).want(t, 0, "in-doubt", "cause: handler", "never")
	run(t, "", nil, "keys", "get", "tombstone", "--principal="+alice, s.flag).want(t, 0, "not kept: status=200")
	run(t, "", nil, "keys", "get", "running", "--principal="+alice, s.flag).want(t, 0, "running", "lease left")
	got := run(t, "", nil, "keys", "get", "done", "--principal="+alice, s.flag, "--json")
	var view keys.View
	if err := json.Unmarshal([]byte(got.out), &view); err != nil || view.Result.Status != 201 || string(view.Result.Body) != "bell\a" {
		t.Errorf("%v: %s", err, got.out)
	}
}

// A caller is named as gateways take --principal, whatever the case of the header.
func TestGetByPrincipalAsTyped(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	run(t, "", nil, "keys", "get", "doubt", "--principal=header:authorization=Bearer k1", s.flag).want(t, 0, id("doubt").String())
	run(t, "", nil, "keys", "list", "--principal=header:authorization=Bearer k1", s.flag).want(t, 0, id("doubt").String())
	run(t, "", nil, "keys", "list", "--principal=Bearer k1", s.flag).want(t, 1, "write header:NAME=VALUE")
	run(t, "", nil, "keys", "get", "--help").want(t, 0, "--route", "services that keep one scope per route")
	run(t, "", nil, "keys", "--help").want(t, 0, "jwt:sub=alice")
}

// The digits that a log line shows are enough.
func TestGetByFirstDigits(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	whole := id("doubt").String()
	for _, part := range []string{whole[:8], whole[:8] + "…", strings.ToUpper(whole[:31])} {
		run(t, "", nil, "keys", "get", "--id="+part, s.flag).want(t, 0, whole)
	}
	run(t, "", nil, "keys", "resolve", "--id="+whole[:8], s.flag, "--did-not-happen", "--reason=x", "--yes").want(t, 0, "record "+whole+" is released")
	run(t, "", nil, "keys", "get", "--id="+whole[:7], s.flag).want(t, 1, "32 hexadecimal digits")
	run(t, "", nil, "keys", "get", "--id=0123456789abcdef", s.flag).want(t, 1, "no record whose id begins with 0123456789abcdef")
	run(t, "", nil, "keys", "get", "x", "--id="+whole[:8], s.flag).want(t, 1, "--id names the record alone")
	twin := id("doubt")
	twin[15]++
	p := semel.ClaimParams{Key: twin, Token: semel.NewToken(), Policy: semel.AtLeastOnce, Lease: time.Minute, Retention: time.Hour}
	if _, err := s.open.Store.Claim(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	run(t, "", nil, "keys", "delete", "--id="+whole[:8], s.flag, "--reason=x", "--yes").want(t, 1, "2 ids begin with "+whole[:8], whole, "write more digits")
}

// Field fault: an operator cannot find a stuck key.
func TestList(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	all := run(t, "", nil, "keys", "list", s.flag)
	all.want(t, 0, "ID", "STATE", "OPERATION", "AGE", "ATTEMPT", "CAUSE", "KEY")
	for _, key := range []string{"running", "done", "tombstone", "doubt", "released"} {
		all.want(t, 0, id(key).String())
	}
	doubt := run(t, "", nil, "keys", "list", "--state=in-doubt", s.flag)
	doubt.want(t, 0, id("doubt").String(), "handler")
	if n := strings.Count(doubt.out, "\n"); n != 2 {
		t.Errorf("%d lines, want a header and one record:\n%s", n, doubt.out)
	}
	lines := run(t, "", []string{"SEMEL_STORE=" + strings.TrimPrefix(s.flag, "--store=")}, "keys", "list", "--json")
	if n := strings.Count(lines.out, "\n"); n != 5 {
		t.Errorf("%d lines of JSON, want 5: %s %s", n, lines.out, lines.err)
	}
	run(t, "", nil, "keys", "list", "--state=stuck", s.flag).want(t, 1, "choose one of running, released, done, in-doubt")
}

func TestResolveDone(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	file := filepath.Join(t.TempDir(), "answer")
	text := "HTTP/2 201 \r\ncontent-type: application/json\r\nlocation: /orders/8\r\ncontent-length: 8\r\n\r\n{\"id\":8}"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got := run(t, "y\n", nil, "keys", "resolve", "doubt", "--principal="+alice, s.flag, "--done="+file, "--reason=found in the bank's report")
	got.want(t, 0, "becomes done", "Go on? [y/N]", "decision=done", "found in the bank's report", "by="+keys.Who(), "was=in-doubt")
	rec := s.record("doubt")
	res, err := semelhttp.DecodeResponse(rec.Result)
	if rec.State != semel.StateDone || err != nil || res.Status != 201 || string(res.Body) != `{"id":8}` {
		t.Errorf("%v %+v %v", rec.State, res, err)
	}
}

func TestResolveDidNotHappen(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	args := []string{"keys", "resolve", "doubt", "--principal=" + alice, s.flag, "--did-not-happen", "--reason=bank says no"}
	for _, answer := range []string{"", "n\n", "Y maybe\n"} {
		run(t, answer, nil, args...).want(t, 1, "it will happen twice", "nothing was changed")
		if got := s.record("doubt").State; got != semel.StateInDoubt {
			t.Fatalf("answered %q, and the record is %v", answer, got)
		}
	}
	got := run(t, "", nil, append(args, "--yes", "--log-format=json")...)
	got.want(t, 0, `"decision":"did-not-happen"`)
	if s.record("doubt").State != semel.StateReleased {
		t.Errorf("the record is %v", s.record("doubt").State)
	}
}

func TestDelete(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	run(t, "yes\n", nil, "keys", "delete", "done", "--principal="+alice, s.flag, "--reason=test data").want(t, 0, "is deleted: the next", "decision=delete", "record "+id("done").String()+" is deleted\n")
	if got := s.record("done").State; got != semel.StateNone {
		t.Errorf("the record is %v", got)
	}
	run(t, "", nil, "keys", "delete", "done", "--principal="+alice, s.flag, "--reason=again", "--yes").want(t, 1, "there is no record")
}

// A decision that is forgotten at once would take the doubt with it, and the next
// retry would run.
func TestResolveNeedsRetention(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	args := []string{"keys", "resolve", "doubt", "--principal=" + alice, s.flag, "--did-not-happen", "--reason=bank says no", "--yes"}
	for retention, want := range map[string]string{"-1h": "is no duration", "0s": "use 1s or more, or forever", "999ms": "use 1s or more, or forever", "long": "is no duration"} {
		run(t, "", nil, append(args, "--retention="+retention)...).want(t, 1, "--retention: ", want)
		if got := s.record("doubt").State; got != semel.StateInDoubt {
			t.Fatalf("after --retention=%s the record is %v", retention, got)
		}
	}
	run(t, "", nil, append(args, "--retention=forever")...).want(t, 0, "is released")
	if got := s.record("doubt"); got.State != semel.StateReleased || got.ExpiresIn != semel.Forever {
		t.Errorf("the record is %v and expires in %v, want released, never", got.State, got.ExpiresIn)
	}
}

// A live run is nobody's to decide, and a finished one is final: that is said
// before anything is announced.
func TestRefusedDecisions(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for _, args := range []string{"delete running", "resolve running --did-not-happen", "resolve done --did-not-happen"} {
		got := run(t, "y\n", nil, append(append([]string{"keys"}, strings.Fields(args)...), "--principal="+alice, s.flag, "--reason=impatience")...)
		if got.want(t, 1, "nothing was changed: "); got.out != "" {
			t.Errorf("keys %s announced: %s", args, got.out)
		}
	}
	common := []string{"--principal=" + alice, s.flag, "--reason=impatience", "--yes"}
	run(t, "", nil, append([]string{"keys", "delete", "running"}, common...)...).want(t, 1, "nothing was changed: the operation is running")
	run(t, "", nil, append([]string{"keys", "resolve", "running", "--did-not-happen"}, common...)...).want(t, 1, "nothing was changed: the operation is running")
	run(t, "", nil, append([]string{"keys", "resolve", "done", "--did-not-happen"}, common...)...).want(t, 1, "nothing was changed: the record is done")
}

func TestUsageErrors(t *testing.T) {
	t.Parallel()
	run(t, "", nil, "keys", "frobnicate").want(t, 1, `semel: "frobnicate" is no command of semel keys; choose from delete, get, list, resolve`)
	s := newShop(t)
	which := "--principal=" + alice
	for _, tc := range []struct {
		args string
		want string
	}{
		{"keys get", "say which record"},
		{"keys get done", "say which record"},
		{"keys get done --id=00", "--id names the record alone"},
		{"keys get --id=00", "32 hexadecimal digits"},
		{"keys get nothing --principal=global", "there is no record"},
		{"keys get a,b --principal=global", "KEY: "},
		{"keys resolve doubt --yes --reason=x", "--done FILE or --did-not-happen"},
		{"keys resolve doubt --yes --did-not-happen", "say why with --reason"},
		{"keys delete doubt --yes", "say why with --reason"},
		{"keys resolve doubt --reason=x --done=-", "add --yes"},
		{"keys resolve doubt --reason=x --done=/no/such/file", "--done: "},
		{"keys list --store=memory:", "inside the gateway's process"},
		{"keys list --store=sqlite:/no/such/file.db", "name the file that the gateway uses"},
		{"keys list --store=nats://x", "built in are memory:, sqlite:FILE, postgres://"},
	} {
		args := strings.Fields(tc.args)
		if !strings.Contains(tc.args, "--store") {
			args = append(args, s.flag)
		}
		if strings.Contains(tc.args, "doubt") {
			args = append(args, which)
		}
		run(t, "", nil, args...).want(t, 1, tc.want)
	}
}
