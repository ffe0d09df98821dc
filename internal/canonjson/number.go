package canonjson

import (
	"strconv"
	"strings"
)

// maxExponentDigits bounds exponents that are computed with; a number with a
// longer one is only equal to the same text.
const maxExponentDigits = 15

// canonicalNumber writes a JSON number as digits and exponent, exactly: 1, 1.0,
// 10e-1 and 1E0 are "1e0"; every zero is "0".
func canonicalNumber(text string) string {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	digits, negative := strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(digits, ".")
	digits = strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return "0"
	}
	exp, ok := parseExponent(exponent)
	if !ok {
		return "=" + text
	}
	significant := strings.TrimRight(digits, "0")
	exp += int64(len(digits)-len(significant)) - int64(len(fraction))
	sign := ""
	if negative {
		sign = "-"
	}
	return sign + significant + "e" + strconv.FormatInt(exp, 10)
}

func parseExponent(text string) (int64, bool) {
	negative := strings.HasPrefix(text, "-")
	digits := strings.TrimLeft(strings.TrimLeft(text, "+-"), "0")
	if digits == "" {
		return 0, true
	}
	if len(digits) > maxExponentDigits {
		return 0, false
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if negative {
		n = -n
	}
	return n, err == nil
}
