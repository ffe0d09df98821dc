package storetest_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/semel-go/semel/storetest"
)

// flaw is one thing that a plainStore does wrong.
type flaw string

const (
	none                    flaw = ""
	takeoverReadsThenWrites flaw = "a takeover reads, judges, then writes"
	claimReadsThenWrites    flaw = "the claim of a free key reads, then writes"
	finishReadsThenWrites   flaw = "a finish looks for its owner, then writes"
	releaseDeletesByKey     flaw = "a late owner's release deletes the new owner's record"
	finishOfAnyone          flaw = "finish does not check the token"
	ownClaimRuns            flaw = "an owner's repeated claim is told that the work is running"
	ownClaimRaisesFence     flaw = "an owner's repeated claim raises the fence"
	fenceRestarts           flaw = "the fence starts again after a deletion"
	fenceCounts             flaw = "the fence is a counter"
	runningBeatsMismatch    flaw = "running is said before the fingerprint is checked"
	doneBeatsMismatch       flaw = "a done record is replayed to another fingerprint"
	lastResultStands        flaw = "done can be overwritten by its owner"
	finishOnce              flaw = "a repeated finish fails"
	renewRevives            flaw = "a renewal takes the record back"
	lapsedIsLost            flaw = "a lapsed owner cannot renew though nobody took over"
	policyLowered           flaw = "a renewal lowers the policy"
	expiryIgnored           flaw = "an expired record still answers"
	expiryAlwaysMoves       flaw = "every finish moves the expiry"
	expiryNeverMoves        flaw = "no finish moves the expiry"
	foreverOverflows        flaw = "Forever overflows"
	leaseExpires            flaw = "a live lease expires with its record"
	doubtExpires            flaw = "a doubt expires"
	purgeTakesLeases        flaw = "a purge goes by the expiry alone"
	purgeReadsThenDeletes   flaw = "a purge selects, then deletes"
	purgeUnbounded          flaw = "a purge ignores its limit"
	lapseClaimable          flaw = "a lapsed AtMostOnce run can be claimed"
	callersPolicy           flaw = "the caller's policy decides about a lapse"
	attemptsUnlimited       flaw = "MaxAttempts is ignored"
	zeroOwns                flaw = "a caller without a token owns what nobody owns"
	fenceOfLastDeleted      flaw = "a deletion remembers its own fence, not the highest"
	releaseForgetsAttempts  flaw = "a release sets the attempts back"
	decisionKeepsAttempts   flaw = "after did-not-happen the attempts are still used up"
	causeReplaced           flaw = "a second cause replaces the first"
	causeStays              flaw = "a release leaves the cause of the doubt"
	unrunEndsDoubt          flaw = "a recovery that nobody began ends the doubt"
	emptyDropped            flaw = "an empty result is dropped"
	resultCut               flaw = "a result is cut at 64 KiB"
	resultEndsAtNUL         flaw = "a result ends at its first zero byte"
	resultAliased           flaw = "the caller's buffer is kept"
	resolveIgnoresFence     flaw = "a decision ignores the fence"
	resolveUnderLease       flaw = "a decision ignores a live lease"
	resolveForgetsAtOnce    flaw = "a decision is kept for no time"
	resolveLeavesOwner      flaw = "a decision leaves the late owner in place"
	leaseIsRetention        flaw = "lease and retention are one TTL"
	callersClock            flaw = "the caller's clock judges leases"
	fencedIsUnavailable     flaw = "a fenced owner is told that the store is unavailable"
	keysLowered             flaw = "keys are lower-cased"
	labelsFollow            flaw = "labels follow the last claim"
	markRuns                flaw = "a mark leaves the record running"
	contextIgnored          flaw = "an ended context is ignored"
	contextBare             flaw = "an ended context says nothing about what happened"
	formatIgnored           flaw = "a newer format is read as if it were known"
	checkpointOfAnyone      flaw = "checkpoint does not check the token"
	listStored              flaw = "a list goes by the stored state"
)

// rejection names the case that must find a flaw, and what it must say.
type rejection struct {
	flaw flaw
	by   string
	says string
}

func rejections() []rejection {
	return []rejection{
		{takeoverReadsThenWrites, "race/takeovers of a lapsed run", "callers acquired one key"},
		{claimReadsThenWrites, "race/claims of one key", "callers acquired one key"},
		{claimReadsThenWrites, "race/two handles", "callers acquired one key"},
		{claimReadsThenWrites, "race/marks", "callers acquired one key"},
		{finishReadsThenWrites, "race/finish, takeover, renewal and decision", "the owner"},
		{releaseDeletesByKey, "stale owner/after a takeover", "the late owner's finish as released while the new owner runs succeeded"},
		{finishOfAnyone, "table/running AtLeastOnce", "another token's finish as done: succeeded, want ErrFenced"},
		{ownClaimRuns, "lost replies", "running (mine: true); want acquired"},
		{ownClaimRaisesFence, "table/running AtLeastOnce", "the owner's claim: fence or attempt changed"},
		{fenceRestarts, "fence/over deletion", "after deletion, it was"},
		{fenceCounts, "fence/over a purge", "after a purge, it was"},
		{fenceCounts, "fence/over expiry", "after expiry, it was"},
		{fenceCounts, "fence/follows the clock", "want at least the store's clock"},
		{runningBeatsMismatch, "table/running AtLeastOnce", "with another fingerprint: answered running, want mismatch"},
		{doneBeatsMismatch, "table/done", "with another fingerprint: answered done, want mismatch"},
		{doneBeatsMismatch, "fingerprint/compared whole", "want mismatch"},
		{lastResultStands, "table/done", "the owner's finish as done: result changed"},
		{lastResultStands, "race/finishes of one owner", "want one, the first"},
		{finishOnce, "table/done", "the owner's finish as done: semel: fenced"},
		{finishOnce, "lost replies", "Finish(released): semel: fenced"},
		{renewRevives, "table/taken over", "the owner's renew: succeeded, want ErrFenced"},
		{lapsedIsLost, "table/lapsed AtLeastOnce", "the owner's renew: semel: fenced"},
		{policyLowered, "renewal raises the policy", "raised and never lowered"},
		{expiryIgnored, "table/expired done", "answered done, want acquired"},
		{expiryAlwaysMoves, "expiry/set at the claim", "as set at the claim"},
		{expiryNeverMoves, "expiry/moved by a late finish", "after two thirds of the retention"},
		{foreverOverflows, "expiry/forever", "expires in"},
		{leaseExpires, "table/running past retention", "answered acquired, want running"},
		{doubtExpires, "table/in doubt, past retention", "answered acquired, want in-doubt"},
		{purgeTakesLeases, "purge/only the expired", "a live lease past its retention: the record is none; want running"},
		{purgeReadsThenDeletes, "race/purge and claims", "beside"},
		{purgeUnbounded, "purge/in chunks", "Purge with limit 5"},
		{lapseClaimable, "table/lapsed AtMostOnce", "answered acquired, want in-doubt"},
		{callersPolicy, "policy/the record's decides", "want in doubt"},
		{attemptsUnlimited, "attempts/the limit leaves a doubt", "the fourth claim of three: acquired"},
		{zeroOwns, "attempts/the limit leaves a doubt", "with no token, succeeded"},
		{fenceOfLastDeleted, "fence/over the deletion of others", "after deletions, it was"},
		{releaseForgetsAttempts, "table/released", "answered acquired, want in-doubt"},
		{decisionKeepsAttempts, "attempts/the limit leaves a doubt", "in-doubt (mine: false); want acquired"},
		{causeReplaced, "doubt/keeps its first cause", "the record changed"},
		{causeStays, "recovery/its release starts a run like any other", "want none"},
		{unrunEndsDoubt, "recovery/given back unrun", "want in-doubt"},
		{unrunEndsDoubt, "model/random runs", "the state"},
		{causeStays, "model/random runs", "the cause differs"},
		{renewRevives, "model/random runs", "want semel: fenced"},
		{expiryNeverMoves, "model/random runs", "the expiry differs"},
		{emptyDropped, "result/comes back byte for byte", "came back as kind 0"},
		{resultCut, "result/large", "came back as kind 1, 65536 bytes"},
		{resultEndsAtNUL, "result/comes back byte for byte", "256 bytes"},
		{resultAliased, "result/copied", "the result became"},
		{resolveIgnoresFence, "table/lapsed AtLeastOnce", "with an older fence: resolved; want refused"},
		{resolveUnderLease, "table/running AtMostOnce", "resolve as done: resolved; want refused"},
		{resolveLeavesOwner, "table/resolved as did not happen", "the owner's finish as released: succeeded, want ErrFenced"},
		{resolveForgetsAtOnce, "expiry/a decision without retention is refused", "want an error"},
		{leaseIsRetention, "lease/independent of retention", "running; want acquired"},
		{callersClock, "skew/the caller's clock changes nothing", "want running"},
		{fencedIsUnavailable, "table/taken over", "want ErrFenced and no other error"},
		{keysLowered, "keys/hostile ids and texts", "done"},
		{labelsFollow, "labels/stay those of the first claim", "want those of the first claim"},
		{markRuns, "mark/once", "the first mark"},
		{contextIgnored, "context/ended before the call", "succeeded though its context had ended"},
		{contextBare, "context/ended before the call", "want it to wrap ErrStoreUnavailable"},
		{formatIgnored, "format/a newer record is refused", "want a RecordFormatError"},
		{checkpointOfAnyone, "checkpoint/only the owner of a running record", "succeeded; want ErrFenced"},
		{listStored, "list/filters by what is seen", "List of in doubt"},
	}
}

// Each flaw must be found by the case that is made for it, and for its reason.
func TestFlawedStoresAreRejected(t *testing.T) {
	t.Parallel()
	for _, r := range rejections() {
		t.Run(string(r.flaw)+"/"+r.by, func(t *testing.T) {
			t.Parallel()
			failures := storetest.CheckCases(t.Context(), storetest.Harness{New: newPlain(r.flaw)}, caseNamed(t, r.by))
			if len(failures) != 1 {
				t.Fatalf("accepted; want the case to say %q", r.says)
			}
			if all := failures[0].String(); !strings.Contains(all, r.says) || failures[0].Why == "" {
				t.Errorf("rejected, but not for %q:\n%s", r.says, all)
			}
		})
	}
}

func caseNamed(t *testing.T, name string) []storetest.Case {
	t.Helper()
	cases := slices.DeleteFunc(storetest.Cases(), func(c storetest.Case) bool { return c.Name != name })
	if len(cases) != 1 {
		t.Fatalf("%d cases are named %q", len(cases), name)
	}
	return cases
}

// The same store without a flaw passes.
func TestPlainStoreIsAccepted(t *testing.T) {
	t.Parallel()
	storetest.Run(t, storetest.Harness{New: newPlain(none), Seed: 2})
}

// A harness that lacks something says what, and does not crash the test binary.
func TestIncompleteHarness(t *testing.T) {
	t.Parallel()
	none := func(context.Context) (*storetest.Subject, error) { return new(storetest.Subject), nil }
	for want, h := range map[string]storetest.Harness{"Harness.New is nil": {}, "no Store or no Advance": {New: none}} {
		failures := storetest.Check(t.Context(), h)
		if len(failures) == 0 || !strings.Contains(failures[0].String(), want) {
			t.Errorf("%d failures, none of them says %q", len(failures), want)
		}
	}
}

func TestCasesHaveNamesAndReasons(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	for _, c := range storetest.Cases() {
		if c.Name == "" || c.Why == "" || seen[c.Name] {
			t.Errorf("case %q: want a name of its own and a reason, %q", c.Name, c.Why)
		}
		seen[c.Name] = true
	}
}
