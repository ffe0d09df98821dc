package redisstore

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/semel-go/semel"
)

// The parameters of the scripts, as they unpack them: little-endian, without gaps.

func claimParams(p *semel.ClaimParams) []byte {
	b := make([]byte, 0, 72+labelsSize(p))
	b = append(b, byte(p.Policy), flag(p.Mark), flag(p.Recovering))
	b = binary.LittleEndian.AppendUint32(b, uint32(min(uint64(max(p.MaxAttempts, 0)), math.MaxUint32)))
	b = appendSpan(b, min(p.Lease, longest))
	b = appendSpan(b, p.Retention)
	b = append(b, p.Token[:]...)
	b = append(b, p.Fingerprint[:]...)
	b = append(b, p.ScopeID[:]...)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(p.Operation)))
	b = append(b, p.Operation...)
	return append(b, p.KeyText...)
}

func labelsSize(p *semel.ClaimParams) int {
	return len(p.ScopeID) + 2 + len(p.Operation) + len(p.KeyText)
}

func renewParams(p *semel.RenewParams) []byte {
	b := appendSpan([]byte{byte(p.Policy), 0}, min(p.Lease, longest))
	return append(b, p.Token[:]...)
}

func checkpointParams(p *semel.CheckpointParams) []byte {
	b := appendSpan([]byte{0, 1}, 0)
	b = append(b, p.Token[:]...)
	return append(b, p.Data...)
}

func finishParams(p *semel.FinishParams) []byte {
	b := make([]byte, 0, 28+len(p.Result.Data))
	b = append(b, byte(p.State), flag(p.Unrun), byte(p.Cause), byte(p.Result.Kind))
	b = appendSpan(b, p.Retention)
	b = append(b, p.Token[:]...)
	if p.State == semel.StateDone {
		b = append(b, p.Result.Data...)
	}
	return b
}

func resolveParams(p *semel.ResolveParams) []byte {
	b := []byte{byte(p.Resolution.StateAfter()), byte(p.Result.Kind)}
	b = binary.LittleEndian.AppendUint64(b, uint64(p.Fence))
	b = appendSpan(b, p.Retention)
	b = append(b, p.Token[:]...)
	if p.Resolution == semel.ResolveDone {
		b = append(b, p.Result.Data...)
	}
	return b
}

func awaitParams(p *semel.WaitParams) []byte {
	return binary.LittleEndian.AppendUint64(nil, uint64(p.Fence))
}

func flag(on bool) byte {
	if on {
		return 1
	}
	return 0
}

// longest is the longest span that the numbers of a script can add to the clock without
// a rounding, a hundred years; beyond is for ever.
const longest = 100 * 365 * 24 * time.Hour

func appendSpan(b []byte, d time.Duration) []byte {
	return binary.LittleEndian.AppendUint64(b, uint64(microseconds(d)))
}

// microseconds are rounded up, since retention is a minimum; 0 is for ever, and none is
// so by accident.
func microseconds(d time.Duration) int64 {
	if d > longest {
		return 0
	}
	return max(1, int64((d+time.Microsecond-1)/time.Microsecond))
}
