// Package upgrade holds the tests of two versions of Semel on one store: records
// that an earlier version wrote are replayed for ever, records of a later one are
// left alone and never run again, and neighbouring versions work side by side.
//
// testdata has a folder for each record format that was ever released: files of SQLite,
// and what Redis holds. A folder is never changed. A new format gets one when it is
// released:
//
//	go generate ./integration/upgrade
//
// writes it, unless it is there. Before that [semel.RecordFormat] is raised; until it
// is, a test insists that today's code writes exactly the records of the newest folder.
package upgrade

//go:generate go test . -run ^TestWriterIsFrozen$ -write-fixture
