package engines

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// verdict is a test that notes how it ends.
type verdict struct {
	testing.TB
	skipped, failed string
}

func (v *verdict) Helper() {}

func (v *verdict) Skip(why ...any) {
	v.skipped = fmt.Sprint(why...)
	runtime.Goexit()
}

func (v *verdict) Fatal(why ...any) {
	v.failed = fmt.Sprint(why...)
	runtime.Goexit()
}

// A missing engine must not hide in CI as a skipped test.
func TestMissingEngineSkipsOrFails(t *testing.T) {
	for ci, want := range map[string]func(v *verdict) string{
		"":     func(v *verdict) string { return v.skipped },
		"true": func(v *verdict) string { return v.failed },
	} {
		t.Setenv("CI", ci)
		v, ended := &verdict{TB: t}, make(chan struct{})
		go func() {
			defer close(ended)
			need(v, &group{}, func(*group) (*Server, error) {
				_, err := engine{name: "Oracle", packages: "oracle-server"}.program("no-such-program")
				return nil, err
			})
		}()
		<-ended
		if got := want(v); !strings.Contains(got, "sudo apt-get install oracle-server") {
			t.Errorf("CI=%s: the test says %q, want the package to install; %+v", ci, got, v)
		}
	}
}
