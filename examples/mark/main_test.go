package main

func Example() {
	main()
	// Output:
	// 8 workers at once: mails 1
	// by a mark: the mail server is down
	// by a mark: <nil>
	// mails 0
	// by Do: the mail server is down
	// by Do: <nil>
	// mails 1
}
