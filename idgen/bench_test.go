package idgen_test

import (
	"testing"

	"github.com/semel-go/semel/idgen"
)

func BenchmarkUUIDs(b *testing.B) {
	var uuids idgen.UUIDs
	for b.Loop() {
		uuids.New()
	}
}

func BenchmarkULIDs(b *testing.B) {
	var ulids idgen.ULIDs
	for b.Loop() {
		if _, err := ulids.New(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkNode has a layout with so many ids a millisecond that none waits.
func BenchmarkNode(b *testing.B) {
	node, err := idgen.NewNode(b.Context(), newStore(b), &idgen.Options{Layout: idgen.Layout{WorkerBits: 1, SequenceBits: 22}})
	if err != nil {
		b.Fatal(err)
	}
	next := func() {
		if _, err := node.Next(b.Context()); err != nil {
			b.Error(err)
		}
	}
	b.Run("1", func(b *testing.B) {
		for b.Loop() {
			next()
		}
	})
	b.Run("parallel", func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				next()
			}
		})
	})
	if err := node.Close(b.Context()); err != nil {
		b.Error(err)
	}
}
