// Package canonjson digests JSON by its meaning: the order of members, whitespace
// and the spelling of numbers and strings do not count, and nothing else is lost.
//
// It is no RFC 8785: that maps numbers to float64, which makes 9007199254740993
// equal 9007199254740992. Here numbers are exact decimals, and duplicate members
// are refused, since parsers disagree about which one counts.
//
// A map of the package:
//
//   - digest.go: the walk over a text, a container at a time
//   - number.go: numbers as exact decimals
//   - selection.go: which values count
package canonjson
