package proxy

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"
)

func TestReadAheadWhole(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, src := range []io.Reader{strings.NewReader("hello"), iotest.OneByteReader(strings.NewReader("hello")), iotest.DataErrReader(strings.NewReader("hello"))} {
			data, rest, err := readAhead(src, 5, time.Second)
			if string(data) != "hello" || rest != nil || err != nil {
				t.Errorf("got %q %v %v", data, rest, err)
			}
		}
		data, rest, err := readAhead(strings.NewReader(""), 5, time.Second)
		if len(data) != 0 || rest != nil || err != nil {
			t.Errorf("empty: %q %v %v", data, rest, err)
		}
	})
}

func TestReadAheadOverTheLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		long := strings.Repeat("hello ", 10_000)
		_, rest, err := readAhead(strings.NewReader(long), 100, time.Second)
		if rest == nil || err != nil {
			t.Fatalf("got %v %v", rest, err)
		}
		if got, err := io.ReadAll(rest); string(got) != long || err != nil {
			t.Errorf("got %d bytes of %d, %v", len(got), len(long), err)
		}
	})
}

// A slow source goes on as it comes: what is there is served at once, without
// waiting for the next piece.
func TestReadAheadSlow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		in, out := io.Pipe()
		go io.WriteString(out, "first ")
		_, rest, err := readAhead(in, 100, time.Second)
		if rest == nil || err != nil {
			t.Fatalf("got %v %v", rest, err)
		}
		buf := make([]byte, 100)
		if n, err := rest.Read(buf); string(buf[:n]) != "first " || err != nil {
			t.Errorf("got %q %v", buf[:n], err)
		}
		go func() {
			io.WriteString(out, "second ")
			io.WriteString(out, "third")
			out.Close()
		}()
		if got, err := io.ReadAll(rest); string(got) != "second third" || err != nil {
			t.Errorf("got %q %v", got, err)
		}
	})
}

// A source that breaks is never taken for whole, whenever it breaks.
func TestReadAheadBroken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		_, _, err := readAhead(io.MultiReader(strings.NewReader("hello"), iotest.ErrReader(broken)), 100, time.Second)
		if !errors.Is(err, broken) {
			t.Errorf("got %v", err)
		}
		in, out := io.Pipe()
		go io.WriteString(out, "hello")
		_, rest, err := readAhead(in, 100, time.Second)
		if rest == nil || err != nil {
			t.Fatalf("got %v %v", rest, err)
		}
		out.CloseWithError(broken)
		if got, err := io.ReadAll(rest); string(got) != "hello" || !errors.Is(err, broken) {
			t.Errorf("got %q %v", got, err)
		}
	})
}
