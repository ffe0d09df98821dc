package settings

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

const envPrefix = "SEMEL_"

// EnvName is the environment variable of a flag: max-request-body is
// SEMEL_MAX_REQUEST_BODY.
func EnvName(flag string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// FromEnv sets each of the named flags that was not given on the command line
// from its variable in environ ("NAME=value"). With no names it does so for all
// flags of fs. SEMEL_* variables that belong to no flag of the gateway and are
// not in extra are errors: a misspelt setting must not be lost silently.
func FromEnv(fs *pflag.FlagSet, environ, extra []string, names ...string) error {
	known := slices.Concat(envNames(), extra)
	var errs []error
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		switch {
		case !strings.HasPrefix(name, envPrefix):
		case !slices.Contains(known, name):
			errs = append(errs, fmt.Errorf("%s is no setting; did you mean %s? Unset it if it is another program's", name, nearest(name, known)))
		default:
			errs = append(errs, setFlag(fs, name, value, names))
		}
	}
	return errors.Join(errs...)
}

func setFlag(fs *pflag.FlagSet, env, value string, names []string) error {
	name := strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(env, envPrefix), "_", "-"))
	f := fs.Lookup(name)
	if f == nil || f.Changed || (len(names) > 0 && !slices.Contains(names, name)) {
		return nil
	}
	return fs.Set(name, value)
}

func envNames() []string {
	var names []string
	for _, f := range slices.Concat(proxyFlags, laterFlags) {
		names = append(names, EnvName(f.name))
	}
	return names
}

// nearest returns the candidate with the smallest edit distance to s.
func nearest(s string, candidates []string) string {
	return slices.MinFunc(candidates, func(a, b string) int { return distance(s, a) - distance(s, b) })
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
