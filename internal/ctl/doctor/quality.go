package doctor

import (
	"reprise/internal/ctl/app"
	"reprise/internal/ctl/setup"
	"reprise/internal/ctl/why"
	"reprise/ledger"
	"reprise/ledger/decide"
)

// checkQuality warns where resumed chains did worse, in the calls of the last days.
func checkQuality(a *app.App) (checks []setup.Check) {
	l, err := a.OpenOrEmpty()
	if err != nil {
		return nil // the check of the ledger says so
	}
	defer l.Close()
	warnings, err := why.QualityWarnings(a, l, ledger.Since(decide.Millis(a.Now.AddDate(0, 0, -app.RecentDays).UnixMilli())))
	if err != nil {
		return []setup.Check{setup.Problem("quality", err.Error(), "shimctl doctor --fix")}
	}
	for _, says := range warnings {
		checks = append(checks, setup.Note("quality", says, "shimctl stats"))
	}
	return checks
}
