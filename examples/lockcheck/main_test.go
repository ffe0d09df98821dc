package main

func Example() {
	main()
	// Output:
	// 4 workers, of which 1 made the report
	// who comes late is refused: true
}
