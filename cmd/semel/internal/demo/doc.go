// Package demo is `semel demo`: services that count what they do, the gateway and
// the library before them, and a page that tells five stories on both sides, and
// plays five schemes the tempting way and the right one.
//
//	browser ── page ──/shop/────────────────▶ shop (charges in SQLite)
//	            │   └─/gateway/──▶ semel proxy ──▶ the same shop
//	            │                       ▲
//	            ├─ trials: raw requests ┘
//	            ├─/plain/────▶ office (votes, parcels in SQLite)
//	            ├─/library/──▶ the same office, guarded by the library
//	            └─/schemes/──▶ package schemes (tables in SQLite)
//
// Everything is real but the card: listeners, connections, the gateway as
// `semel proxy` runs it, the shop's death, the provider's signature, and the
// operator's decision. What is counted is counted in the services' own tables.
//
//   - demo.go, options.go, closers.go: the parts, in the order in which they need
//     each other
//   - ledger.go, shop.go, keeper.go: the shop, and who starts it again
//   - gateway.go, operator.go: the gateway, and who settles its doubts
//   - office.go, votes.go, webhook.go: the service that uses the library; once.go is
//     how it does that, provider.go who sends it webhooks
//   - hop.go: the way between page and services, which can lose an answer
//   - board.go, lane.go: what happened, per story and side
//   - trial.go, trials.go, exchange.go, lab.go: ways to use the gateway wrongly
//   - schemes: the schemes, and who plays them; source cuts the code that is shown
//   - page.go, view.go, trialview.go, schemeview.go, words.go, bell.go, events.go: how
//     it is shown, in two languages
//   - guard.go: who may ask; hello.go: what a browser finds at a service's address
package demo
