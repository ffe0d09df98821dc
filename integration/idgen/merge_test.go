package idgen

import (
	"encoding/binary"
	"os"
	"testing"
)

// stream is what one process issued, in its order.
type stream []byte

func readStream(t *testing.T, file string) stream {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return stream(data[:len(data)/8*8]) // a killed process may have written half an id
}

func streamOf(ids ...uint64) (s stream) {
	for _, id := range ids {
		s = binary.LittleEndian.AppendUint64(s, id)
	}
	return s
}

func (s stream) first() uint64 { return binary.LittleEndian.Uint64(s) }

// merge counts the ids of all streams, those that came before, and those that are not
// greater than the one before them in their own stream. If there are none of the latter,
// every id that came twice is counted.
func merge(streams ...stream) (ids, twice, fallen int) {
	last := uint64(0)
	for {
		least := -1
		for i, s := range streams {
			if len(s) > 0 && (least < 0 || s.first() < streams[least].first()) {
				least = i
			}
		}
		if least < 0 {
			return ids, twice, fallen
		}
		id := streams[least].first()
		streams[least] = streams[least][8:]
		if len(streams[least]) > 0 && streams[least].first() <= id {
			fallen++
		}
		if ids > 0 && id == last {
			twice++
		}
		last = id
		ids++
	}
}

func TestMergeNotices(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		streams            []stream
		ids, twice, fallen int
	}{
		{[]stream{streamOf(1, 3, 5), streamOf(2, 4), nil, streamOf(0)}, 6, 0, 0},
		{[]stream{streamOf(1, 3, 5), streamOf(2, 3), streamOf(5)}, 6, 2, 0},
		{[]stream{streamOf(1, 2, 2), streamOf(3)}, 4, 1, 1},
		{[]stream{streamOf(1, 5, 4)}, 3, 0, 1},
		{[]stream{streamOf(0, 1), streamOf(0)}, 3, 1, 0},
	} {
		if ids, twice, fallen := merge(c.streams...); ids != c.ids || twice != c.twice || fallen != c.fallen {
			t.Errorf("%d ids, %d twice, %d fallen; want %d, %d, %d", ids, twice, fallen, c.ids, c.twice, c.fallen)
		}
	}
}
