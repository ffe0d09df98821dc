package main

func Example() {
	main()
	// Output:
	// ev-1 3 acknowledge
	// ev-1 3 acknowledge
	// ev-2 2 acknowledge
	// ev-1 4 reject: the id stands for another message
	// ev-3 9 reject: sold_out
	// ev-3 9 reject: sold_out
	// left: 5
}
