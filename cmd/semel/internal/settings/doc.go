// Package settings reads what the operator asked for: flags, then SEMEL_*
// environment variables, then defaults. Everything is checked before anything
// starts, and all that is wrong is reported at once, each with its fix.
//
//	flags.go    the table of flags of `semel proxy`
//	env.go      environment variables, one for each flag
//	proxy.go    the settings as values, and how they are read
//	check.go    contradictions between settings
//	parse.go    addresses, sizes, durations, choices
//	principal.go  where the scope of a request comes from
package settings
