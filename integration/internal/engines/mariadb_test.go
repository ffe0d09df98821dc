package engines

import "testing"

func TestMariaDBSettings(t *testing.T) {
	t.Parallel()
	m := NewMariaDB(t, &Options{Settings: map[string]string{"innodb_flush_log_at_trx_commit": "0"}})
	db := open(t, "mysql", m.DSN(""))
	const flush = "SELECT @@GLOBAL.innodb_flush_log_at_trx_commit"
	if got := number(t, db, flush); got != 0 {
		t.Errorf("innodb_flush_log_at_trx_commit is %d, want 0 as in the options", got)
	}
	m.Set(t, "innodb_flush_log_at_trx_commit", "2")
	if got := number(t, db, flush); got != 2 {
		t.Errorf("innodb_flush_log_at_trx_commit is %d after Set, want 2", got)
	}
	if got := number(t, open(t, "mysql", MariaDB(t).DSN("")), flush); got != 1 {
		t.Errorf("innodb_flush_log_at_trx_commit is %d by default, want 1", got)
	}
}
