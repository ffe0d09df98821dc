package engines

import "testing"

// Server is a running engine. Its methods are for the test's own goroutine, one at a
// time; they fail the test when they cannot do what they say.
type Server struct {
	*instance
	shared bool
}

// Addr is where it listens, as host:port; a restart keeps it.
func (s *Server) Addr() string { return loopback(s.port) }

// Kill ends all its processes with SIGKILL. Nothing but its files stays, as after a
// crash.
func (s *Server) Kill(t testing.TB) { s.fault(t, s.kill) }

// Stop ends it in order and keeps its data.
func (s *Server) Stop(t testing.TB) { s.fault(t, s.halt) }

// Restart starts it with its data on the same address, after Kill, Stop, or an end in
// order that it makes itself. It returns when the server serves.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	s.fault(t, s.halt)
	s.fault(t, s.instance.start)
}

// Pause stops all its processes with SIGSTOP: connections stay, and nothing answers.
func (s *Server) Pause(t testing.TB) { s.fault(t, s.pause) }

// Resume lets it go on after Pause.
func (s *Server) Resume(t testing.TB) { s.fault(t, s.resume) }

func (s *Server) share() { s.shared = true }

// fault does what would fail the tests beside this one, if the server were shared.
func (s *Server) fault(t testing.TB, do func() error) {
	t.Helper()
	if s.shared {
		t.Fatalf("%s is shared by all tests; take one with a New function for faults", s.name)
	}
	if err := do(); err != nil {
		t.Fatal(err)
	}
}
