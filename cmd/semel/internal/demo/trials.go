package demo

import (
	"net/http"
	"strings"

	"github.com/semel-go/semel/semelhttp"
)

// trialGroup is trials of one kind.
type trialGroup struct {
	id     string
	trials []trial
}

// trialGroups are all trials, in the order in which they are shown.
func trialGroups() []trialGroup {
	return []trialGroup{
		{"unusable", unusableKeys()},
		{"reused", reusedKeys()},
		{"odd", oddRequests()},
	}
}

// unusableKeys are trials whose one request must not reach the shop: a key that is
// there and cannot be used never means that the request runs unguarded.
func unusableKeys() []trial {
	one := func(id string, code semelhttp.Code, fields func(key string) []string) trial {
		return trial{id: id, want: refused(code, 0), send: func(n names) []message {
			return messages(n.pay(fields(n.key)...))
		}}
	}
	return []trial{
		one("no-key", semelhttp.CodeMissingKey, func(string) []string { return nil }),
		one("empty-key", semelhttp.CodeInvalidKey, func(string) []string { return []string{"Idempotency-Key:"} }),
		one("two-lines", semelhttp.CodeInvalidKey, func(key string) []string { return []string{keyLine(key), keyLine(newUUID())} }),
		one("comma-list", semelhttp.CodeInvalidKey, func(key string) []string { return []string{keyLine(key[:8] + ", " + key[9:13])} }),
		one("open-quote", semelhttp.CodeInvalidKey, func(key string) []string { return []string{keyLine(`"` + key)} }),
		one("over-long", semelhttp.CodeInvalidKey, func(string) []string { return []string{keyLine(strings.Repeat("k", 256))} }),
		one("not-ascii", semelhttp.CodeInvalidKey, func(key string) []string { return []string{keyLine("订单-" + key[:8])} }),
	}
}

// reusedKeys are trials that use one key twice.
func reusedKeys() []trial {
	return []trial{
		{id: "twin", want: finale{status: http.StatusCreated, replayed: true, charges: 1}, send: func(n names) []message {
			return messages(n.pay(keyLine(n.key)), n.pay(keyLine(`"`+n.key+`"`)))
		}},
		{id: "other-body", want: refused(semelhttp.CodeKeyReused, 1), send: func(n names) []message {
			return messages(n.pay(keyLine(n.key)), n.pay(keyLine(n.key)).with(1, n.order))
		}},
		{id: "other-address", want: refused(semelhttp.CodeKeyReused, 1), send: func(n names) []message {
			second := n.pay(keyLine(n.key))
			second.target = "/charges?coupon=HALF"
			return messages(n.pay(keyLine(n.key)), second)
		}},
		{id: "other-user", want: finale{status: http.StatusCreated, charges: 2}, send: func(n names) []message {
			second := n.pay(keyLine(n.key))
			second.user = "Bearer somebody-else"
			return messages(n.pay(keyLine(n.key)), second)
		}},
		{id: "still-running", atOnce: true, want: refused(semelhttp.CodeInProgress, 1), send: func(n names) []message {
			slow := n.pay(keyLine(n.key), faultHeader+": "+faultSlow)
			return messages(slow, slow)
		}},
	}
}

// oddRequests are trials whose key is sound and whose request is not, or is no
// request to guard.
func oddRequests() []trial {
	return []trial{
		{id: "no-user", want: refused(semelhttp.CodeNoPrincipal, 0), send: func(n names) []message {
			d := n.pay(keyLine(n.key))
			d.user = ""
			return messages(d)
		}},
		{id: "half-body", want: refused(semelhttp.CodeIncompleteBody, 0), send: func(n names) []message {
			d := n.pay(keyLine(n.key))
			d.body = d.body[:20]
			return messages(d)
		}},
		{id: "huge-body", want: refused(semelhttp.CodePayloadTooLarge, 0), send: func(n names) []message {
			d := n.pay(keyLine(n.key))
			d.body, d.length = "", 99<<20
			return messages(d)
		}},
		{id: "nominated", want: finale{status: http.StatusCreated, replayed: true, charges: 1}, send: func(n names) []message {
			d := n.pay(keyLine(n.key), "Connection: Idempotency-Key, Authorization")
			return messages(d, d)
		}},
		{id: "read", want: finale{status: http.StatusOK}, send: func(n names) []message {
			return messages(draft{method: "GET", target: "/charges?order=" + n.order, user: credential, fields: []string{keyLine(`"broken`)}})
		}},
	}
}
