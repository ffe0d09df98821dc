package backends

// All are those that outlive their process.
func All() []Backend { return []Backend{SQLite()} }
