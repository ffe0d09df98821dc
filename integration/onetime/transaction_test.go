package onetime

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/inbox"
	"github.com/semel-go/semel/integration/internal/backends"
	"github.com/semel-go/semel/onetime"
	"github.com/semel-go/semel/pgxstore"
	"github.com/semel-go/semel/semelhttp"
	"github.com/semel-go/semel/sqlstore"
)

// A form whose order is a row of the database that holds the record: a refused form
// leaves neither, a double submit leaves one row.
func TestFormInATransaction(t *testing.T) {
	t.Parallel()
	for _, b := range backends.All() {
		t.Run(b.Name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, b, onetime.Options{})
			if _, err := w.handle.DB.ExecContext(t.Context(), "CREATE TABLE shop_order (tea VARCHAR(20))"); err != nil {
				t.Fatal(err)
			}
			box, insert, err := boxOf(w.handle.Store)
			if err != nil {
				t.Fatal(err)
			}
			orderForms(t, w, box, insert)
		})
	}
}

const insertOrder = "INSERT INTO shop_order (tea) VALUES ('tea')"

// boxOf is the box of a store, and how handlers write a row in its transactions.
func boxOf(store semel.Store) (semelhttp.Transactor, func(context.Context) error, error) {
	if pool, ok := store.(*pgxstore.Store); ok {
		box, err := pgxstore.NewBox(pool, nil)
		return box, func(ctx context.Context) error {
			tx, _ := pgxstore.TxFrom(ctx)
			_, err := tx.Exec(ctx, insertOrder)
			return err
		}, err
	}
	box, err := inbox.New(store.(*sqlstore.Store), nil)
	return box, func(ctx context.Context) error {
		tx, _ := inbox.TxFrom(ctx)
		_, err := tx.ExecContext(ctx, insertOrder)
		return err
	}, err
}

func orderForms(t *testing.T, w *world, box semelhttp.Transactor, insert func(context.Context) error) {
	t.Helper()
	user := semelhttp.HeaderPrincipal("X-User")
	forms, err := semelhttp.NewForms(w.issuer, user, nil)
	if err != nil {
		t.Fatal(err)
	}
	guard, err := semelhttp.Transactional(box, user, &semelhttp.Options{Keys: []semelhttp.KeySource{forms.Key("order")}, RequireKey: true})
	if err != nil {
		t.Fatal(err)
	}
	shop := guard(order(insert))
	token := w.token(t)
	for _, step := range []struct {
		tea  string
		want int
	}{{"", 422}, {"green", 303}, {"green", 303}, {"black", 409}} {
		if got := send(shop, token, step.tea); got.Code != step.want {
			t.Errorf("%q got %d %s, want %d", step.tea, got.Code, got.Body, step.want)
		}
	}
	var rows int
	if err := w.handle.DB.QueryRowContext(t.Context(), "SELECT count(*) FROM shop_order").Scan(&rows); err != nil || rows != 1 {
		t.Errorf("%d orders, %v; want 1", rows, err)
	}
}

// order writes the row before it finds the mistake.
func order(insert func(context.Context) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := insert(r.Context()); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		if r.FormValue("tea") == "" {
			http.Error(w, "choose a tea", http.StatusUnprocessableEntity)
			return
		}
		w.Header().Set("Location", "/orders/7")
		w.WriteHeader(http.StatusSeeOther)
	}
}

func send(shop http.Handler, token, tea string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", "/orders", strings.NewReader(url.Values{"form_token": {token}, "tea": {tea}}.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("X-User", "alice")
	w := httptest.NewRecorder()
	shop.ServeHTTP(w, r)
	return w
}
