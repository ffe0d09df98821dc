// Package proxy is the gateway: semelhttp around a reverse proxy, with listeners,
// a store and an admin address.
//
//	cfg, err := settings.Read(flags)
//	server, err := proxy.Start(ctx, cfg, version, log)
//	err = server.Run(ctx)
//
// A map of the package:
//
//   - server.go, front.go, announce.go, reload.go, doubtlog.go: what runs, how it
//     changes, and what it tells
//   - gateway.go, routes.go: the handler that one configuration makes
//   - principal.go, senders.go: whose request it is
//   - formtokens.go: where forms get their tokens
//   - forward.go, requestbody.go, upgrade.go: the request on its way to the upstream
//   - transport.go, sent.go, stall.go: one round trip, what was written of it, and its standstill
//   - outcome.go, whole.go, readahead.go: the answer, and what it means for the record
package proxy
