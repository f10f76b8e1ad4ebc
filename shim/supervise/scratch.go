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
	args, follow := slices.Clone(plan.Args), slices.Clone(plan.Follow)
	var places []*string
	for i, arg := range args {
		if arg != plan.Prompt && needsScratch(arg) {
			places = append(places, &args[i])
		}
	}
	for i := range follow {
		if needsScratch(follow[i].Dir) {
			places = append(places, &follow[i].Dir)
		}
	}
	if len(places) == 0 {
		return plan, func() error { return nil }, nil
	}
	dir, err := os.MkdirTemp("", "reprise-*")
	if err != nil {
		return plan, nil, fmt.Errorf("make scratch directory: %w", err)
	}
	for _, place := range places {
		*place = strings.Replace(*place, rewrite.Scratch, dir, 1)
	}
	plan.Args, plan.Follow = args, follow
	return plan, func() error { return os.RemoveAll(dir) }, nil
}

// needsScratch reports whether an argument has rewrite.Scratch at the start, or as the value in
// --option=VALUE. Elsewhere the word is the caller's own.
func needsScratch(arg string) bool {
	at := strings.Index(arg, rewrite.Scratch)
	return at == 0 || at > 0 && arg[0] == '-' && strings.IndexByte(arg, '=') == at-1
}
