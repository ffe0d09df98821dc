package webhook

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// The example of the specification's own libraries.
const (
	exampleSecret    = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	exampleID        = "msg_p5jXN8AQM9LWM0D4loKWxJek"
	exampleStamp     = "1614265330"
	exampleBody      = `{"test": 2432232314}`
	exampleSignature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
)

func delivery(id, stamp, signature string) *http.Request {
	return &http.Request{Header: http.Header{"Webhook-Id": {id}, "Webhook-Timestamp": {stamp}, "Webhook-Signature": {signature}}}
}

func TestVerify(t *testing.T) {
	t.Parallel()
	v, err := Parse("whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAA\n" + exampleSecret + "\n")
	if err != nil {
		t.Fatal(err)
	}
	at := time.Unix(1614265330, 0)
	v.now = func() time.Time { return at }
	whole := delivery(exampleID, exampleStamp, "v1a,other v1,AAAA "+exampleSignature)
	if err := v.Verify(whole, []byte(exampleBody)); err != nil {
		t.Errorf("the sender's delivery: %v", err)
	}
	if err := v.Verify(whole, []byte(exampleBody+" ")); err == nil {
		t.Error("another body is accepted")
	}
	twice := delivery(exampleID, exampleStamp, exampleSignature)
	twice.Header.Add("Webhook-Id", "other")
	for name, r := range map[string]*http.Request{
		"another id":     delivery("msg_other", exampleStamp, exampleSignature),
		"another time":   delivery(exampleID, "1614265331", exampleSignature),
		"no time":        delivery(exampleID, "", exampleSignature),
		"no signature":   delivery(exampleID, exampleStamp, ""),
		"half signature": delivery(exampleID, exampleStamp, exampleSignature[:20]),
		"another scheme": delivery(exampleID, exampleStamp, "v2"+exampleSignature[2:]),
		"two ids":        twice,
		"nothing":        {Header: http.Header{}},
	} {
		if err := v.Verify(r, []byte(exampleBody)); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	for _, off := range []time.Duration{tolerance + time.Second, -tolerance - time.Second} {
		v.now = func() time.Time { return at.Add(off) }
		if err := v.Verify(whole, []byte(exampleBody)); err == nil {
			t.Errorf("accepted %v after it was signed", off)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                         "there is no secret",
		"\n \n":                    "there is no secret",
		"CANARY-secret":            "a line is no secret",
		"whsec_CANARY!":            "a line is no secret",
		"whsec_AAAA":               "of 16 bytes or more",
		exampleSecret + "\nCANARY": "a line is no secret",
	} {
		_, err := Parse(text)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "CANARY") {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}
