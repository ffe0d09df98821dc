package main

func Example() {
	main()
	// Output:
	// order-1: 201 replayed=false 70 left
	// order-1: 201 replayed=true 70 left
	// order-2: 409 replayed=false the balance is too low
	// order-2: 409 replayed=true the balance is too low
	// order-1: 422 replayed=false the key stands for another request
}
