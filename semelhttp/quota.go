package semelhttp

// Quota bounds what one principal may store.
type Quota struct {
	NewKeysPerMinute int
	Records          int
}
