package idgen

import (
	"errors"
	"strings"
	"time"
)

// horizonPrefix is the version of what a worker id's record keeps.
const horizonPrefix = "idgen/1 until "

// horizonForm is a time in UTC with milliseconds, as operators can read it.
const horizonForm = "2006-01-02T15:04:05.000Z"

var errHorizon = errors.New("idgen: the worker id's record has a checkpoint that this version cannot read; upgrade Semel here, or use another group")

// horizonText is the checkpoint that reserves a worker id's milliseconds up to at,
// which is included.
func horizonText(at time.Time) []byte {
	return []byte(horizonPrefix + at.UTC().Format(horizonForm))
}

// parseHorizon reads what horizonText wrote. Nothing is the zero time: the worker id
// was never used.
func parseHorizon(checkpoint []byte) (time.Time, error) {
	if len(checkpoint) == 0 {
		return time.Time{}, nil
	}
	text, ok := strings.CutPrefix(string(checkpoint), horizonPrefix)
	if !ok {
		return time.Time{}, errHorizon
	}
	at, err := time.Parse(horizonForm, text)
	if err != nil || at.Format(horizonForm) != text {
		return time.Time{}, errHorizon
	}
	return at, nil
}
