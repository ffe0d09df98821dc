package redisstore

import (
	"errors"
	"strings"
	"testing"

	"github.com/semel-go/semel"
)

// stored is a done record as claim.lua and finish.lua leave it.
func stored() string {
	var head strings.Builder
	head.WriteString("\x01\x03\x02\x00\x01\x00" + "\x02\x00\x00\x00")
	for _, n := range []byte{1, 2, 3, 4, 0} { // fence, lease, expiry, start, doubt
		head.WriteString(string([]byte{n, 0, 0, 0, 0, 0, 0, 0}))
	}
	return head.String() + strings.Repeat("t", 16) + strings.Repeat("f", 33) + "\x15\x00\x00\x00" + "scope id" + "\x06\x00charge" + "order" + "result"
}

func TestParse(t *testing.T) {
	t.Parallel()
	r, err := parse(semel.KeyID{1}, stored())
	if err != nil {
		t.Fatal(err)
	}
	got := r.record(semel.KeyID{1}, 2)
	if got.State != semel.StateDone || got.Policy != semel.AtMostOnce || got.Fence != 1 || got.Attempt != 2 || got.ExpiresIn != 1000 ||
		got.StartedAt.UnixMicro() != 4 || !got.Since.IsZero() || string(got.ScopeID[:]) != "scope id" || got.Operation != "charge" ||
		got.KeyText != "order" || got.Result.Kind != semel.ResultValue || string(got.Result.Data) != "result" || got.Checkpoint != nil {
		t.Errorf("got %+v", got)
	}
}

// A record that cannot be read must be a typed error, and never a run.
func TestParseRefuses(t *testing.T) {
	t.Parallel()
	good := stored()
	for name, damaged := range map[string]string{
		"nothing":               "",
		"a short head":          good[:headSize-1],
		"no labels":             good[:headSize+5],
		"a newer format":        "\x02" + good[1:],
		"a state of no version": good[:1] + "\x09" + good[2:],
		"labels beyond the end": good[:99] + "\xff\xff\xff\x7f" + good[headSize:],
		"an operation too long": good[:headSize+8] + "\xff\xff" + good[headSize+10:],
	} {
		_, err := parse(semel.KeyID{1}, damaged)
		if _, ok := errors.AsType[*semel.RecordFormatError](err); !ok {
			t.Errorf("%s: %v; want a RecordFormatError", name, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(stored())
	f.Fuzz(func(t *testing.T, value string) {
		r, err := parse(semel.KeyID{1}, value)
		if err != nil {
			return
		}
		if got := r.record(semel.KeyID{1}, 2); got.State == semel.StateNone || got.State > semel.StateInDoubt {
			t.Errorf("%q became %+v", value, got)
		}
	})
}
