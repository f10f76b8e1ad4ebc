package ctl

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"reprise/config"
	"reprise/internal/ctl/app"
	"reprise/internal/ctl/doctor"
	"reprise/internal/ctl/view"
	"reprise/internal/ctl/why"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/ledger/history"
	"reprise/rewrite/reason"
	"reprise/shim"
	"reprise/shim/binary"
)

// A warning is about a reason that keeps calls from being resumed, or soon will.
type warning struct {
	Kind    string `json:"kind" doc:"configuration, shell, ledger, version, context, dearer, cache, cache_ttl, refused, failed or price"`
	Chain   int64  `json:"chain,omitempty" doc:"its chain"`
	Tool    string `json:"tool,omitempty" doc:"name of the tool"`
	Rule    string `json:"rule,omitempty" doc:"the rule"`
	Model   string `json:"model,omitempty" doc:"the requested model; of a price, the model that answered"`
	Says    string `json:"text" doc:"the warning"`
	Command string `json:"command" doc:"the command that explains it"`
	urgency int    // 1 if no call is managed: this comes first
}

func (w warning) words() string { return w.Says }

// versionWarnings returns warnings on versions of tools that the shim can do less with.
func versionWarnings(l *ledger.Ledger) (warnings []warning, err error) {
	notes, err := doctor.Versions(l)
	for _, n := range notes {
		warnings = append(warnings, warning{Kind: "version", Tool: n.Tool, Says: n.Says,
			Command: "shimctl doctor"})
	}
	return warnings, err
}

// untestedWarnings returns a warning on each tool of these chains with a version that is newer than
// all tested ones.
func untestedWarnings(a *app.App, c config.Config, chains []history.ChainRow) (warnings []warning) {
	known := map[string]bool{}
	for _, chain := range chains {
		if known[chain.Tool] {
			continue
		}
		known[chain.Tool] = true
		real := binary.Locate(a.Environ, a.Own, chain.Tool, c.Tools[chain.Tool].Path).Real
		if says := doctor.Untested(chain.Tool,
			cmp.Or(binary.InstalledVersion(real), view.Newest(chain).Version), real,
			a.Now); says != "" {
			warnings = append(warnings, warning{Kind: "version", Tool: chain.Tool,
				Says: chain.Tool + " " + says, Command: "shimctl doctor"})
		}
	}
	return warnings
}

// contextWarnings returns warnings on sessions that will soon be too full to resume.
func contextWarnings(c config.Config, chains []history.ChainRow) []warning {
	limits := decide.Limits{ContextShare: c.ContextLimit, UnknownWindow: shim.UnknownWindow}
	warnings := []warning{}
	for _, c := range chains {
		if s := view.Newest(c); s.State == decide.Live &&
			limits.NearlyFull(s.Context, why.SessionModel(s)) {
			warnings = append(warnings, warning{Kind: "context", Chain: c.ID, Tool: c.Tool,
				Rule: c.Last.Rule, Command: fmt.Sprintf("shimctl show c%d", c.ID),
				Says: fmt.Sprintf("chain c%d: %s", c.ID,
					why.NearlyFull(s.Context, why.SessionModel(s), limits.ContextShare))})
		}
	}
	return warnings
}

func decisionWarnings(calls []ledger.Record) (warnings []warning) {
	refused, failed, dearer := 0, 0, 0
	for _, i := range calls {
		if i.FellBack != "" && i.FellBack != reason.AddedRefused {
			refused++
		}
		if i.Outcome == "failed" {
			failed++
		}
		if i.Reason == reason.Dearer {
			dearer++
		}
	}
	last := view.Count(int64(len(calls)), "call")
	if refused > 0 {
		warnings = append(warnings, warning{Kind: "refused", Command: "shimctl log",
			Says: fmt.Sprintf("%d of the last %s could not be resumed as meant", refused, last)})
	}
	if dearer > 0 {
		warnings = append(warnings, warning{Kind: "dearer", Command: "shimctl why dearer",
			Says: fmt.Sprintf("%d of the last %s were fresh because resumes cost more", dearer,
				last)})
	}
	if 2*failed > len(calls) {
		warnings = append(warnings, warning{Kind: "failed", Command: "shimctl log",
			Says: fmt.Sprintf("%d of the last %s failed", failed, last)})
	}
	return warnings
}

// priceWarnings looks for models without a known price, and so without a cost.
func priceWarnings(a *app.App, b view.Bill) (warnings []warning) {
	for _, model := range slices.Sorted(maps.Keys(b.Unlisted)) {
		warnings = append(warnings, warning{Kind: "price", Model: model,
			Command: "shimctl stats --by model",
			Says: fmt.Sprintf("the cost of %s is not known: %s",
				view.Count(b.Unlisted[model], "call"), a.MissingPrice(model))})
	}
	return warnings
}
