// Package scratch gives an example a database that is gone when the example ends. A
// service of yours has one already; the examples balance and balancepgx show how it is
// opened.
package scratch
