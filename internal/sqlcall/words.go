package sqlcall

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Words are the words of a statement in upper case, and its brackets and commas. What
// is quoted, and comments, are left out; MySQL's executable comments are not comments. It
// knows no backslash in a text, and is good enough to find what a caller would regret,
// not to prove that it is not there.
func Words(statement string) []string {
	var words []string
	for rest := statement; rest != ""; {
		var word string
		word, rest = next(rest)
		if word != "" {
			words = append(words, strings.ToUpper(word))
		}
	}
	return words
}

// next takes one thing from the front; word is empty for what is left out.
func next(s string) (word, rest string) {
	switch c := s[0]; {
	case c == '\'' || c == '"' || c == '`':
		return "", after(s[1:], s[:1])
	case strings.HasPrefix(s, "--"):
		return "", after(s, "\n")
	case strings.HasPrefix(s, "/*!"), strings.HasPrefix(s, "/*M!"):
		return "", s[3:]
	case strings.HasPrefix(s, "/*"):
		return "", after(s[2:], "*/")
	case c == '(' || c == ')' || c == ',':
		return s[:1], s[1:]
	case !inWord(c):
		return "", s[1:]
	}
	end := strings.IndexFunc(s, func(r rune) bool { return r < utf8.RuneSelf && !inWord(byte(r)) })
	if end < 0 {
		end = len(s)
	}
	return s[:end], s[end:]
}

// after is what comes after the first end in s, nothing if there is none.
func after(s, end string) string {
	_, rest, _ := strings.Cut(s, end)
	return rest
}

func inWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= utf8.RuneSelf
}

// Has reports whether these words follow each other somewhere.
func Has(words []string, phrase ...string) bool {
	for i := range words {
		if len(words)-i >= len(phrase) && slices.Equal(words[i:i+len(phrase)], phrase) {
			return true
		}
	}
	return false
}

// Behind is the query with a clause behind it, on a line of its own: the query may end with
// a comment, which would take the clause in.
func Behind(query, clause string) string {
	return strings.TrimRight(query, "; \t\r\n") + "\n" + clause
}

// Locks reports a query that locks what it reads.
func Locks(query string) bool {
	words := Words(query)
	return slices.Contains(words, "FOR") || Has(words, "LOCK", "IN")
}
