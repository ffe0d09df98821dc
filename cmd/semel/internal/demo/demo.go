package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/semel-go/semel/cmd/semel/internal/demo/schemes"
	"github.com/semel-go/semel/cmd/semel/internal/storeurl"
)

// Demo is a running demo. [Start] makes one, [Demo.Run] ends it.
type Demo struct {
	opts    Options
	folder  string
	ledger  *ledger // for counting, beside the shop's own connection
	bell    *bell   // rings for board and lab
	board   *board
	lab     *lab
	shop    *keeper
	gateway *gateway
	hand    *operator
	office  *office
	schemes *schemes.Player
	page    *http.Server
	addr    string
	failed  chan error // of the page's listener
	closers closers
}

// Start makes a temporary folder and starts shop, gateway and page. [Demo.Run]
// has to follow.
func Start(ctx context.Context, opts *Options) (*Demo, error) {
	d := &Demo{opts: opts.withDefaults(), bell: newBell(), failed: make(chan error, 1)}
	d.board = newBoard(d.tally, d.bell)
	for _, step := range []func(context.Context) error{d.openFolder, d.openShop, d.openGateway, d.openOperator, d.openOffice, d.openSchemes, d.openPage} {
		if err := step(ctx); err != nil {
			return nil, errors.Join(err, d.closers.close())
		}
	}
	return d, nil
}

// URL is the page's address.
func (d *Demo) URL() string { return "http://" + d.addr }

// ShopURL is the address of the shop itself.
func (d *Demo) ShopURL() string { return "http://" + d.shop.addr }

// GatewayURL is the address of the gateway itself.
func (d *Demo) GatewayURL() string { return "http://" + d.gateway.server.Addr() }

// AdminURL is the address of the gateway's health and metrics.
func (d *Demo) AdminURL() string { return "http://" + d.gateway.server.AdminAddr() }

// OfficeURL is the address of the service that uses the library.
func (d *Demo) OfficeURL() string { return "http://" + d.office.addr }

// Folder is the temporary folder.
func (d *Demo) Folder() string { return d.folder }

// Announce tells w where to look.
func (d *Demo) Announce(w io.Writer) {
	fmt.Fprintf(w, `Semel's demo is running. Open this page:

  %s/

  the shop        %s
  the gateway     %s
  its metrics     %s/metrics
  the office      %s
  same with curl  examples/curl/stories.sh %s

Ctrl-C ends it and leaves nothing behind.
`, d.URL(), d.ShopURL(), d.GatewayURL(), d.AdminURL(), d.OfficeURL(), d.URL())
}

// Run serves until ctx ends or the page's listener fails, then stops everything
// and removes the folder. An error says what was left.
func (d *Demo) Run(ctx context.Context) error {
	var err error
	select {
	case err = <-d.failed:
	case <-ctx.Done():
	}
	return errors.Join(err, d.closers.close())
}

func (d *Demo) openFolder(context.Context) (err error) {
	if d.folder, err = os.MkdirTemp("", "semel-demo-"); err != nil {
		return err
	}
	d.closers.add(func() error { return os.RemoveAll(d.folder) })
	return nil
}

func (d *Demo) openShop(ctx context.Context) (err error) {
	file := filepath.Join(d.folder, "shop.db")
	if d.ledger, err = openLedger(ctx, file); err != nil {
		return err
	}
	d.closers.add(d.ledger.Close)
	if d.shop, err = startKeeper(ctx, file, d.opts, d.board.charged); err != nil {
		return err
	}
	d.closers.add(d.shop.close)
	return nil
}

func (d *Demo) storeFile() string { return filepath.Join(d.folder, "semel.db") }

func (d *Demo) openGateway(ctx context.Context) (err error) {
	if d.gateway, err = startGateway(ctx, d.shop.addr, d.storeFile(), d.opts); err != nil {
		return err
	}
	d.closers.add(d.gateway.close)
	return nil
}

func (d *Demo) openOperator(ctx context.Context) (err error) {
	if d.hand, err = newOperator(ctx, d.storeFile(), d.shop.addr, d.opts.Log); err != nil {
		return err
	}
	d.closers.add(d.hand.close)
	return nil
}

func (d *Demo) openOffice(ctx context.Context) (err error) {
	if d.office, err = openOffice(ctx, d.folder, d.opts, d.board.charged); err != nil {
		return err
	}
	d.closers.add(d.office.close)
	return nil
}

func (d *Demo) openSchemes(ctx context.Context) error {
	db, err := openTables(ctx, filepath.Join(d.folder, "schemes.db"), schemes.Tables)
	if err != nil {
		return fmt.Errorf("the schemes: %w", err)
	}
	d.closers.add(db.Close)
	store, err := storeurl.Open(ctx, "sqlite:"+filepath.Join(d.folder, "schemes-semel.db"))
	if err != nil {
		return err
	}
	d.closers.add(store.Close)
	d.schemes, err = schemes.New(schemes.Options{DB: db, Store: store.Store, Log: d.opts.Log, Changed: d.bell.ring, Pace: d.opts.Pace})
	if err != nil {
		return fmt.Errorf("the schemes: %w", err)
	}
	d.closers.add(d.schemes.Close)
	return nil
}

// tally counts in the table of the service that a story is about.
func (d *Demo) tally(ctx context.Context, story, order string) (count int, total int64, err error) {
	if story == storyVotes || story == storyWebhook {
		count, err = d.office.tally(ctx, story, order)
		return count, 0, err
	}
	return d.ledger.tally(ctx, order)
}

func (d *Demo) openPage(context.Context) error {
	listener, err := listen(d.opts.Listen)
	if err != nil {
		return err
	}
	d.addr = listener.Addr().String()
	d.lab = newLab(d.gateway.server.Addr(), d.ledger.tally, d.bell)
	handler, err := d.handler()
	if err != nil {
		listener.Close()
		return err
	}
	running, stop := context.WithCancel(context.Background())
	d.page = &http.Server{
		Handler:           guarded(http.MaxBytesHandler(handler, 64<<10)),
		ReadHeaderTimeout: 5 * time.Second,
		BaseContext:       func(net.Listener) context.Context { return running },
		ErrorLog:          log.New(io.Discard, "", 0),
	}
	d.closers.add(func() error { stop(); return d.closePage() })
	go func() { d.failed <- d.page.Serve(listener) }()
	return nil
}

// closePage lets requests finish for a moment. Streams of events have ended with
// the base context.
func (d *Demo) closePage() error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if err := d.page.Shutdown(ctx); err != nil {
		return d.page.Close()
	}
	return nil
}
