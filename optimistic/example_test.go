package optimistic_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/semel-go/semel/optimistic"
)

// What a client holds is compared with what there is.
func ExamplePreconditions_Check() {
	current := optimistic.ETagOf(42)
	for _, header := range []http.Header{
		{"If-Match": {`"42"`}},
		{"If-Match": {`"41"`}},
		{"If-Match": {`W/"42"`}}, // weak tags are no proof
		{"If-None-Match": {`W/"42"`}},
	} {
		pre, err := optimistic.PreconditionsOf(header)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(pre.Check(http.MethodGet, current, true))
	}
	// Output:
	// <nil>
	// optimistic: the precondition does not hold
	// optimistic: the precondition does not hold
	// optimistic: not modified
}

func ExampleRequired() {
	h := optimistic.Required(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	}))
	for _, match := range []string{"", `"42"`} {
		r := httptest.NewRequest(http.MethodPut, "/docs/1", nil)
		if match != "" {
			r.Header.Set("If-Match", match)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		fmt.Println(w.Code)
	}
	// Output:
	// 428
	// 204
}
