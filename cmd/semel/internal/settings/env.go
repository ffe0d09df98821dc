package settings

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/semel-go/semel/cmd/semel/internal/spelling"
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
			errs = append(errs, fmt.Errorf("%s is no setting%s Unset it if it is another program's", name, cmp.Or(nearestEnv(name, known), ".")))
		default:
			errs = append(errs, setFlag(fs, name, value, names))
		}
	}
	return errors.Join(errs...)
}

// nearestEnv compares names without what all of them begin with.
func nearestEnv(name string, known []string) string {
	rest := make([]string, len(known))
	for i, k := range known {
		rest[i] = strings.TrimPrefix(k, envPrefix)
	}
	return spelling.Hint(strings.TrimPrefix(name, envPrefix), envPrefix, rest)
}

func setFlag(fs *pflag.FlagSet, env, value string, names []string) error {
	name := strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(env, envPrefix), "_", "-"))
	f := fs.Lookup(name)
	if f == nil || f.Changed || (len(names) > 0 && !slices.Contains(names, name)) {
		return nil
	}
	if err := fs.Set(name, value); err != nil {
		return err
	}
	if t, ok := f.Value.(*text); ok {
		t.from = env
	}
	return nil
}

func envNames() []string {
	var names []string
	for _, f := range proxyFlags {
		names = append(names, EnvName(f.name))
	}
	return names
}
