package integration

import (
	"context"
	"database/sql/driver"
	"errors"
	"sync/atomic"
)

var errCut = errors.New("the reply was cut")

// cutter is a connector whose next COMMIT is executed, and its reply lost.
type cutter struct {
	driver.Connector
	armed atomic.Bool
}

func (c *cutter) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	return &cutConn{Conn: conn, cutter: c}, err
}

type cutConn struct {
	driver.Conn
	cutter *cutter
}

func (c *cutConn) Prepare(query string) (driver.Stmt, error) {
	stmt, err := c.Conn.Prepare(query)
	if err != nil || query != "COMMIT" {
		return stmt, err
	}
	return &cutStmt{Stmt: stmt, cutter: c.cutter}, nil
}

type cutStmt struct {
	driver.Stmt
	cutter *cutter
}

func (s *cutStmt) Exec(args []driver.Value) (driver.Result, error) {
	//lint:ignore SA1019 the plain method is the one that every driver has
	res, err := s.Stmt.Exec(args) //nolint:staticcheck // as above
	if err == nil && s.cutter.armed.CompareAndSwap(true, false) {
		return nil, errCut
	}
	return res, err
}
