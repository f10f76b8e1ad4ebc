package doctor

import (
	"maps"
	"slices"

	"reprise/internal/ctl/app"
	"reprise/internal/ctl/setup"
	"reprise/internal/ctl/why"
	"reprise/ledger/history"
)

// restatedCalls is how many of the latest calls are looked at.
const restatedCalls = 100

// checkCalls names the versions with calls that have shown that the shim can do less with them, and
// the models of claude with latest sessions that a resume will not find in the provider's cache.
func checkCalls(a *app.App) (checks []setup.Check) {
	l, err := a.OpenOrEmpty()
	if err != nil {
		return nil // the check of the ledger says why
	}
	defer l.Close()
	found := map[string]bool{}
	if calls, err := history.LatestCalls(l, history.Query{Limit: restatedCalls}); err == nil {
		for _, i := range calls {
			found[i.Model] = found[i.Model] || why.Restates(i)
		}
	}
	notes, _ := why.Versions(l) // the check of the ledger names the error
	for _, n := range notes {
		checks = append(checks, setup.Note(n.Tool+" output", n.Says, n.Fix))
	}
	for _, model := range slices.Sorted(maps.Keys(found)) {
		if found[model] {
			checks = append(checks, setup.Note("claude cache", why.RestatedWords(model),
				"nothing needs to be done: resuming stops where it costs more (dearer); shimctl "+
					"stats shows what resumed calls found"))
		}
	}
	return checks
}
