// Package client holds the tests of semelhttp's client against the real gateway:
// a `semel proxy` process, an upstream that counts its executions, and between
// client and gateway a proxy that loses, cuts and doubles messages.
package client
