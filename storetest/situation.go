package storetest

import (
	"time"

	"github.com/semel-go/semel"
)

// situation brings a key into a row of the table and returns the token that the
// row calls the owner's.
type situation func(t *T, key semel.KeyID) (owner semel.Token)

func noRecord(*T, semel.KeyID) semel.Token { return semel.NewToken() }

func running(policy semel.Policy) situation {
	return func(t *T, key semel.KeyID) semel.Token { return t.begin(key, policy) }
}

// leaseOver is a run whose lease has ended and whose retention has not.
func leaseOver(policy semel.Policy) situation { return after(2*lease, running(policy)) }

// leaseAlivePastRetention is a run whose lease outlasts its record's expiry.
func leaseAlivePastRetention(t *T, key semel.KeyID) semel.Token {
	p := claimOf(key, semel.NewToken())
	p.Lease = 4 * retention
	t.acquire(p)
	t.advance(2 * retention)
	return p.Token
}

// takenOver calls the owner who lapsed the owner: somebody else runs now.
func takenOver(t *T, key semel.KeyID) semel.Token {
	late := leaseOver(semel.AtLeastOnce)(t, key)
	t.begin(key, semel.AtLeastOnce)
	return late
}

func releasedRecord(t *T, key semel.KeyID) semel.Token {
	owner := t.begin(key, semel.AtLeastOnce)
	t.finish(releaseOf(key, owner))
	return owner
}

func doneRecord(t *T, key semel.KeyID) semel.Token {
	owner := t.begin(key, semel.AtLeastOnce)
	t.finish(doneOf(key, owner, "first"))
	return owner
}

func markedRecord(t *T, key semel.KeyID) semel.Token {
	p := claimOf(key, semel.NewToken())
	p.Mark = true
	t.acquire(p)
	return p.Token
}

func doubtByHandler(t *T, key semel.KeyID) semel.Token {
	owner := t.begin(key, semel.AtLeastOnce)
	t.finish(doubtOf(key, owner, semel.CauseHandler))
	return owner
}

// doubtByAttempts is a record that somebody else's claim gave up, before had been
// reached.
func doubtByAttempts(before situation) situation {
	return func(t *T, key semel.KeyID) semel.Token {
		owner := before(t, key)
		p := claimOf(key, semel.NewToken())
		p.MaxAttempts = 1
		if res := t.claim(p); res.Outcome != semel.ClaimInDoubt || res.Record.Cause != semel.CauseAttempts {
			t.fatalf("claim past MaxAttempts: %v, %s; want in doubt, cause attempts", res.Outcome, brief(res.Record))
		}
		return owner
	}
}

// underRecovery calls the one who recovers the owner.
func underRecovery(t *T, key semel.KeyID) semel.Token {
	doubtByHandler(t, key)
	p := claimOf(key, semel.NewToken())
	p.Recovering = true
	t.acquire(p)
	return p.Token
}

// resolved calls the owner of the run that was decided the owner.
func resolved(how semel.Resolution) situation {
	return func(t *T, key semel.KeyID) semel.Token {
		owner := doubtByHandler(t, key)
		t.resolve(key, how)
		return owner
	}
}

// after is a situation some time later.
func after(d time.Duration, s situation) situation {
	return func(t *T, key semel.KeyID) semel.Token {
		owner := s(t, key)
		t.advance(d)
		return owner
	}
}
