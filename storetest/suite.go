package storetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Run checks a store, each case as a parallel subtest of t.
func Run(t *testing.T, h Harness) {
	for _, c := range Cases() {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			applies, failure := c.run(t.Context(), h)
			if !applies {
				t.Logf("does not apply: needs %s", c.needs)
			}
			if failure != nil {
				t.Error(failure)
			}
		})
	}
}

// Check checks a store without package testing, one case after the other, and
// returns what failed.
func Check(ctx context.Context, h Harness) []Failure {
	return CheckCases(ctx, h, Cases())
}

// CheckCases is [Check] for some of the cases.
func CheckCases(ctx context.Context, h Harness, cases []Case) (failures []Failure) {
	for _, c := range cases {
		if _, f := c.run(ctx, h); f != nil {
			failures = append(failures, *f)
		}
	}
	return failures
}

// Case is one rule of the contract.
type Case struct {
	Name string
	// Why is the reason for the rule: what went wrong where it was missing.
	Why string

	needs need
	check func(t *T)
}

// need is what a case asks of a subject; it is empty for most.
type need string

const (
	needsReopen     need = "Subject.Reopen"
	needsSkewed     need = "Subject.Skewed"
	needsFormat     need = "Subject.SetFormat"
	needsPurger     need = "semel.Purger"
	needsLister     need = "semel.Lister"
	needsWaiter     need = "semel.ChangeWaiter"
	needsCheckpoint need = "semel.Checkpointer"
)

// Failure is a case that a store did not pass.
type Failure struct {
	Case     string
	Why      string
	Messages []string
}

// String gives the messages and the reason for the rule.
func (f *Failure) String() string {
	return fmt.Sprintf("%s\n  why: %s\n  %s", f.Case, f.Why, strings.Join(f.Messages, "\n  "))
}

// Cases returns all cases, in the order in which [Check] runs them.
func Cases() []Case {
	return slices.Concat(
		tableCases(),
		ownerCases(),
		fenceCases(),
		doubtCases(),
		attemptCases(),
		expiryCases(),
		bytesCases(),
		raceCases(),
		interleavingCases(),
		purgeCases(),
		listCases(),
		waitCases(),
		checkpointCases(),
		setupCases(),
		modelCases(),
	)
}
