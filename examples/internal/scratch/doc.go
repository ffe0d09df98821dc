// Package scratch gives an example a database or an engine that is gone when the example
// ends. A service of yours has them already; the examples balance and balancepgx show how
// they are opened.
package scratch
