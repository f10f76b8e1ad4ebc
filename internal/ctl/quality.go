package ctl

import (
	"fmt"

	"reprise/internal/ctl/app"
	"reprise/internal/ctl/saving"
	"reprise/internal/ctl/view"
)

// A qualityFigure is a figure of one side.
type qualityFigure struct {
	title, unit string
	of          func(saving.QualityArm) saving.Mean
}

var qualityFigures = []qualityFigure{
	{"calls until a chain ended", "calls", func(a saving.QualityArm) saving.Mean { return a.Calls }},
	{"chains with a failed call", "share", func(a saving.QualityArm) saving.Mean { return a.Failed }},
	{"time of a chain's calls", "ms", func(a saving.QualityArm) saving.Mean { return a.Millis }},
	{"resumes that the tool took", "share", func(a saving.QualityArm) saving.Mean { return a.Accepted }},
}

// printQuality prints how resumed chains went and how others did, and the same week by week.
func printQuality(a *app.App, q saving.Quality) {
	if q.Resumed.Chains == 0 {
		return
	}
	how := "kept fresh by their second call, which was not by chance"
	if q.Measured {
		how = "held out"
	}
	fmt.Fprintln(a.Stdout)
	a.Stdout.Sentences("QUALITY", view.Plain, fmt.Sprintf(
		"Whether the work went as well, by chains that have ended, whose first call ended well and that had another one: %s resumed, %s %s.",
		view.Count(q.Resumed.Chains, "chain"), view.Count(q.Fresh.Chains, "chain"), how))
	fmt.Fprintln(a.Stdout)
	qualityTable(a, "FRESH", q.Fresh, "RESUMED", q.Resumed)
	if q.Whole.Chains > 0 && q.Delta.Chains > 0 {
		fmt.Fprintln(a.Stdout)
		a.Stdout.Heading(fmt.Sprintf("resumed chains that were sent whole prompts (%d) and only what is new (%d)", q.Whole.Chains, q.Delta.Chains))
		qualityTable(a, "WHOLE", q.Whole, "DELTA", q.Delta)
	}
	if len(q.Weeks) > 1 {
		fmt.Fprintln(a.Stdout)
		weeksTable(a, q.Weeks)
	}
	if warnings := q.Warnings(); len(warnings) > 0 {
		fmt.Fprintln(a.Stdout)
		a.Stdout.Sentences("WARNING", view.Warn, warnings...)
	}
}

func qualityTable(a *app.App, name string, one saving.QualityArm, otherName string, other saving.QualityArm) {
	t := view.NewTable("FIGURE", name, otherName, "INTERVAL-"+name, "INTERVAL-"+otherName)
	for _, f := range qualityFigures {
		t.Add(view.TextCell(f.title), view.AmountCell(f.unit, f.of(one).Mean), view.AmountCell(f.unit, f.of(other).Mean),
			intervalCell(f.unit, f.of(one)), intervalCell(f.unit, f.of(other)))
	}
	t.Print(a.Stdout)
}

func weeksTable(a *app.App, weeks []saving.QualityWeek) {
	t := view.NewTable("WEEK", "RESUMED", "CALLS", "FAILED", "TOOK", "FRESH", "FRESH-CALLS", "FRESH-FAILED")
	for _, w := range weeks {
		r, f := w.Resumed, w.Fresh
		t.Add(view.TextCell(w.Monday), view.NumberCell(r.Chains), view.AmountCell("calls", r.Calls.Mean), view.AmountCell("share", r.Failed.Mean),
			view.AmountCell("share", r.Accepted.Mean), view.NumberCell(f.Chains), view.AmountCell("calls", f.Calls.Mean), view.AmountCell("share", f.Failed.Mean))
	}
	t.Print(a.Stdout)
}

type qualityReport struct {
	Measured bool                 `json:"measured" doc:"whether the fresh chains were held out; otherwise what kept them fresh may explain a difference"`
	Resumed  saving.QualityArm    `json:"resumed" doc:"chains that were resumed"`
	Fresh    saving.QualityArm    `json:"fresh" doc:"chains that stayed fresh"`
	Whole    *saving.QualityArm   `json:"whole,omitempty" doc:"of the resumed chains, those that were sent whole prompts for comparison"`
	Delta    *saving.QualityArm   `json:"delta,omitempty" doc:"of the resumed chains, those that they are compared with"`
	Weeks    []saving.QualityWeek `json:"weeks" doc:"the same by the week in which the chains began"`
	Warnings []string             `json:"warnings" doc:"where resumed chains did worse"`
}

func qualityJSON(q saving.Quality) qualityReport {
	r := qualityReport{Measured: q.Measured, Resumed: q.Resumed, Fresh: q.Fresh, Weeks: append([]saving.QualityWeek{}, q.Weeks...),
		Warnings: append([]string{}, q.Warnings()...)}
	if q.Whole.Chains+q.Delta.Chains > 0 {
		r.Whole, r.Delta = &q.Whole, &q.Delta
	}
	return r
}
