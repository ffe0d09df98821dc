// Package canonjson compares the digests of internal/canonjson with a canonicaliser
// after RFC 8785, where that one handles numbers right.
package canonjson
