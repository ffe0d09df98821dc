package main

func Example() {
	main()
	// Output:
	// 8 callers, of which 1 placed the order
	// A-1 for 99: placed false, error: the number is that of another order
	// A-2 for 30: placed false, error: the coupon was used
	// A-3 for 0: placed false, error: the database refuses it
	// A-3 for 20: placed true, error: none
	// orders: 2
}
