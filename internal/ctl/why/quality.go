package why

import (
	"reprise/internal/ctl/app"
	"reprise/internal/ctl/saving"
	"reprise/ledger"
	"reprise/ledger/decide"
)

// QualityWarnings says where chains did worse that were resumed, or that were sent deltas.
func QualityWarnings(a *app.App, l *ledger.Ledger, f ledger.Filter) ([]string, error) {
	courses, err := l.Courses(f, decide.Millis(a.Now.UnixMilli()))
	return saving.NewQuality(courses).Warnings(), err
}
