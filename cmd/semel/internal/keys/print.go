package keys

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/semelhttp"
)

// View is what is shown of a record.
type View struct {
	ID        string     `json:"id"`
	State     string     `json:"state"`
	Operation string     `json:"operation"`
	StartedAt time.Time  `json:"started_at,omitzero"`
	Attempt   int        `json:"attempt"`
	Policy    string     `json:"policy"`
	Fence     int64      `json:"fence"`
	Lease     string     `json:"lease_left,omitempty"`
	Expires   string     `json:"expires_in,omitempty"`
	Cause     string     `json:"cause,omitempty"`
	Since     *time.Time `json:"in_doubt_since,omitempty"`
	KeyText   string     `json:"key,omitempty"`
	Result    *Result    `json:"result,omitempty"`
}

// Result is what is shown of a recorded answer.
type Result struct {
	Kept   bool   `json:"kept"`
	Remark string `json:"remark,omitempty"` // why it is not kept or cannot be read
	Status int    `json:"status,omitempty"`
	Header string `json:"header,omitempty"` // one field line each
	Body   []byte `json:"body,omitempty"`   // base64 in JSON
}

// NewView returns what is shown of rec.
func NewView(rec semel.Record) View {
	if rec.State == semel.StateUnreadable {
		return View{ID: rec.Key.String(), State: rec.State.String(), Cause: "of a newer format, or damaged"}
	}
	v := View{
		ID:        rec.Key.String(),
		State:     rec.State.String(),
		Operation: rec.Operation,
		StartedAt: rec.StartedAt.UTC(),
		Attempt:   rec.Attempt,
		Policy:    rec.Policy.String(),
		Fence:     int64(rec.Fence),
		Expires:   expiry(rec),
		KeyText:   rec.KeyText,
	}
	if rec.State == semel.StateRunning {
		v.Lease = rec.LeaseLeft.Round(time.Millisecond).String()
	}
	if rec.Cause != semel.CauseNone {
		since := rec.Since.UTC()
		v.Cause, v.Since = rec.Cause.String(), &since
	}
	return v
}

// WithResult adds the recorded answer of rec.
func (v View) WithResult(rec semel.Record) View {
	if rec.State != semel.StateDone {
		return v
	}
	v.Result = viewResult(rec.Result)
	return v
}

func viewResult(stored semel.StoredResult) *Result {
	if stored.Kind == semel.ResultTombstone {
		return &Result{Remark: "not kept: " + string(stored.Data)}
	}
	res, err := semelhttp.DecodeResponse(stored)
	if err != nil {
		return &Result{Kept: true, Remark: err.Error()}
	}
	var header strings.Builder
	for _, h := range res.Header {
		fmt.Fprintf(&header, "%s: %s\n", h.Name, h.Value)
	}
	return &Result{Kept: true, Status: res.Status, Header: header.String(), Body: res.Body}
}

func expiry(rec semel.Record) string {
	if rec.State == semel.StateInDoubt || rec.ExpiresIn == semel.Forever {
		return "never"
	}
	return rec.ExpiresIn.Round(time.Second).String()
}

// Print writes v for people. Stored bodies are quoted, so that they cannot move
// the cursor of a terminal.
func (v View) Print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(t, "%s\t%s\n", name, value)
		}
	}
	line("id", v.ID)
	line("state", v.State)
	line("operation", v.Operation)
	line("key", quoted(v.KeyText))
	line("started", v.StartedAt.Format(time.RFC3339))
	line("attempt", fmt.Sprint(v.Attempt))
	line("policy", v.Policy)
	line("fence", fmt.Sprint(v.Fence))
	line("lease left", v.Lease)
	line("expires in", v.Expires)
	if v.Since != nil {
		line("in doubt", fmt.Sprintf("since %s, cause: %s", v.Since.Format(time.RFC3339), v.Cause))
	}
	if v.Result != nil {
		v.Result.print(line)
	}
	return t.Flush()
}

func (r *Result) print(line func(name, value string)) {
	line("result", r.Remark)
	if r.Status != 0 {
		line("status", fmt.Sprint(r.Status))
	}
	for h := range strings.Lines(r.Header) {
		line("header", fmt.Sprintf("%q", strings.TrimSuffix(h, "\n")))
	}
	if len(r.Body) > 0 {
		line("body", fmt.Sprintf("%q", r.Body))
	}
}

// PrintJSON writes v as one line of JSON.
func (v View) PrintJSON(w io.Writer) error { return json.NewEncoder(w).Encode(v) }

// Row is v as one line of a table; RowHeader names its columns.
func (v View) Row(now time.Time) string {
	if v.StartedAt.IsZero() { // nothing else is known
		return strings.Join([]string{v.ID, v.State, "-", "-", "-", v.Cause, ""}, "\t")
	}
	return strings.Join([]string{v.ID, v.State, v.Operation, age(now.Sub(v.StartedAt)), fmt.Sprint(v.Attempt), v.Cause, quoted(v.KeyText)}, "\t")
}

// RowHeader names the columns of [View.Row].
const RowHeader = "ID\tSTATE\tOPERATION\tAGE\tATTEMPT\tCAUSE\tKEY"

// quoted is the text of a key so that it cannot move the cursor of a terminal.
func quoted(text string) string {
	if text == "" {
		return ""
	}
	return strconv.Quote(text)
}

func age(d time.Duration) string {
	if d < time.Minute {
		return d.Round(time.Second).String()
	}
	return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
}
