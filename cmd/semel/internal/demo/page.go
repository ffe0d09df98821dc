package demo

import (
	"bytes"
	"embed"
	"html/template"
	"io/fs"
	"net/http"

	"github.com/semel-go/semel/cmd/semel/internal/demo/schemes"
)

//go:embed assets words
var files embed.FS

// page shows the board in two languages.
type page struct {
	board    *board
	lab      *lab
	schemes  *schemes.Player
	command  string           // that starts such a gateway
	words    map[string]words // by language
	template *template.Template
}

func (d *Demo) newPage() (*page, error) {
	all, err := loadWords()
	if err != nil {
		return nil, err
	}
	t, err := template.New("").Funcs(template.FuncMap{"rich": rich}).ParseFS(files, "assets/*.html")
	if err != nil {
		return nil, err
	}
	return &page{board: d.board, lab: d.lab, schemes: d.schemes, command: d.gateway.command(), words: all, template: t}, nil
}

// handler is everything that the page's address serves.
func (d *Demo) handler() (http.Handler, error) {
	p, err := d.newPage()
	if err != nil {
		return nil, err
	}
	assets, err := fs.Sub(files, "assets")
	if err != nil {
		return nil, err
	}
	static := http.StripPrefix("/assets", http.FileServerFS(assets))
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", p.index)
	mux.HandleFunc("GET /events", p.events)
	for _, name := range []string{"demo.css", "demo.js", "icon.svg"} {
		mux.Handle("GET /assets/"+name, static)
	}
	mux.Handle("/shop/", http.StripPrefix("/shop", newHop(sideShop, d.shop.addr, d.board)))
	mux.Handle("/gateway/", http.StripPrefix("/gateway", newHop(sideGateway, d.gateway.server.Addr(), d.board)))
	for _, side := range []string{sidePlain, sideLibrary} {
		mux.Handle("/"+side+"/", newHop(side, d.office.addr, d.board))
	}
	mux.Handle("POST /provider/deliver", newProvider(d.URL(), d.office.secret))
	mux.Handle("POST /trials/{trial}", d.lab)
	mux.HandleFunc("POST /schemes/{scheme}/{way}", d.playScheme)
	mux.HandleFunc("POST /reset", d.reset)
	mux.HandleFunc("POST /operator/resolve", d.resolve)
	return mux, nil
}

func (d *Demo) reset(w http.ResponseWriter, _ *http.Request) {
	d.board.reset()
	d.lab.reset()
	d.schemes.Reset()
	w.WriteHeader(http.StatusNoContent)
}

// playScheme begins the way that the path names, and answers at once.
func (d *Demo) playScheme(w http.ResponseWriter, r *http.Request) {
	if !d.schemes.Play(r.PathValue("scheme"), r.PathValue("way")) {
		http.NotFound(w, r)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// resolve lets the operator settle the record of the form's key.
func (d *Demo) resolve(w http.ResponseWriter, r *http.Request) {
	key := r.FormValue("key")
	f, err := d.hand.resolve(r.Context(), key)
	if err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
		return
	}
	d.board.settled(key, f)
	writeJSON(w, http.StatusOK, f)
}

func (p *page) index(w http.ResponseWriter, r *http.Request) {
	v := p.view(language(r))
	v.Own.Draft = ownDraft()
	var html bytes.Buffer
	if err := p.template.ExecuteTemplate(&html, "page.html", v); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Vary", "Accept-Language")
	w.Write(html.Bytes())
}
