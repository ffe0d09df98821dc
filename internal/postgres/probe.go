package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/semel-go/semel"
)

// oldest is the oldest version of the server that the statements are written for.
const oldest = 130000

// settings are what a promise depends on.
type settings struct {
	version    int
	recovering bool
	readOnly   string
	commit     string // synchronous_commit
	sync       string // fsync
	fullPages  string
	standbys   string // synchronous_standby_names
	isolation  string
	product    string
}

func (s *Store) settings(ctx context.Context) (c settings, err error) {
	found, err := scalars(ctx, s.db.QueryOnce, s.text.settings, nil, &c.version, &c.recovering, &c.readOnly,
		&c.commit, &c.sync, &c.fullPages, &c.standbys, &c.isolation, &c.product)
	if err == nil && !found {
		err = errors.New("the server tells nothing of its settings")
	}
	return c, err
}

// admit refuses a server that can never do.
func (s *Store) admit(ctx context.Context) error {
	c, err := s.settings(ctx)
	switch {
	case err != nil:
		return err
	case !strings.HasPrefix(c.product, "PostgreSQL "):
		return fmt.Errorf("the server is %q, and no PostgreSQL", c.product)
	case c.version < oldest:
		return fmt.Errorf("the server has version %d, and %d is the oldest that will do; upgrade it", c.version/10000, oldest/10000)
	case c.recovering:
		return errors.New("the server is a standby: connect to the primary, for example with target_session_attrs=read-write; never read from a replica")
	case c.readOnly != "off":
		return errors.New("transactions are read-only here: unset default_transaction_read_only for this role and database")
	}
	return nil
}

// checkRights refuses a role that lacks a privilege, with the statement that
// grants it.
func (s *Store) checkRights(ctx context.Context) error {
	var missing []string
	err := s.db.QueryOnce(ctx, s.text.rights, nil, func(r Row) error {
		var table, privilege string
		if err := r.Scan(&table, &privilege); err != nil {
			return err
		}
		missing = append(missing, fmt.Sprintf("GRANT %s ON %s TO <role>;", privilege, table))
		return nil
	})
	if err == nil && missing != nil {
		err = fmt.Errorf("the role lacks privileges; the owner of the tables grants them: %s", strings.Join(missing, " "))
	}
	return err
}

// Guarantees is [semel.Store.Guarantees]. It asks the server for its settings, as
// they are now.
func (s *Store) Guarantees(ctx context.Context, _ semel.GuaranteesParams) (g semel.Guarantees, err error) {
	var c settings
	err = s.alone(ctx, func(ctx context.Context) (err error) {
		c, err = s.settings(ctx)
		return err
	})
	if err != nil {
		return g, unread(ctx, err)
	}
	return c.promise(), nil
}
