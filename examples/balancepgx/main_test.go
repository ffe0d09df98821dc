package main

import (
	"strings"
	"testing"
)

func TestWithoutAServerItSaysWhatToSet(t *testing.T) {
	t.Parallel()
	if err := run(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "DATABASE_URL") {
		t.Errorf("got %v", err)
	}
}
