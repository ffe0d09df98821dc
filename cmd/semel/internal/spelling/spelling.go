// Package spelling guesses which word was meant.
package spelling

import "slices"

// Nearest returns the candidate with the smallest edit distance to s, the first of
// several. It reports false if none is near enough to have been meant: a third of
// the letters may differ.
func Nearest(s string, candidates []string) (string, bool) {
	if len(candidates) == 0 {
		return "", false
	}
	best := slices.MinFunc(candidates, func(a, b string) int { return distance(s, a) - distance(s, b) })
	return best, distance(s, best) <= (len(s)+2)/3
}

// Hint asks "; did you mean NAME?", with prefix before the name, or is empty.
func Hint(s, prefix string, candidates []string) string {
	best, ok := Nearest(s, candidates)
	if !ok {
		return ""
	}
	return "; did you mean " + prefix + best + "?"
}

// distance is the number of single-character edits between a and b
// (Levenshtein), computed row by row.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
