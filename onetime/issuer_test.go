package onetime_test

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/semel-go/semel/onetime"
	"github.com/semel-go/semel/semeltest"
)

func newIssuer(t *testing.T, opts *onetime.IssuerOptions, secrets ...[]byte) *onetime.Issuer {
	t.Helper()
	issuer, err := onetime.NewIssuer(secrets, opts)
	if err != nil {
		t.Fatal(err)
	}
	return issuer
}

func TestTokenIsGoodForPurposeAndSubject(t *testing.T) {
	t.Parallel()
	clock := semeltest.NewClock()
	issuer := newIssuer(t, &onetime.IssuerOptions{Lifetime: hour, Clock: clock}, secretOf(1))
	token, expires, err := issuer.Issue("order", "alice")
	if err != nil || len(token) != 82 || !expires.Equal(clock.Now().Add(hour)) {
		t.Fatalf("token %q of %d characters, expires %v, %v", token, len(token), expires, err)
	}
	v, err := issuer.Verify(token, "order", "alice")
	if err != nil || !v.Expires().Equal(expires) || len(v.ID()) != 32 {
		t.Errorf("expires %v, id %q, %v", v.Expires(), v.ID(), err)
	}
	if again := issueFor(t, issuer, "order", "alice"); again == token {
		t.Error("two tokens are the same")
	}
}

// What is wrong with a token is not told: one error value for everything.
func TestRefusalsAreTheSame(t *testing.T) {
	t.Parallel()
	issuer := newIssuer(t, nil, secretOf(1))
	token := issueFor(t, issuer, "order", "alice")
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		t.Fatal(err)
	}
	newer := append([]byte{raw[0] + 1}, raw[1:]...)
	for _, tc := range []struct{ what, token, purpose, subject string }{
		{"another user", token, "order", "bob"},
		{"another purpose", token, "refund", "alice"},
		{"another key", issueFor(t, newIssuer(t, nil, secretOf(2)), "order", "alice"), "order", "alice"},
		{"empty", "", "order", "alice"},
		{"short", token[:81], "order", "alice"},
		{"long", token + "A", "order", "alice"},
		{"no base64", "!" + token[1:], "order", "alice"},
		{"a line break", token[:40] + "\n" + token[40:], "order", "alice"},
		{"padding", token[:81] + "=", "order", "alice"},
		{"another version", base64.RawURLEncoding.EncodeToString(newer), "order", "alice"},
		{"zeroes", strings.Repeat("A", 82), "order", "alice"},
	} {
		if _, err := issuer.Verify(tc.token, tc.purpose, tc.subject); err != onetime.ErrRefused {
			t.Errorf("%s: got %v, want ErrRefused itself", tc.what, err)
		}
	}
}

// No character of a token can be changed, not even to one that decodes to the same
// bytes in a lenient decoder.
func TestEveryCharacterCounts(t *testing.T) {
	t.Parallel()
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	issuer := newIssuer(t, nil, secretOf(1))
	token := issueFor(t, issuer, "order", "alice")
	for i := range len(token) {
		for _, c := range alphabet {
			forged := token[:i] + string(c) + token[i+1:]
			if _, err := issuer.Verify(forged, "order", "alice"); forged != token && err != onetime.ErrRefused {
				t.Fatalf("character %d as %c: got %v", i, c, err)
			}
		}
	}
}

// Separator confusion: where purpose ends and subject begins counts.
func TestBordersCount(t *testing.T) {
	t.Parallel()
	issuer := newIssuer(t, nil, secretOf(1))
	for _, pair := range [][2]string{{"ab", "c"}, {"a", "bc"}, {"a:b", "c"}, {"a", "b:c"}, {"a b", "c"}, {"a", " bc"}} {
		token := issueFor(t, issuer, pair[0], pair[1])
		for _, other := range [][2]string{{"ab", "c"}, {"a", "bc"}, {"a:b", "c"}, {"a", "b:c"}, {"a b", "c"}, {"a", " bc"}} {
			if _, err := issuer.Verify(token, other[0], other[1]); (err == nil) != (pair == other) {
				t.Errorf("a token of %q was verified for %q: %v", pair, other, err)
			}
		}
	}
}

// The subject is not in the token, neither as it is nor in another spelling.
func TestSubjectIsNotInTheToken(t *testing.T) {
	t.Parallel()
	const subject = "canary-alice@example.com"
	token := issueFor(t, newIssuer(t, nil, secretOf(1)), "canary-order", subject)
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(token+string(raw), "canary") {
		t.Error("the token tells of its subject or purpose")
	}
}

func TestExpiry(t *testing.T) {
	t.Parallel()
	clock := semeltest.NewClock()
	issuer := newIssuer(t, &onetime.IssuerOptions{Lifetime: hour, Clock: clock}, secretOf(1))
	token := issueFor(t, issuer, "order", "alice")
	clock.Advance(hour - time.Nanosecond)
	if _, err := issuer.Verify(token, "order", "alice"); err != nil {
		t.Errorf("a moment before: %v", err)
	}
	clock.Advance(time.Nanosecond)
	if _, err := issuer.Verify(token, "order", "alice"); err != onetime.ErrExpired {
		t.Errorf("at its end: got %v, want ErrExpired", err)
	}
	// Whose token it was is told to nobody else.
	for _, other := range [][2]string{{"order", "bob"}, {"refund", "alice"}} {
		if _, err := issuer.Verify(token, other[0], other[1]); err != onetime.ErrRefused {
			t.Errorf("expired, for %q: got %v, want ErrRefused", other, err)
		}
	}
}

func TestRotation(t *testing.T) {
	t.Parallel()
	former, next := secretOf(1), secretOf(2)
	old := issueFor(t, newIssuer(t, nil, former), "order", "alice")
	both := newIssuer(t, nil, next, former)
	fresh := issueFor(t, both, "order", "alice")
	for _, tc := range []struct {
		what    string
		issuer  *onetime.Issuer
		token   string
		refused bool
	}{
		{"old token, both secrets", both, old, false},
		{"new token, both secrets", both, fresh, false},
		{"new token, both in the other order", newIssuer(t, nil, former, next), fresh, false},
		{"new token, the new secret alone", newIssuer(t, nil, next), fresh, false},
		{"old token, its secret taken out", newIssuer(t, nil, next), old, true},
		{"new token, the old secret alone: the first one signs", newIssuer(t, nil, former), fresh, true},
	} {
		if _, err := tc.issuer.Verify(tc.token, "order", "alice"); (err == onetime.ErrRefused) != tc.refused {
			t.Errorf("%s: got %v", tc.what, err)
		}
	}
}

func TestSecretsAreCopied(t *testing.T) {
	t.Parallel()
	secret := secretOf(1)
	issuer := newIssuer(t, nil, secret)
	token := issueFor(t, issuer, "order", "alice")
	clear(secret)
	if _, err := issuer.Verify(token, "order", "alice"); err != nil {
		t.Errorf("after the caller's memory was cleared: %v", err)
	}
}

func TestMistakesNameTheFix(t *testing.T) {
	t.Parallel()
	good := secretOf(1)
	for _, tc := range []struct {
		secrets  [][]byte
		lifetime time.Duration
		want     string
	}{
		{nil, 0, "openssl rand -hex 32"},
		{[][]byte{good[:31]}, 0, "secret 1 has 31 bytes, which may be guessed; use 32 random bytes or more"},
		{[][]byte{good, good[:16]}, 0, "secret 2 has 16 bytes"},
		{[][]byte{good, good}, 0, "secret 2 stands there twice"},
		{[][]byte{good}, time.Millisecond, "Lifetime 1ms is not between 1s and 366 days"},
		{[][]byte{good}, -time.Hour, "Lifetime -1h0m0s is not between"},
		{[][]byte{good}, 1 << 62, "is not between 1s and 366 days"},
	} {
		_, err := onetime.NewIssuer(tc.secrets, &onetime.IssuerOptions{Lifetime: tc.lifetime})
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%d secrets, lifetime %v: got %v, want %q", len(tc.secrets), tc.lifetime, err, tc.want)
		}
	}
}

func TestPurposeAndSubjectAreRequired(t *testing.T) {
	t.Parallel()
	issuer := newIssuer(t, nil, secretOf(1))
	token := issueFor(t, issuer, "order", "alice")
	for _, tc := range []struct{ purpose, subject, want string }{
		{"", "alice", "the purpose is empty"},
		{"order", "", "the subject is empty"},
		{strings.Repeat("x", 201), "alice", "the purpose is over 200 bytes"},
		{"or\nder", "alice", "no plain text"},
		{"\xff", "alice", "no plain text"},
	} {
		_, _, issued := issuer.Issue(tc.purpose, tc.subject)
		_, verified := issuer.Verify(token, tc.purpose, tc.subject)
		for _, err := range []error{issued, verified} {
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("purpose %q, subject %q: got %v, want %q", tc.purpose, tc.subject, err, tc.want)
			}
		}
	}
}
