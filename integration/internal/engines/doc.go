// Package engines starts private database servers for tests: on free ports of the
// loopback, with data in a temporary folder, and with the durability of production
// (fsync on). No service of the system is used or touched, and nothing is left.
//
// A test package ends what it started in TestMain:
//
//	func TestMain(m *testing.M) { os.Exit(engines.Main(m)) }
//
// Most tests share one server of each engine and take a database of their own:
//
//	func TestStore(t *testing.T) {
//		t.Parallel()
//		dsn := engines.Postgres(t).Database(t) // or engines.MariaDB(t)
//		db, err := sql.Open("pgx", dsn)
//		…
//	}
//
// Tests of faults take a server of their own:
//
//	pg := engines.NewPostgres(t, nil)
//	dsn := pg.Database(t)
//	pg.Kill(t)    // SIGKILL, with all its processes
//	pg.Restart(t) // the same address and data
//	pg.Pause(t)   // SIGSTOP; pg.Resume(t) goes on
//
// A [Server] has these; [PostgresServer] and [MariaDBServer] add databases and
// settings. [PostgresServer.Standby] is a streaming replica that can be cut off and
// promoted, and [PostgresServer.Bouncer] is PgBouncer in transaction mode. [Through]
// points a DSN at another address: that of a standby, of PgBouncer or of a proxy.
//
// [RedisServer] is a single Redis; it has replicas, and a Database is a prefix of keys.
// [NewRedisSentinel] is a primary with two replicas and three sentinels, [NewRedisCluster]
// six nodes whose slots can be moved, [NewRedisTLS] a server that speaks TLS only.
//
// An engine that is not installed skips the test with the packages' names, and fails
// it when CI=true. [Run] is `make engines`: all of them for a person, and
// [RunCommand] has them up while a command runs.
//
// # Another engine
//
// An engine is one file: a type that embeds [Server], a function that writes its
// configuration into what group.prepare gave it and calls group.start, and the
// functions for tests: one shared by a package, one for a test alone. bouncer.go is the
// shortest. Engines of several processes (a cluster, sentinels) start them one by one.
package engines
