package demo

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/cmd/semel/internal/storeurl"
)

const day = 24 * time.Hour

// office is a service that is written in Go and uses the library itself. It counts
// votes for the tea of the year, and sends a parcel when the payment provider's
// webhook says that an order is paid. It takes both at an address that is guarded
// and at one that is not.
type office struct {
	secret  webhookSecret
	changed func(order string) // told of each vote and parcel
	db      *sql.DB
	engine  *semel.Engine
	addr    string
	closers closers
}

const officeTables = `CREATE TABLE IF NOT EXISTS votes (
	id     INTEGER PRIMARY KEY,
	member TEXT NOT NULL,
	tea    TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS parcels (
	id       INTEGER PRIMARY KEY,
	order_id TEXT NOT NULL,
	event    TEXT NOT NULL
) STRICT`

// openOffice opens the office's files in folder, and serves. [office.close] has to
// follow.
func openOffice(ctx context.Context, folder string, o Options, changed func(order string)) (*office, error) {
	f := &office{secret: newWebhookSecret(), changed: changed}
	for _, step := range []func() error{
		func() error { return f.openTables(ctx, filepath.Join(folder, "office.db")) },
		func() error { return f.openEngine(ctx, filepath.Join(folder, "once.db"), o) },
		f.serve,
	} {
		if err := step(); err != nil {
			return nil, fmt.Errorf("the office: %w", errors.Join(err, f.close()))
		}
	}
	return f, nil
}

func (o *office) openTables(ctx context.Context, file string) (err error) {
	if o.db, err = openTables(ctx, file, officeTables); err == nil {
		o.closers.add(o.db.Close)
	}
	return err
}

func (o *office) openEngine(ctx context.Context, file string, opts Options) error {
	store, err := storeurl.Open(ctx, "sqlite:"+file)
	if err != nil {
		return err
	}
	o.closers.add(store.Close)
	if o.engine, err = semel.New(store.Store, &semel.Options{Wait: opts.Wait, Logger: opts.Log}); err != nil {
		return err
	}
	o.closers.add(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		return o.engine.Close(ctx)
	})
	return nil
}

func (o *office) serve() error {
	handler, err := o.handler()
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", anyPort)
	if err != nil {
		return err
	}
	o.addr = listener.Addr().String()
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second, ErrorLog: log.New(io.Discard, "", 0)}
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	o.closers.add(func() error {
		err := server.Close()
		if ended := <-done; !errors.Is(ended, http.ErrServerClosed) {
			return errors.Join(err, ended)
		}
		return err
	})
	return nil
}

// close ends the office. It may be called once.
func (o *office) close() error { return o.closers.close() }

func (o *office) handler() (http.Handler, error) {
	guard, err := o.guardWebhooks()
	if err != nil {
		return nil, err
	}
	ship := http.HandlerFunc(o.ship)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /plain/votes", o.votes(o.countAll))
	mux.HandleFunc("POST /library/votes", o.votes(o.countOnce))
	mux.Handle("POST /plain/webhooks", o.secret.checked(ship))
	mux.Handle("POST /library/webhooks", guard(ship))
	mux.HandleFunc("GET /{$}", sayHello("This is the demo's office: it takes votes and webhooks under /plain/ and /library/."))
	mux.HandleFunc("GET /{side}/votes", o.tell(storyVotes, "member"))
	mux.HandleFunc("GET /{side}/parcels", o.tell(storyWebhook, "order"))
	return http.MaxBytesHandler(mux, 64<<10), nil
}

// tally counts a member's votes or an order's parcels.
func (o *office) tally(ctx context.Context, story, order string) (count int, err error) {
	query := "SELECT count(*) FROM parcels WHERE order_id = ?"
	if story == storyVotes {
		query = "SELECT count(*) FROM votes WHERE member = ?"
	}
	err = o.db.QueryRowContext(ctx, query, order).Scan(&count)
	return count, err
}

// tell answers how often something was done, by what the tables hold.
func (o *office) tell(story, parameter string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		n, err := o.tally(r.Context(), story, r.FormValue(parameter))
		if err != nil {
			http.Error(w, "the tables cannot be read", http.StatusInternalServerError)
			return
		}
		writeJSON(w, http.StatusOK, map[string]int{"count": n})
	}
}

// insert adds a row and returns its number.
func (o *office) insert(ctx context.Context, statement string, values ...any) (int64, error) {
	res, err := o.db.ExecContext(ctx, statement, values...)
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}
