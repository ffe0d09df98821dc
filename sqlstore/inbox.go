package sqlstore

import (
	"github.com/semel-go/semel/internal/postgres"
	"github.com/semel-go/semel/internal/sqltx"
)

// Transactional is for package inbox: it tells how this database claims and
// finishes records in transactions. False if it cannot.
func (s *Store) Transactional() (sqltx.Dialect, bool) {
	if p, ok := s.methods.(*postgres.Store); ok {
		return postgres.SQLInTx(p), true
	}
	d, ok := s.methods.(sqltx.Dialect)
	return d, ok
}
