package storetest

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/semel-go/semel"
)

func bytesCases() []Case {
	return []Case{
		{
			Name:  "result/comes back byte for byte",
			Why:   "empty, 0, false and null results were not stored, and binary ones decoded as text",
			check: resultFidelity,
		},
		{
			Name:  "result/large",
			Why:   "a large result that is dropped or cut makes the work run again, or replays a lie",
			check: resultLarge,
		},
		{
			Name:  "result/copied",
			Why:   "callers use their buffers again: a store that keeps the slice replays somebody else's bytes",
			check: resultCopied,
		},
		{
			Name:  "keys/hostile ids and texts",
			Why:   "keys lower-cased, cut at a NUL, trimmed by a collation, or read as SQL, script or subject",
			check: hostileKeys,
		},
		{
			Name:  "keys/do not meet",
			Why:   "ids that differ in one bit, or in case when printed, are different records",
			check: keysDoNotMeet,
		},
		{
			Name:  "labels/stay those of the first claim",
			Why:   "listing, quotas and erasure go by scope id and operation: a later claim must not move a record to another scope",
			check: labelsImmutable,
		},
		{
			Name:  "fingerprint/compared whole",
			Why:   "a fingerprint cut or compared as text lets another request through with the first one's result",
			check: fingerprintWhole,
		},
	}
}

func payloads() [][]byte {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	return [][]byte{
		nil, {}, {0}, []byte("0"), []byte("false"), []byte("null"), []byte(`""`), []byte(" "), []byte("\n"), []byte("\\x00"),
		every, {0xff, 0xfe, 0xfd}, []byte("ünïcödé 💸"), []byte("'; DROP TABLE records; --"), []byte("{1: 2}"), bytes.Repeat([]byte{0}, 1000),
	}
}

func resultFidelity(t *T) {
	kinds := []semel.ResultKind{semel.ResultTombstone, semel.ResultValue, semel.ResultFinal, semel.ResultMark, semel.ResultHTTP}
	for i, data := range payloads() {
		t.keeps(semel.StoredResult{Kind: kinds[i%len(kinds)], Data: data})
	}
	for _, kind := range kinds {
		t.keeps(semel.StoredResult{Kind: kind})
	}
}

// keeps checks that a result comes back the same from every method that tells it.
func (t *T) keeps(result semel.StoredResult) {
	key := t.key()
	p := doneOf(key, t.begin(key, semel.AtLeastOnce), "")
	p.Result = result
	t.finish(p)
	replayed := t.wantOutcome("of a done record", key, semel.ClaimDone).Record.Result
	for from, got := range map[string]semel.StoredResult{"Read": t.read(key).Result, "Claim": replayed} {
		if got.Kind != result.Kind || !bytes.Equal(got.Data, result.Data) {
			t.errorf("%s: kind %d, %d bytes %.40q came back as kind %d, %d bytes %.40q",
				from, result.Kind, len(result.Data), result.Data, got.Kind, len(got.Data), got.Data)
		}
	}
}

func resultLarge(t *T) {
	large := bytes.Repeat([]byte("0123456789abcde\x00"), 1<<16)
	t.keeps(semel.StoredResult{Kind: semel.ResultValue, Data: large})
	t.keeps(semel.StoredResult{Kind: semel.ResultHTTP, Data: large[:len(large)-1]})
}

func resultCopied(t *T) {
	key := t.key()
	p := doneOf(key, t.begin(key, semel.AtLeastOnce), "original")
	t.finish(p)
	copy(p.Result.Data, "scribble")
	if got := t.read(key).Result.Data; string(got) != "original" {
		t.errorf("the caller's buffer was written to after the finish, and the result became %q", got)
	}
	decided := t.key()
	doubtByHandler(t, decided)
	q := semel.ResolveParams{Key: decided, Token: semel.NewToken(), Fence: t.read(decided).Fence, Resolution: semel.ResolveDone, Result: value("original"), Retention: retention}
	if _, err := t.store.Resolve(t.ctx, q); err != nil {
		t.fatalf("Resolve: %v", err)
	}
	copy(q.Result.Data, "scribble")
	if got := t.read(decided).Result.Data; string(got) != "original" {
		t.errorf("the caller's buffer was written to after the resolve, and the result became %q", got)
	}
}

// hostileIDs are key ids that a store must treat like any other.
func hostileIDs() []semel.KeyID {
	ids := []semel.KeyID{{}, {15: 1}, {0: 1}}
	for _, s := range []string{
		"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "'; DROP TABLE x;", "\" OR \"1\"=\"1\" -", "$(reboot)`reboot`",
		"foo\r\nDEL *\r\nfoo", "{slot}.>.*.$JS", "ABCDEFGHIJKLMNOP", "abcdefghijklmnop", "%s%d%n%%%00%2e%", "\x00\x00a\x00\x00\x00", "                ", "ключ-💸-\u202e",
	} {
		var id semel.KeyID
		copy(id[:], s)
		ids = append(ids, id)
	}
	return ids
}

func hostileTexts() []string {
	return []string{
		"", " ", "'", `"; --`, "'); DROP TABLE records; --", "a\x00b", "\r\nDEL *\r\n", "redis.call('FLUSHALL')", "{tag}:*?[a]", "$JS.API.>",
		"ünïcödé 💸 ключ", "e\u0301 \u202e\u200b", "Ab", "aB", "%s%n\\x41\\0", strings.Repeat("long ", 200),
	}
}

func hostileKeys(t *T) {
	ids, texts := hostileIDs(), hostileTexts()
	for i, id := range ids {
		p := claimOf(id, semel.NewToken())
		p.KeyText, p.Operation = texts[i%len(texts)], texts[(i+5)%len(texts)]
		if len(p.Operation) > 200 {
			p.Operation = "operation"
		}
		t.acquire(p)
		t.finish(doneOf(id, p.Token, fmt.Sprint(i)))
	}
	for i, id := range ids {
		r := t.wantState(fmt.Sprintf("id %q:", id[:]), id, semel.StateDone)
		if string(r.Result.Data) != fmt.Sprint(i) || r.Key != id {
			t.errorf("id %q: the record of key %v with result %q answers", id[:], r.Key, r.Result.Data)
		}
		if want := texts[i%len(texts)]; r.KeyText != want {
			t.errorf("key text %q came back as %q", want, r.KeyText)
		}
	}
	for _, text := range texts {
		p := claimOf(t.key(), semel.NewToken())
		p.KeyText = text
		t.acquire(p)
		if got := t.read(p.Key).KeyText; got != text {
			t.errorf("key text %q came back as %q", text, got)
		}
	}
}

func keysDoNotMeet(t *T) {
	base := t.key()
	t.begin(base, semel.AtLeastOnce)
	for bit := range len(base) * 8 {
		other := base
		other[bit/8] ^= 1 << (bit % 8)
		if r := t.read(other); r.State != semel.StateNone {
			t.errorf("a key that differs in bit %d has the record %s", bit, brief(r))
		}
	}
}

func labelsImmutable(t *T) {
	key := t.key()
	first := claimOf(key, semel.NewToken())
	t.acquire(first)
	check := func(when string) {
		r := t.read(key)
		if r.ScopeID != first.ScopeID || r.Operation != first.Operation || r.KeyText != first.KeyText || r.Fingerprint != first.Fingerprint {
			t.errorf("%s the labels are %x, %q, %q; want those of the first claim", when, r.ScopeID, r.Operation, r.KeyText)
		}
	}
	check("after the claim")
	t.finish(releaseOf(key, first.Token))
	check("after a release")
	second := claimOf(key, semel.NewToken())
	second.ScopeID, second.Operation, second.KeyText = semel.ScopeID{7}, "other", "other"
	t.acquire(second)
	check("after a claim with other labels")
	t.finish(doubtOf(key, second.Token, semel.CauseHandler))
	check("in doubt")
	t.resolve(key, semel.ResolveDone)
	check("after a decision")
}

func fingerprintWhole(t *T) {
	p := claimOf(t.key(), semel.NewToken())
	t.acquire(p)
	t.finish(doneOf(p.Key, p.Token, "done"))
	p.Token = semel.NewToken()
	for i := range p.Fingerprint {
		other := p
		other.Fingerprint[i] ^= 0x20
		if res := t.claim(other); res.Outcome != semel.ClaimMismatch {
			t.errorf("a fingerprint that differs in byte %d: %v; want mismatch", i, res.Outcome)
		}
	}
}
