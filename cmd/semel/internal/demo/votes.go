package demo

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/semelhttp"
)

// vote is a row of the office's table. Nothing in it keeps a member from voting
// twice.
type vote struct {
	ID     int64  `json:"id"`
	Member string `json:"member"`
	Tea    string `json:"tea"`
}

// tea is what everybody votes for.
const tea = "Tieguanyin"

// countAll counts each vote that comes.
func (o *office) countAll(ctx context.Context, member, tea string) (semel.Result[vote], error) {
	v, err := o.count(ctx, member, tea)
	return semel.Result[vote]{Value: v}, err
}

func (o *office) count(ctx context.Context, member, tea string) (vote, error) {
	id, err := o.insert(ctx, "INSERT INTO votes (member, tea) VALUES (?, ?)", member, tea)
	if err == nil {
		o.changed(member)
	}
	return vote{ID: id, Member: member, Tea: tea}, err
}

// votes takes votes from members, who send no key, and lets count decide.
func (o *office) votes(count func(ctx context.Context, member, tea string) (semel.Result[vote], error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		member, known := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer M-")
		if !known {
			http.Error(w, "only members vote", http.StatusUnauthorized)
			return
		}
		var ballot struct{ Tea string }
		if err := json.NewDecoder(r.Body).Decode(&ballot); err != nil || ballot.Tea == "" {
			http.Error(w, "a ballot names a tea", http.StatusBadRequest)
			return
		}
		res, err := count(r.Context(), "M-"+member, ballot.Tea)
		if err != nil {
			p, ok := semelhttp.ProblemOf(err)
			if !ok { // the handler's own: nothing was counted
				p = semelhttp.NewProblem(semelhttp.CodeStoreUnavailable)
			}
			semelhttp.WriteProblem(w, p)
			return
		}
		if res.Replayed {
			w.Header().Set(replayedHeader, "true")
		}
		writeJSON(w, http.StatusCreated, res.Value)
	}
}

const replayedHeader = "Idempotent-Replayed"
