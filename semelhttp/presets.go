package semelhttp

import (
	"net/http"
	"regexp"
	"time"
)

// Presets returns the presets of well-known payment APIs, and Semel's own and the
// draft's. They say what the documentation named in Docs said when this version
// was made; look there for what is guarded at all, and for how long in your
// contract. Retention is the least that is promised.
func Presets() []Preset {
	return append(headerPresets(), bodyPresets()...)
}

func headerPresets() []Preset {
	const day = 24 * time.Hour
	post := []string{http.MethodPost}
	change := []string{http.MethodPost, http.MethodPatch}
	return []Preset{
		SemelPreset(),
		{Name: "draft", Header: "Idempotency-Key", Quoted: true, Methods: change, Docs: "draft-ietf-httpapi-idempotency-key-header-07"},
		// The first answer is replayed, also a 500; keys may go after 24 hours (API v1).
		{Name: "stripe", Header: "Idempotency-Key", MaxLength: 255, Retention: day, Methods: post, Docs: "Stripe API Reference: Idempotent requests"},
		// Keys belong to the company account; random UUIDs are recommended, since whoever knows a key can see its answer.
		{Name: "adyen", Header: "Idempotency-Key", MaxLength: 64, Retention: 7 * day, Methods: post, Docs: "Adyen Docs: API idempotency"},
		// Not every API takes it; six hours is the shortest time documented (Orders v2).
		{Name: "paypal", Header: "PayPal-Request-Id", MaxLength: 108, Retention: 6 * time.Hour, Methods: post, Docs: "PayPal Developer: Idempotency; Orders v2"},
		// Two at once: the second gets 429.
		{Name: "checkout.com", Header: "Cko-Idempotency-Key", Retention: day, Methods: post, Docs: "Checkout.com Docs: Idempotency"},
		{Name: "klarna", Header: "Klarna-Idempotency-Key", Retention: day, Methods: change, Docs: "Klarna Docs: Idempotency"},
		// The same key with another body: 400.
		{Name: "mollie", Header: "Idempotency-Key", Retention: time.Hour, Methods: post, Docs: "Mollie API: API idempotency"},
		// A repetition is not replayed: it gets 409 with the id of what exists.
		{Name: "gocardless", Header: "Idempotency-Key", Methods: post, Docs: "GoCardless: Safely retrying API requests"},
		// The key counts for all routes together, and for one API key.
		{Name: "modern-treasury", Header: "Idempotency-Key", Retention: day, Methods: post, Docs: "Modern Treasury Docs: Idempotent Requests"},
		{Name: "dwolla", Header: "Idempotency-Key", Retention: day, Methods: post, Docs: "Dwolla Developers: Idempotency Key"},
		// Composite and plain payouts only.
		{Name: "razorpayx", Header: "X-Payout-Idempotency", MinLength: 4, MaxLength: 36, Format: keyForm(`[A-Za-z0-9_ -]+`), Retention: 7 * day, Methods: post, Docs: "Razorpay Docs: Payout Idempotency"},
		// A repetition is not replayed: it gets 409.
		{Name: "mangopay", Header: "Idempotency-Key", MinLength: 16, MaxLength: 36, Format: keyForm(`[A-Za-z0-9-]+`), Retention: day, Methods: post, Docs: "Mangopay Docs: Idempotency support"},
		{Name: "worldline-direct", Header: "X-GCS-Idempotence-Key", MaxLength: 40, Retention: day, Methods: post, Docs: "Worldline Direct: Idempotent requests"},
		{Name: "truelayer", Header: "Idempotency-Key", Retention: 30 * day, Methods: post, Docs: "TrueLayer Docs: Add idempotency to your payments requests"},
		{Name: "mercadopago", Header: "X-Idempotency-Key", Methods: post, Docs: "Mercado Pago Developers: Idempotency"},
		// The recorded answer comes even if the body differs.
		{Name: "qonto", Header: "X-Qonto-Idempotency-Key", Retention: 30 * time.Minute, Methods: post, Docs: "Qonto Docs: Idempotent requests"},
	}
}

// bodyPresets are the APIs that take the key as a member of the body.
func bodyPresets() []Preset {
	post := []string{http.MethodPost}
	return []Preset{
		// How long keys are kept is not published. Some other endpoints take more than 45 bytes.
		{Name: "square", BodyField: "idempotency_key", MinLength: 1, MaxLength: 45, Methods: post, Docs: "Square Developer: Idempotency; CreatePayment"},
		// Creating transfers only.
		{Name: "wise", BodyField: "customerTransactionId", Format: KeyUUID, Methods: post, Docs: "Wise Platform: Create a transfer"},
	}
}

func keyForm(pattern string) func(string) error { return KeyPattern(regexp.MustCompile(pattern)) }
