package app

import (
	"fmt"
	"slices"
	"strings"

	"reprise/rewrite"
	"reprise/rewrite/reason"
)

// PassedHere says which variable of this shell has every call that is made from it passed through,
// "" for none.
func (a *App) PassedHere() string {
	if a.Getenv("REPRISE_OFF") == "1" {
		return fmt.Sprintf("in this shell every call is passed through: REPRISE_OFF is set (%s)",
			reason.SwitchedOff)
	}
	var variable string
	var names []string
	for _, name := range rewrite.Names {
		tool, _ := rewrite.Lookup(name)
		for _, nested := range append(slices.Clone(tool.Descriptor().Nested), rewrite.NestedEnv) {
			if a.Getenv(nested) != "" && (variable == "" || variable == nested) {
				variable, names = nested, append(names, name)
				break
			}
		}
	}
	if variable == "" {
		return ""
	}
	return fmt.Sprintf("in this shell every call of %s is passed through: %s is set (%s)",
		strings.Join(names, ", "), variable, reason.Nested)
}
