package backends

import "fmt"

// All are those that outlive their process.
func All() []Backend { return []Backend{SQLite()} }

// Named is the backend of this name, for a child process.
func Named(name string) (Backend, error) {
	for _, b := range All() {
		if b.Name == name {
			return b, nil
		}
	}
	return Backend{}, fmt.Errorf("no backend %q", name)
}
