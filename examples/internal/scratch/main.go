package scratch

import (
	"context"
	"fmt"
	"os"
)

// Main runs an example; an error ends the process with the code 1.
func Main(run func(context.Context) error) {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
