package main

import (
	"database/sql"
	"errors"
	"fmt"
	"net/http"

	"github.com/semel-go/semel/inbox"
	"github.com/semel-go/semel/semelhttp"
)

// newHandler serves POST /deduct?amount=N. The guard puts the transaction into the
// request's context, commits it together with the recorded answer, and then sends the
// answer.
func newHandler(box *inbox.Box) (http.Handler, error) {
	once, err := semelhttp.Transactional(box, semelhttp.HeaderPrincipal("X-Account"), &semelhttp.Options{RequireKey: true})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("POST /deduct", once(http.HandlerFunc(deduct)))
	return mux, nil
}

func deduct(w http.ResponseWriter, r *http.Request) {
	tx, ok := inbox.TxFrom(r.Context())
	if !ok { // no guard
		http.Error(w, "not here", http.StatusInternalServerError)
		return
	}
	account, amount := r.Header.Get("X-Account"), r.FormValue("amount")
	var left int64
	err := tx.QueryRowContext(r.Context(),
		"UPDATE account SET balance = balance - ? WHERE id = ? AND balance >= ? RETURNING balance",
		amount, account, amount).Scan(&left)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		http.Error(w, "the balance is too low", http.StatusConflict) // recorded; changes are undone
	case err != nil:
		http.Error(w, "try again", http.StatusInternalServerError) // rolled back; a retry runs
	default:
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, "%d left\n", left)
	}
}
