// Package settings reads what the operator asked for: flags, then SEMEL_*
// environment variables, then the file of --config, then defaults. Everything is
// checked before anything starts, and all that is wrong is reported at once, each
// with its place and its fix.
//
//	flags.go, env.go     flags, and environment variables, one for each flag
//	file.go              the configuration file
//	route.go, keysource.go, cors.go  its rules for routes
//	proxy.go, rule.go    the settings as values
//	reader.go, parse.go  how texts become values: addresses, sizes, durations
//	check.go             contradictions between settings
//	principal.go, warnings.go  whose key it is, and what to mind
//	print.go, format.go  settings as texts again
//	fixed.go             what a reload cannot change
//	secret.go            the secret's file
package settings
