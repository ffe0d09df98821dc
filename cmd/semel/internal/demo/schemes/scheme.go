package schemes

import (
	"context"
	"embed"

	"github.com/semel-go/semel/cmd/semel/internal/demo/source"
)

// The ways of a scheme.
const (
	Wrong = "wrong"
	Right = "right"
)

// Scheme is a way to make something happen once, beside one that only looks like it.
type Scheme struct {
	ID   string
	Ways []Way
}

// Way is one side of a scheme.
type Way struct {
	ID   string // Wrong or Right
	Code Code   // what makes the difference
	// Wants reports whether a count is what the way comes to, each time.
	Wants func(count int) bool
	// act plays the way once and counts what it has come to.
	act func(ctx context.Context, s *scene) (count int, err error)
}

func exactly(n int) func(int) bool { return func(count int) bool { return count == n } }

func moreThan(n int) func(int) bool { return func(count int) bool { return count > n } }

// All returns the schemes in the order in which they are shown.
func All() []Scheme {
	return []Scheme{orderScheme(), editScheme(), formScheme(), lockScheme(), idsScheme()}
}

//go:embed order.go edit.go form.go lock.go ids.go
var files embed.FS

// Code is the source of a function that runs.
type Code struct {
	Crux  string // the lines that matter
	Whole string
}

// code is a function of this package, with the lines that hold one of the fragments.
func code(file, function string, fragments ...string) Code {
	text, err := files.ReadFile(file)
	if err != nil {
		return Code{}
	}
	whole := source.Function(string(text), function)
	return Code{Crux: source.Lines(whole, fragments...), Whole: whole}
}
