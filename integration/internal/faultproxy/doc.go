// Package faultproxy breaks real connections to a database at a chosen statement. A
// proxy stands between a client and a server, follows their protocol, and does to the
// next statement that matches what a network or a machine may do to it:
//
//	proxy := faultproxy.Postgres(t, server.Addr())
//	db := … // open engines.Through(dsn, proxy.Addr())
//	cut := proxy.Arm(faultproxy.Starts("COMMIT"), faultproxy.CutReply())
//	err := tx.Commit() // a broken connection, though it is committed
//	<-cut.Fired()
//
// The faults, and what the client and the server see:
//
//	CutBefore   the statement never arrives; the connection is reset
//	CutReply    it is executed to its end; then the connection is reset
//	CloseReply  the same, but the connection is closed in order
//	Reset       the connection is reset while it is on its way; it is executed later
//	Delay       it arrives when the test says so, even if the client has gone by then
//	DelayReply  it is executed; its reply arrives when the test says so
//	Blackhole   nothing arrives any more in either direction; the connection stays open
//
// A statement is what is executed: a simple query as a whole (BEGIN and COMMIT are
// such), an execution of a prepared statement, which is known by the text that it was
// prepared with, or a command of Redis, by its name and first argument. A server that
// closes an idle connection fires nothing.
//
// # Another protocol
//
// A protocol is one file: a type with the two methods of protocol, which cut the
// streams into messages, find the statements, and say which message of the client ends
// a turn and which of the server ends the reply to it. redis.go is the shortest: every
// command ends a turn.
package faultproxy
