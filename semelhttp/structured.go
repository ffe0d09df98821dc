package semelhttp

import (
	"encoding/base64"
	"errors"
	"strings"
	"unicode/utf8"
)

var (
	errNotString = errors.New("the key is not a valid structured-field String (RFC 9651): printable ASCII in double quotes, with \\\" and \\\\ as the only escapes")
	errParameter = errors.New("the parameters after the key are not valid structured-field parameters (RFC 9651); leave them away")
)

// parseStringItem decodes an Item of RFC 9651 that is a String. Its parameters
// have to be valid and are dropped.
func parseStringItem(s string) (string, error) {
	p := itemParser{rest: strings.Trim(s, " ")}
	value, ok := p.str()
	if !ok {
		return "", errNotString
	}
	if !p.parameters() {
		return "", errParameter
	}
	if p.rest != "" {
		return "", errNotString
	}
	return value, nil
}

// itemParser consumes rest from its front. Its methods report whether the input
// was valid.
type itemParser struct{ rest string }

func (p *itemParser) skip(prefix string) bool {
	after, ok := strings.CutPrefix(p.rest, prefix)
	p.rest = after
	return ok
}

// take consumes the longest front whose bytes all satisfy is.
func (p *itemParser) take(is func(byte) bool) string {
	n := 0
	for n < len(p.rest) && is(p.rest[n]) {
		n++
	}
	taken := p.rest[:n]
	p.rest = p.rest[n:]
	return taken
}

// str is section 4.2.5.
func (p *itemParser) str() (string, bool) {
	if !p.skip(`"`) {
		return "", false
	}
	plain := p.take(isPlainByte)
	if p.skip(`"`) { // nearly always: nothing is escaped
		return plain, true
	}
	var b strings.Builder
	b.WriteString(plain)
	for p.skip(`\`) {
		if p.rest == "" || p.rest[0] != '"' && p.rest[0] != '\\' {
			return "", false
		}
		b.WriteByte(p.rest[0])
		p.rest = p.rest[1:]
		b.WriteString(p.take(isPlainByte))
	}
	return b.String(), p.skip(`"`)
}

// parameters is section 4.2.3.2.
func (p *itemParser) parameters() bool {
	for p.skip(";") {
		p.rest = strings.TrimLeft(p.rest, " ")
		if p.rest == "" || !isLower(p.rest[0]) && p.rest[0] != '*' {
			return false
		}
		p.take(isParameterByte)
		if p.skip("=") && !p.bareItem() {
			return false
		}
	}
	return true
}

// bareItem is section 4.2.3.1.
func (p *itemParser) bareItem() bool {
	if p.rest == "" {
		return false
	}
	switch c := p.rest[0]; {
	case c == '"':
		_, ok := p.str()
		return ok
	case c == '-' || isDigit(c):
		return p.number(true)
	case c == '*' || isAlpha(c):
		p.take(isItemTokenByte)
		return true
	case c == ':':
		return p.binary()
	case c == '?':
		return p.skip("?0") || p.skip("?1")
	case c == '@':
		p.skip("@")
		return p.number(false)
	case c == '%':
		return p.display()
	}
	return false
}

// number is section 4.2.4: up to 15 digits, or 12 and 3 with a point.
func (p *itemParser) number(decimal bool) bool {
	p.skip("-")
	whole := len(p.take(isDigit))
	if !decimal || !p.skip(".") {
		return whole >= 1 && whole <= 15
	}
	part := len(p.take(isDigit))
	return whole >= 1 && whole <= 12 && part >= 1 && part <= 3
}

// binary is section 4.2.7; like most parsers it accepts missing padding.
func (p *itemParser) binary() bool {
	p.skip(":")
	content, rest, ok := strings.Cut(p.rest, ":")
	p.rest = rest
	if !ok || strings.ContainsAny(content, "\r\n") { // which encoding/base64 ignores
		return false
	}
	_, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(content, "="))
	return err == nil
}

// display is section 4.2.10.
func (p *itemParser) display() bool {
	if !p.skip(`%"`) {
		return false
	}
	var decoded []byte
	for p.rest != "" {
		c := p.rest[0]
		p.rest = p.rest[1:]
		switch {
		case c == '"':
			return utf8.Valid(decoded)
		case c == '%':
			b, ok := p.hexByte()
			if !ok {
				return false
			}
			decoded = append(decoded, b)
		case c < ' ' || c > '~':
			return false
		default:
			decoded = append(decoded, c)
		}
	}
	return false
}

// hexByte reads two lower-case hexadecimal digits.
func (p *itemParser) hexByte() (byte, bool) {
	const digits = "0123456789abcdef"
	if len(p.rest) < 2 {
		return 0, false
	}
	high, low := strings.IndexByte(digits, p.rest[0]), strings.IndexByte(digits, p.rest[1])
	p.rest = p.rest[2:]
	return byte(high<<4 | low), high >= 0 && low >= 0
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isLower(c byte) bool { return 'a' <= c && c <= 'z' }
func isAlpha(c byte) bool { return isLower(c | 0x20) }

// isPlainByte is true inside a String for what needs no escape.
func isPlainByte(c byte) bool { return ' ' <= c && c <= '~' && c != '"' && c != '\\' }

func isParameterByte(c byte) bool {
	return isLower(c) || isDigit(c) || strings.IndexByte("_-.*", c) >= 0
}

func isItemTokenByte(c byte) bool { return isTokenByte(c) || c == ':' || c == '/' }

// isTokenByte is tchar of RFC 9110, section 5.6.2.
func isTokenByte(c byte) bool {
	return isAlpha(c) || isDigit(c) || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0
}

// isToken is true for a token of RFC 9110, such as a header name.
func isToken(s string) bool {
	p := itemParser{rest: s}
	p.take(isTokenByte)
	return s != "" && p.rest == ""
}
