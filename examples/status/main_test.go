package main

func Example() {
	main()
	// Output:
	// 8 callbacks, of which 1 paid the order
	// paid to shipped: moved true, error <nil>
	// paid to shipped: moved false, error <nil>
	// pending to paid: moved false, error order A-1 is shipped, not pending
	// pending to canceled: moved false, error order A-1 is shipped, not pending
	// another order: there is no order A-2
	// events: 2
}
