// Package policy holds the rules of this repository as tests: what each module and
// package must have, and that what the documents show exists. It has no code of
// its own to import.
package policy
