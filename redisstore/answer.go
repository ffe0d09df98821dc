package redisstore

import (
	"fmt"

	"github.com/semel-go/semel"
)

// code is what a script says first. The numbers are those of scripts/head.lua.
type code int64

const (
	saysFenced   code = 0
	saysOK       code = 1
	saysNone     code = 2
	saysFormat   code = 3
	saysDamaged  code = 4
	saysMismatch code = 5
	saysFresh    code = 6 // now follows
	saysAcquired code = 7 // now and the record follow, as in the rest
	saysTold     code = 8
	saysRefused  code = 9
)

// answer is what a script said.
type answer struct {
	code   code
	now    int64
	row    row
	record semel.Record // of row; empty if there is none
}

// answer reads the reply. A record that cannot be read is an error.
func (c *call) answer(key semel.KeyID) (a answer, err error) {
	said, ok := c.reply.([]any)
	if !ok || len(said) == 0 || len(said) > 3 {
		return a, c.strange()
	}
	var numbers [2]int64
	for i := range min(2, len(said)) {
		if numbers[i], ok = said[i].(int64); !ok {
			return a, c.strange()
		}
	}
	a.code, a.now = code(numbers[0]), numbers[1]
	switch a.code {
	case saysFormat:
		return a, &semel.RecordFormatError{Format: int(a.now)}
	case saysDamaged:
		return a, unreadable(key, "")
	case saysFresh, saysFenced, saysOK, saysNone, saysMismatch:
		return a, nil
	}
	value, ok := said[len(said)-1].(string)
	if !ok {
		return a, c.strange()
	}
	if a.row, err = parse(key, value); err != nil {
		return a, err
	}
	a.record = a.row.record(key, a.now)
	return a, nil
}

func (c *call) strange() error {
	return noReply(fmt.Errorf("the script answered %.100q; is there a proxy in between that changes replies?", fmt.Sprint(c.reply)))
}

// fenced is the answer to owners.
func (a *answer) fenced() error {
	if a.code != saysOK {
		return semel.ErrFenced
	}
	return nil
}
