package main

func Example() {
	main()
	// Output:
	// ada for tea: counted is tea, by this call true
	// ada for coffee: counted is tea, by this call false
	// bob /votes {"poll":"poll-1"}: which choice?
	// bob /votes {"poll":"poll-1","choice":"tea"}: counted: tea
	// bob /votes {"poll":"poll-1","choice":"coffee"}: counted: tea
	// bob /votes {"poll":"poll-2","choice":"coffee"}: counted: coffee
	// bob /comments {"text":"good tea"}: published
	// bob /comments {"text":"good tea"}: said a moment ago
	// bob /comments {"text":"good tea, really"}: published
	// ada's records deleted: 1
	// so that she may vote again: true
	// bob's records: 4
}
