// Package demo is `semel demo`: a shop that counts what it charges, the gateway
// in front of it, and a page that tells three stories on both sides of it.
//
//	browser ── page ──/shop/────────────────▶ shop (charges in SQLite)
//	                └─/gateway/──▶ semel proxy ──▶ the same shop
//
// Everything is real but the card: listeners, connections, the gateway as
// `semel proxy` runs it, the shop's death, and the operator's decision. What is
// counted is counted in the shop's own table.
//
//   - demo.go, options.go: the parts, in the order in which they need each other
//   - ledger.go, shop.go, keeper.go: the shop, and who starts it again
//   - gateway.go, operator.go: the gateway, and who settles its doubts
//   - hop.go: the way between page and services, which can lose an answer
//   - board.go, lane.go: what happened, per story and side
//   - page.go, view.go, words.go, events.go: how it is shown, in two languages
//   - guard.go: who may ask
package demo
