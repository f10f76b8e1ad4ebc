package doctor

import (
	"slices"

	"reprise/internal/ctl/app"
	"reprise/internal/ctl/setup"
	"reprise/internal/ctl/why"
	"reprise/ledger/history"
)

// restatedCalls is how many of the latest calls are looked at.
const restatedCalls = 100

// checkRestated names the models of claude whose sessions the latest calls make so that a resume will miss the provider's cache.
func checkRestated(a *app.App) []setup.Check {
	l, err := a.OpenLedger()
	if err != nil {
		return nil // the check of the ledger says why
	}
	defer l.Close()
	calls, err := history.LatestInvocations(l, history.Wanted{Limit: restatedCalls})
	if err != nil {
		return nil
	}
	var found []string
	for _, i := range calls {
		if why.Restates(i) && !slices.Contains(found, i.Model) {
			found = append(found, i.Model)
		}
	}
	slices.Sort(found)
	var checks []setup.Check
	for _, model := range found {
		checks = append(checks, setup.Note("claude cache", why.RestatedWords(model),
			"nothing needs to be done: resuming stops where it costs more (dearer); shimctl stats shows what resumed calls found"))
	}
	return checks
}

// checkQuality warns where resumed chains did worse, in the calls of the last days.
func checkQuality(a *app.App) (checks []setup.Check) {
	l, err := a.OpenOrEmpty()
	if err != nil {
		return nil // the check of the ledger says so
	}
	defer l.Close()
	var warnings []string
	latest, err := app.Summed(l, history.Filter{}, a.Recent())
	if err == nil {
		warnings, err = why.QualityWarnings(a, l, latest)
	}
	if err != nil {
		return []setup.Check{setup.Problem("quality", err.Error(), "shimctl doctor --fix")}
	}
	for _, says := range warnings {
		checks = append(checks, setup.Note("quality", says, "shimctl stats"))
	}
	return checks
}
