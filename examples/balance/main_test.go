package main

func Example() {
	main()
	// Output:
	// order-1: 70 left, error <nil>
	// order-1: 70 left, error <nil>
	// order-1: 70 left, error <nil>
	// order-2: insufficient_funds: the balance is too low
	// order-2: insufficient_funds: the balance is too low
	// balance: 70
}
