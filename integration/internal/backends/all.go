package backends

import "fmt"

// Servers are those whose store is in a server.
func Servers() []Backend {
	return []Backend{
		PostgresSQL("pgx", "pgx"),
		PostgresPool(),
		PostgresSQL("lib/pq", "postgres"),
		MariaDB(),
	}
}

// All are databases that outlive their process.
func All() []Backend { return append(Servers(), SQLite()) }

// Leased are those whose records outlive their process, beside the rows or with them.
func Leased() []Backend { return append(All(), Redis()) }

// Named is the backend of this name, for a child process.
func Named(name string) (Backend, error) {
	for _, b := range Leased() {
		if b.Name == name {
			return b, nil
		}
	}
	return Backend{}, fmt.Errorf("no backend %q", name)
}
