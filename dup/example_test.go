package dup_test

import (
	"errors"
	"fmt"

	"github.com/semel-go/semel/dup"
)

// One name for each engine that the program runs on.
func ExampleIs() {
	err := fmt.Errorf("saving the order: %w", errors.New("UNIQUE constraint failed: orders.number"))
	fmt.Println(dup.Is(err))
	fmt.Println(dup.Is(err, "orders_number_key", "orders.number"))
	fmt.Println(dup.Is(err, "orders_email_key", "orders.email"))
	// Output:
	// true
	// true
	// false
}
