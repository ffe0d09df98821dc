package sqlite

// statement numbers the prepared statements of the store.
type statement int

const (
	stmtBegin statement = iota
	stmtCommit
	stmtRollback
	stmtTakeLock
	stmtInsert
	stmtClaim
	stmtSelect
	stmtRenew
	stmtFinishStands
	stmtFinishMoves
	stmtFill
	stmtCheckpoint
	stmtResolve
	stmtDelete
	stmtFloor
	stmtRaiseFloor
	stmtPurge
	stmtPurgeLeft
	stmtList
	stmtDurability
	stmtJournal
	statements
)

// sqlOf are the statements for tables with this prefix.
func sqlOf(prefix string) *[statements]string {
	all := [statements]string{
		stmtBegin:        "BEGIN IMMEDIATE",
		stmtCommit:       "COMMIT",
		stmtRollback:     "ROLLBACK",
		stmtTakeLock:     sqliteTakeLock,
		stmtInsert:       sqliteInsert,
		stmtClaim:        sqliteClaim,
		stmtSelect:       sqliteSelect,
		stmtRenew:        sqliteRenew,
		stmtFinishStands: sqliteFinishStands,
		stmtFinishMoves:  sqliteFinishMoves,
		stmtFill:         sqliteFill,
		stmtCheckpoint:   sqliteCheckpoint,
		stmtResolve:      sqliteResolve,
		stmtDelete:       sqliteDelete,
		stmtFloor:        sqliteFloor,
		stmtRaiseFloor:   sqliteRaiseFloor,
		stmtPurge:        sqlitePurge,
		stmtPurgeLeft:    sqlitePurgeLeft,
		stmtList:         sqliteList,
		stmtDurability:   "PRAGMA synchronous",
		stmtJournal:      "SELECT journal_mode = 'wal' FROM pragma_journal_mode",
	}
	for i := range all {
		all[i] = expand(all[i], prefix)
	}
	return &all
}
