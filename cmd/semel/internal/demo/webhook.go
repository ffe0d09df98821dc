package demo

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// event is what the payment provider tells.
type event struct {
	Type string    `json:"type"`
	Data eventData `json:"data"`
}

type eventData struct {
	Order  string `json:"order"`
	Amount int64  `json:"amount"`
}

// price is what everything here costs, in fen.
const price = 29900

const eventPaid = "payment.succeeded"

// parcel is a row of the office's table. Nothing in it keeps an order from being
// sent twice.
type parcel struct {
	ID    int64  `json:"id"`
	Order string `json:"order"`
}

// ship sends the parcel of a paid order.
func (o *office) ship(w http.ResponseWriter, r *http.Request) {
	var e event
	if err := json.NewDecoder(r.Body).Decode(&e); err != nil || e.Type != eventPaid || e.Data.Order == "" {
		http.Error(w, "the office knows no such event", http.StatusUnprocessableEntity)
		return
	}
	id, err := o.insert(r.Context(), "INSERT INTO parcels (order_id, event) VALUES (?, ?)", e.Data.Order, r.Header.Get("Webhook-Id"))
	if err != nil {
		http.Error(w, "the tables cannot be written", http.StatusInternalServerError)
		return
	}
	o.changed(e.Data.Order)
	writeJSON(w, http.StatusCreated, parcel{ID: id, Order: e.Data.Order})
}

// webhookSecret is what provider and office share to sign webhooks with, as
// standardwebhooks.com has it.
type webhookSecret []byte

func newWebhookSecret() webhookSecret {
	s := make(webhookSecret, 32)
	rand.Read(s)
	return s
}

// sign sets the headers of a delivery that leaves at the time at.
func (s webhookSecret) sign(h http.Header, id string, at time.Time, body []byte) {
	stamp := strconv.FormatInt(at.Unix(), 10)
	h.Set("Webhook-Id", id)
	h.Set("Webhook-Timestamp", stamp)
	h.Set("Webhook-Signature", "v1,"+s.mac(id, stamp, body))
}

func (s webhookSecret) mac(id, stamp string, body []byte) string {
	m := hmac.New(sha256.New, s)
	m.Write([]byte(id + "." + stamp + "."))
	m.Write(body)
	return base64.StdEncoding.EncodeToString(m.Sum(nil))
}

// tolerance is the age up to which a delivery is believed.
const tolerance = 5 * time.Minute

func (s webhookSecret) verify(r *http.Request, body []byte) error {
	stamp := r.Header.Get("Webhook-Timestamp")
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > tolerance {
		return errors.New("the delivery is too old, or from the future")
	}
	want := "v1," + s.mac(r.Header.Get("Webhook-Id"), stamp, body)
	for got := range strings.FieldsSeq(r.Header.Get("Webhook-Signature")) {
		if hmac.Equal([]byte(got), []byte(want)) {
			return nil
		}
	}
	return errors.New("no signature is the provider's")
}

// checked lets signed requests pass, as often as they come.
func (s webhookSecret) checked(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = s.verify(r, body)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnauthorized)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}
