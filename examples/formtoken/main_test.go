package main

func Example() {
	main()
	// Output:
	// compared and deleted, of bob: please open the form again
	// 4 clicks of ada: 1 placed, 3 told that the token is no good
	// spent with the order, to "": the address is missing
	// spent with the order, to "1 Tea Street": on its way to 1 Tea Street
	// spent with the order, to "1 Tea Street": on its way to 1 Tea Street
	// spent with the order, to "2 Coffee Road": this form was sent already: on its way to 1 Tea Street
}
