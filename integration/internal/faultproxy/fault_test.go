package faultproxy

import (
	"fmt"
	"testing"
)

var isInsert, isCommit = Starts("insert"), Starts("commit")

func TestCutReplyOfStatement(t *testing.T) {
	each(t, func(t *testing.T, c *client) {
		cut := c.proxy.Arm(isInsert, CutReply())
		err := <-c.inserting(1)
		<-cut.Fired()
		if err == nil {
			t.Error("the client got a reply")
		}
		if got := c.rows(t); got != 1 {
			t.Errorf("there are %d rows, want the one of the executed statement", got)
		}
		c.works(t)
	})
}

// A server that met the cut while it was sending its rows would roll back.
func TestCutReplyWaitsForItsEnd(t *testing.T) {
	each(t, func(t *testing.T, c *client) {
		const many = 100_000
		numbers := fmt.Sprintf("generate_series(1, %d)", many)
		if c.mysql {
			numbers = fmt.Sprintf("seq FROM seq_1_to_%d", many)
		}
		c.proxy.Arm(isInsert, CutReply())
		rows, err := c.db.Query("INSERT INTO " + c.table + " SELECT " + numbers + " RETURNING n")
		if err == nil {
			t.Error("the client got a reply")
			rows.Close()
		}
		if got := c.rows(t); got != many {
			t.Errorf("there are %d rows, want the %d of the executed statement", got, many)
		}
	})
}

func TestCutReplyOfCommit(t *testing.T) {
	each(t, func(t *testing.T, c *client) {
		commit := c.begin(t, 1)
		c.proxy.Arm(isCommit, CutReply())
		if err := commit(); err == nil {
			t.Error("the client got a reply")
		}
		if got := c.rows(t); got != 1 {
			t.Errorf("there are %d rows, want the one of the committed transaction", got)
		}
		c.works(t)
	})
}

// lib/pq says that the connection was bad, and database/sql then sends the statement
// again by itself: the caller sees nothing of it.
func TestCloseReply(t *testing.T) {
	each(t, func(t *testing.T, c *client) {
		cut := c.proxy.Arm(isInsert, CloseReply())
		err := <-c.inserting(1)
		<-cut.Fired()
		rows, want := c.rows(t), 1
		if c.resends {
			want = 2
		}
		if rows != want || c.resends != (err == nil) {
			t.Errorf("there are %d rows, want %d, and %v", rows, want, err)
		}
	})
}

func TestCutBeforeStatement(t *testing.T) {
	each(t, func(t *testing.T, c *client) {
		cut := c.proxy.Arm(isInsert, CutBefore())
		err := <-c.inserting(1)
		<-cut.Fired()
		if err == nil {
			t.Error("the client got a reply")
		}
		if got := c.rows(t); got != 0 {
			t.Errorf("there are %d rows of a statement that never arrived", got)
		}
		c.works(t)
	})
}

func TestCutBeforeCommit(t *testing.T) {
	each(t, func(t *testing.T, c *client) {
		commit := c.begin(t, 1)
		c.proxy.Arm(isCommit, CutBefore())
		if err := commit(); err == nil {
			t.Error("the client got a reply")
		}
		if got := c.rows(t); got != 0 {
			t.Errorf("there are %d rows of a transaction that was not committed", got)
		}
	})
}

func TestReset(t *testing.T) {
	each(t, func(t *testing.T, c *client) {
		cut := c.proxy.Arm(isInsert, Reset())
		err := <-c.inserting(1)
		<-cut.Fired()
		if err == nil {
			t.Error("the client got a reply")
		}
		c.appears(t)
	})
}

func TestDelay(t *testing.T) {
	each(t, func(t *testing.T, c *client) {
		until := make(chan struct{})
		held := c.proxy.Arm(isInsert, Delay(until))
		done := c.inserting(1)
		<-held.Fired()
		if got := c.rows(t); got != 0 {
			t.Errorf("there are %d rows of a statement that has not arrived", got)
		}
		close(until)
		if err := <-done; err != nil {
			t.Error(err)
		}
		if got := c.rows(t); got != 1 {
			t.Errorf("there are %d rows", got)
		}
	})
}

// The client has given up long before its statement arrives.
func TestDelayBeyondTheClient(t *testing.T) {
	each(t, func(t *testing.T, c *client) {
		until := make(chan struct{})
		held := c.proxy.Arm(isInsert, Delay(until))
		done := c.inserting(1)
		<-held.Fired()
		c.hangUp()
		if err := <-done; err == nil {
			t.Error("the client got a reply")
		}
		close(until)
		c.appears(t)
	})
}

func TestDelayReply(t *testing.T) {
	each(t, func(t *testing.T, c *client) {
		until := make(chan struct{})
		held := c.proxy.Arm(isInsert, DelayReply(until))
		done := c.inserting(1)
		<-held.Fired()
		if got := c.rows(t); got != 1 {
			t.Errorf("there are %d rows, want the one of the executed statement", got)
		}
		select {
		case err := <-done:
			t.Errorf("the client did not wait for the reply: %v", err)
		default:
		}
		close(until)
		if err := <-done; err != nil {
			t.Error(err)
		}
		c.works(t)
	})
}

func TestBlackhole(t *testing.T) {
	each(t, func(t *testing.T, c *client) {
		hole := c.proxy.Arm(isInsert, Blackhole())
		done := c.inserting(1)
		<-hole.Fired()
		c.works(t) // on another connection
		if got := c.rows(t); got != 1 {
			t.Errorf("there are %d rows, want that of the other connection", got)
		}
		select {
		case err := <-done:
			t.Errorf("the client noticed something: %v", err)
		default:
		}
		c.proxy.close()
		if err := <-done; err == nil {
			t.Error("the client got a reply")
		}
	})
}

// works shows that other statements pass, and that a fault fires once.
func (c *client) works(t *testing.T) {
	t.Helper()
	before := c.rows(t)
	if err := <-c.inserting(2); err != nil {
		t.Errorf("the next statement: %v", err)
	}
	if got := c.rows(t); got != before+1 {
		t.Errorf("there are %d rows after the next statement, want %d", got, before+1)
	}
}
