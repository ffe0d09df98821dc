package demo

import (
	"io"
	"net/http"
)

// sayHello answers who opens a service's address in a browser, where there is
// nothing to see.
func sayHello(what string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		io.WriteString(w, what+" What happens is on the page whose address semel demo printed first.\n")
	}
}
