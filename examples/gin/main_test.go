package main

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/semel-go/semel/examples/internal/scratch"
)

func TestMain(m *testing.M) {
	gin.SetMode(gin.ReleaseMode)
	os.Exit(m.Run())
}

func Example() {
	main()
	// Output:
	// POST as "ada" with key "k-1" {"item":"tea"}→ 201 {"ordered":"tea"}
	// POST as "ada" with key "k-1" {"item":"tea"}→ 201 {"ordered":"tea"} again
	// POST as "ada" with key "k-1" {"item":"cake"}→ 422 key-reused
	// POST as "bob" with key "k-1" {"item":"tea"}→ 201 {"ordered":"tea"}
	// POST as "ada" with key "k-2" {}→ 400 {"error":"which item?"}
	// POST as "ada" with key "" {"item":"tea"}→ 400 missing-key
	// POST as "" with key "k-3" {"item":"tea"}→ 401
	// GET as "ada" with key "" → 200 {"orders":1}
}

// Requests of one key at once order once; the others are told so, or get the answer.
func TestClicksAtOnce(t *testing.T) {
	t.Parallel()
	if err := withServer(t.Context(), func(ctx context.Context, url string) error { return clickAtOnce(ctx, t, url) }); err != nil {
		t.Error(err)
	}
}

func clickAtOnce(ctx context.Context, t *testing.T, url string) error {
	const want = `201 {"ordered":"tea"}`
	err := scratch.AtOnce(8, func(int) error {
		said, err := request{"POST", "ada", "k-1", `{"item":"tea"}`}.send(ctx, url)
		if !strings.HasPrefix(said, want) && said != "409 in-progress" {
			t.Errorf("a click got: %s", said)
		}
		return err
	})
	if err != nil {
		return err
	}
	said, err := request{method: "GET", who: "ada"}.send(ctx, url)
	if said != `200 {"orders":1}` {
		t.Errorf("8 clicks: %s", said)
	}
	return err
}
