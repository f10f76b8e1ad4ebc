package supervise

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"reprise/rewrite"
)

// WithScratch returns the plan with rewrite.Scratch replaced by a new private directory, and a
// function that removes the directory. If the plan does not need one, none is made.
func WithScratch(plan rewrite.Plan) (rewrite.Plan, func() error, error) {
	used := func(arg string) bool { return arg != plan.Prompt && scratchAt(arg) >= 0 }
	needs := slices.ContainsFunc(plan.Args, used) ||
		slices.ContainsFunc(plan.Follow, func(f rewrite.Follow) bool {
			return scratchAt(f.Dir) >= 0
		})
	if !needs {
		return plan, func() error { return nil }, nil
	}
	dir, err := os.MkdirTemp("", "reprise-*")
	if err != nil {
		return plan, nil, fmt.Errorf("make scratch directory: %w", err)
	}
	plan.Args = slices.Clone(plan.Args)
	for i, arg := range plan.Args {
		if used(arg) {
			plan.Args[i] = inScratch(arg, dir)
		}
	}
	plan.Follow = slices.Clone(plan.Follow)
	for i, f := range plan.Follow {
		plan.Follow[i].Dir = inScratch(f.Dir, dir)
	}
	return plan, func() error { return os.RemoveAll(dir) }, nil
}

func inScratch(arg, dir string) string {
	if at := scratchAt(arg); at >= 0 {
		return arg[:at] + dir + arg[at+len(rewrite.Scratch):]
	}
	return arg
}

// scratchAt returns the index of rewrite.Scratch in an argument: at the start, or as the value in
// --option=VALUE; -1 if there is none. Elsewhere the word is the caller's own.
func scratchAt(arg string) int {
	at := strings.Index(arg, rewrite.Scratch)
	if at > 0 && (arg[0] != '-' || strings.IndexByte(arg, '=') != at-1) {
		return -1
	}
	return at
}
