package semel_test

import (
	"context"
	"encoding/binary"
	"testing"

	"github.com/semel-go/semel"
)

// One cycle: claim of a new key, finish with a small result.
func BenchmarkDo(b *testing.B) {
	ctx := context.Background()
	engine := newEngine(nil)
	defer engine.Close(ctx)
	var n uint64
	b.ReportAllocs()
	for b.Loop() {
		n++
		part := binary.BigEndian.AppendUint64(nil, n)
		op := semel.Op{Key: semel.KeyOf(semel.Scope{Principal: "p"}, string(part)), Input: semel.NoInput}
		if _, err := semel.Do(ctx, engine, op, one); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDoReplay(b *testing.B) {
	ctx := context.Background()
	engine := newEngine(nil)
	defer engine.Close(ctx)
	op := semel.Op{Key: semel.KeyOf(semel.Scope{Principal: "p"}, "k"), Input: semel.NoInput}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := semel.Do(ctx, engine, op, one); err != nil {
			b.Fatal(err)
		}
	}
}
