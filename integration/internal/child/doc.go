// Package child lets a test run a part of its own binary as another process, in order
// to kill it. A child says what it did, a line at a time, and is told to go on in the
// same way.
//
//	func TestMain(m *testing.M) {
//		os.Exit(child.Main(m.Run, map[string]child.Func{"worker": worker}))
//	}
//
//	func TestKill(t *testing.T) {
//		p := child.Start(t, "worker", dsn)
//		if p.After(1, "claimed") {
//			said := p.Kill(t)
//			…
//		}
//	}
package child
