// Package schemes plays schemes that make something happen once, each beside the way
// that looks like it: what goes wrong really does, and what holds is held by the
// packages of Semel, on tables in SQLite.
//
//   - scheme.go: a scheme and its ways; which there are
//   - scene.go: how a way is played, and tells what happens
//   - order.go (package dup), edit.go (optimistic), form.go (onetime), lock.go with
//     ttllock.go (lock), ids.go with processes.go (idgen): the schemes
//   - stage.go, tables.go: what they are played on
//   - player.go: plays them, and keeps the last run of each
//
// A scene decides who goes next where chance would decide it, such as that two look
// before either of them writes. Nothing else is arranged.
package schemes
