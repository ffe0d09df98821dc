// Package semeltest is for the tests of programs that use [semel]: it shows that
// an operation takes effect once, also under fire.
//
//	func TestPayOnce(t *testing.T) {
//		shop := newShop()                      // your handler, guarded by semelhttp
//		req, _ := http.NewRequest("POST", "/charges", strings.NewReader(`{"cents":1000}`))
//		req.Header.Set("Idempotency-Key", "k-1")
//		semeltest.OnceUnderFire(t, shop, req, shop.Charges)
//	}
//
// A map of the package:
//
//   - fire.go: [OnceUnderFire], one line for an HTTP handler
//   - faultstore.go: [FaultStore], a store that fails, fails after it has applied,
//     delays or repeats calls, and records them
//   - clock.go: [Clock], a clock that moves when told to
//   - cutproxy.go: [CutProxy], a proxy that loses answers after they were made
package semeltest
