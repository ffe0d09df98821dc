// Package crash lets a test kill the gateway at a chosen step of a request.
//
// Without the build tag semelcrash the package does nothing, and nothing of it
// is in the binary; a test proves that. With it, the process kills itself with
// SIGKILL when it first reaches the step that SEMEL_CRASH_AT names:
//
//	before-claim    the request was read, the store knows nothing
//	after-claim     the claim is held, the upstream knows nothing
//	after-upstream  the upstream has executed and begun to answer
//	before-save     the whole answer is here, the record does not hold it
//	before-answer   the record holds it, the client has seen nothing
package crash
