package storetest

import (
	"bytes"

	"github.com/semel-go/semel"
)

func checkpointCases() []Case {
	return []Case{
		{
			Name:  "checkpoint/seen by the next run",
			Why:   "without the last checkpoint a second attempt repeats steps that took effect",
			needs: needsCheckpoint, check: checkpointKept,
		},
		{
			Name:  "checkpoint/only the owner of a running record",
			Why:   "a late owner's checkpoint would make the new owner skip steps",
			needs: needsCheckpoint, check: checkpointOwner,
		},
	}
}

func (t *T) checkpoint(key semel.KeyID, token semel.Token, data []byte) error {
	_, err := t.subject.Store.(semel.Checkpointer).Checkpoint(t.ctx, semel.CheckpointParams{Key: key, Token: token, Data: data})
	return err
}

func (t *T) wantCheckpoint(when string, r semel.Record, want []byte) {
	if !bytes.Equal(r.Checkpoint, want) {
		t.errorf("%s the checkpoint is %.40q; want %.40q", when, r.Checkpoint, want)
	}
}

func checkpointKept(t *T) {
	for _, data := range payloads() {
		key := t.key()
		owner := t.begin(key, semel.AtLeastOnce)
		t.noError("Checkpoint", t.checkpoint(key, owner, []byte("earlier")))
		t.noError("Checkpoint", t.checkpoint(key, owner, data))
		t.wantCheckpoint("after the checkpoint", t.read(key), data)
		t.finish(releaseOf(key, owner))
		t.wantCheckpoint("after a release", t.read(key), data)
		p := claimOf(key, semel.NewToken())
		t.wantCheckpoint("at the next run", t.acquire(p), data)
		t.finish(doubtOf(key, p.Token, semel.CauseHandler))
		t.wantCheckpoint("in doubt", t.read(key), data)
		p.Token, p.Recovering = semel.NewToken(), true
		t.wantCheckpoint("at the recovery", t.acquire(p), data)
		t.finish(doneOf(key, p.Token, "done"))
		t.wantCheckpoint("of the done record", t.read(key), nil)
	}
}

func checkpointOwner(t *T) {
	key := t.key()
	t.wantFenced("a checkpoint without a record", t.checkpoint(key, semel.NewToken(), []byte("x")))
	for name, in := range map[string]situation{"taken over": takenOver, "released": releasedRecord, "done": doneRecord, "in doubt": doubtByHandler} {
		key := t.key()
		owner := in(t, key)
		before := t.read(key)
		t.wantFenced("a checkpoint on a record that is "+name, t.checkpoint(key, owner, []byte("late")))
		t.wantUnchanged("after a checkpoint that was refused", before, t.read(key))
	}
	key = t.key()
	owner := leaseOver(semel.AtLeastOnce)(t, key)
	data := []byte("mine")
	t.noError("a lapsed owner's checkpoint, while nobody took over", t.checkpoint(key, owner, data))
	copy(data, "scribble")
	t.wantCheckpoint("after the caller used its buffer again", t.read(key), []byte("mine"))
}
