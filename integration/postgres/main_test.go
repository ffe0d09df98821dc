// Package postgres_test holds the tests of the stores on PostgreSQL: package sqlstore
// with both drivers and package pgxstore, directly and through PgBouncer.
package postgres_test

import (
	"os"
	"testing"

	"github.com/semel-go/semel/integration/internal/engines"
)

func TestMain(m *testing.M) { os.Exit(engines.Main(m)) }
