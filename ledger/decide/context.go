package decide

import (
	"cmp"

	"reprise/rewrite"
	"reprise/rewrite/models"
)

// nearlyFull is the part of the usable context where warnings begin.
const nearlyFull = 0.8

// NearlyFull reports whether the context of a session with a model is at or near the limit beyond which
// it is not resumed.
func (l Limits) NearlyFull(c rewrite.Context, model string) bool {
	return l.filled(c, model) >= nearlyFull
}

// Window returns the context window of a session with a model, in tokens. assumed reports that the tool
// did not report it.
func (l Limits) Window(c rewrite.Context, model string) (tokens int64, assumed bool) {
	if c.Limit != 0 {
		return c.Limit, false
	}
	return cmp.Or(models.Window(model), l.UnknownWindow), true
}

// filled returns the used part of a session's usable context. 1 is the limit, 0 means that there is
// none.
func (l Limits) filled(c rewrite.Context, model string) float64 {
	window, _ := l.Window(c, model)
	if window <= 0 || l.ContextShare <= 0 {
		return 0
	}
	return float64(c.Used) / (l.ContextShare * float64(window))
}
