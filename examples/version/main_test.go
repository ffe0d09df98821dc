package main

func Example() {
	main()
	// Output:
	// ada: saved
	// bob: somebody changed it meanwhile, it is at version 2: look at both and save again
	// bob: there is no such page any more
	// Green tea: 4 stars, version 6
}
