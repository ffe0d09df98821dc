// Package engines starts private database servers for tests.
package engines
