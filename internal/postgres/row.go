package postgres

import (
	"github.com/semel-go/semel"
	"github.com/semel-go/semel/internal/sqlrecord"
)

// seen is what a statement tells of a record.
type seen struct {
	moved  bool  // the statement made or changed it
	now    int64 // by the server's clock
	waited bool  // somebody waits for the end of its run
	row    sqlrecord.Row
}

// scan reads a row of a statement that says whether it moved the record, after
// what comes before.
func (s *seen) scan(r Row, before ...any) error {
	return s.read(r, append(before, &s.moved)...)
}

// read reads a row of a statement that moves nothing.
func (s *seen) read(r Row, before ...any) error {
	var operation, keyText []byte
	dest := append(append(before, &s.now, &s.waited), s.row.Fields()...)
	texts := dest[len(before)+2+operationField:]
	texts[0], texts[1] = &operation, &keyText
	if err := r.Scan(dest...); err != nil {
		return err
	}
	s.row.Operation, s.row.KeyText = string(operation), string(keyText)
	return nil
}

// operationField is the place of operation among the fields of a row, and before that
// of key_text. Both may hold any byte, so that their columns are no text.
const operationField = 14

// record is the record as it counts, nil for none.
func (s *seen) record() (*sqlrecord.Row, error) {
	if s == nil {
		return nil, nil
	}
	return s.row.Seen(s.now)
}

// one keeps the only row of a statement.
func one(into **seen) func(Row) error {
	return func(r Row) error {
		s := new(seen)
		if err := s.scan(r); err != nil {
			return err
		}
		*into = s
		return nil
	}
}

// keyOf makes a key of a column.
func keyOf(b []byte) (key semel.KeyID) {
	copy(key[:], b)
	return key
}
