package demo

import (
	"fmt"
	"strings"

	"github.com/semel-go/semel/semelhttp"
)

// trial is a way to use the gateway wrongly, or in a way that looks so.
type trial struct {
	id     string
	send   func(n names) []message // one after the other
	atOnce bool                    // or all at the same time
	want   finale
}

// names are what one run of a trial calls its order and its key.
type names struct{ order, key string }

// finale is how a trial ends: the answer to tell of, and the charges for the order.
type finale struct {
	status   int
	code     semelhttp.Code // empty for the shop's own answers
	replayed bool
	charges  int
}

// message is what is written to the gateway, byte for byte.
type message struct {
	text   string
	hangUp bool // nothing follows: the body may be incomplete
}

// draft is a request before it becomes a message. [names.pay] makes a sound one.
type draft struct {
	method, target string
	user           string   // the credential; empty: none
	fields         []string // further field lines, as they are
	body           string
	length         int // what Content-Length says
}

// pay is a sound request but for its key, which stands in fields.
func (n names) pay(fields ...string) draft {
	d := draft{method: "POST", target: "/charges", user: credential, fields: fields}
	return d.with(price, n.order)
}

// with is d for another amount.
func (d draft) with(amount int, order string) draft {
	d.body = fmt.Sprintf(`{"order":%q,"customer":"Lin Mei","item":"Tea set","amount":%d}`, order, amount)
	d.length = len(d.body)
	return d
}

func (d draft) message() message {
	lines := []string{d.method + " " + d.target + " HTTP/1.1", "Host: shop.example"}
	if d.user != "" {
		lines = append(lines, "Authorization: "+d.user)
	}
	lines = append(lines, d.fields...)
	if d.length > 0 {
		lines = append(lines, "Content-Type: application/json", fmt.Sprintf("Content-Length: %d", d.length))
	}
	lines = append(lines, "Connection: close", "", d.body)
	return message{text: strings.Join(lines, "\r\n"), hangUp: d.method == "POST" && len(d.body) > 0 && len(d.body) < d.length}
}

func keyLine(value string) string { return "Idempotency-Key: " + value }

func messages(drafts ...draft) []message {
	var all []message
	for _, d := range drafts {
		all = append(all, d.message())
	}
	return all
}

// refused is the end of a trial whose request is refused by code.
func refused(code semelhttp.Code, charges int) finale {
	return finale{status: semelhttp.NewProblem(code).Status, code: code, charges: charges}
}
