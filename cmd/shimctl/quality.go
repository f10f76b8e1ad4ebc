package main

import (
	"fmt"

	"reprise/internal/saving"
	"reprise/internal/ui"
	"reprise/ledger"
	"reprise/ledger/decide"
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
func (a *app) printQuality(q saving.Quality) {
	if q.Resumed.Chains == 0 {
		return
	}
	how := "kept fresh by their second call, which was not by chance"
	if q.Measured {
		how = "held out"
	}
	fmt.Fprintln(a.stdout)
	a.stdout.Sentences("QUALITY", ui.Plain, fmt.Sprintf(
		"Whether the work went as well, by chains that have ended, whose first call ended well and that had another one: %s resumed, %s %s.",
		ui.Count(q.Resumed.Chains, "chain"), ui.Count(q.Fresh.Chains, "chain"), how))
	fmt.Fprintln(a.stdout)
	a.qualityTable("FRESH", q.Fresh, "RESUMED", q.Resumed)
	if q.Whole.Chains > 0 && q.Delta.Chains > 0 {
		fmt.Fprintln(a.stdout)
		a.stdout.Heading(fmt.Sprintf("resumed chains that were sent whole prompts (%d) and only what is new (%d)", q.Whole.Chains, q.Delta.Chains))
		a.qualityTable("WHOLE", q.Whole, "DELTA", q.Delta)
	}
	if len(q.Weeks) > 1 {
		fmt.Fprintln(a.stdout)
		a.weeksTable(q.Weeks)
	}
	if warnings := q.Warnings(); len(warnings) > 0 {
		fmt.Fprintln(a.stdout)
		a.stdout.Sentences("WARNING", ui.Warn, warnings...)
	}
}

func (a *app) qualityTable(name string, one saving.QualityArm, otherName string, other saving.QualityArm) {
	t := ui.NewTable("FIGURE", name, otherName, "INTERVAL-"+name, "INTERVAL-"+otherName)
	for _, f := range qualityFigures {
		t.Add(ui.TextCell(f.title), ui.AmountCell(f.unit, f.of(one).Mean), ui.AmountCell(f.unit, f.of(other).Mean),
			intervalCell(f.unit, f.of(one)), intervalCell(f.unit, f.of(other)))
	}
	t.Print(a.stdout)
}

func (a *app) weeksTable(weeks []saving.QualityWeek) {
	t := ui.NewTable("WEEK", "RESUMED", "CALLS", "FAILED", "TOOK", "FRESH", "FRESH-CALLS", "FRESH-FAILED")
	for _, w := range weeks {
		r, f := w.Resumed, w.Fresh
		t.Add(ui.TextCell(w.Monday), ui.NumberCell(r.Chains), ui.AmountCell("calls", r.Calls.Mean), ui.AmountCell("share", r.Failed.Mean),
			ui.AmountCell("share", r.Accepted.Mean), ui.NumberCell(f.Chains), ui.AmountCell("calls", f.Calls.Mean), ui.AmountCell("share", f.Failed.Mean))
	}
	t.Print(a.stdout)
}

// qualityWarnings returns warnings where chains did worse that were resumed, or that were sent deltas.
func (a *app) qualityWarnings(l *ledger.Ledger, f ledger.Filter) (warnings []warning, err error) {
	courses, err := l.Courses(f, decide.Millis(a.now.UnixMilli()))
	for _, says := range saving.NewQuality(courses).Warnings() {
		warnings = append(warnings, warning{Kind: "quality", Says: says})
	}
	return warnings, err
}

// checkQuality warns of the same, in the calls of the last days.
func (a *app) checkQuality() (checks []check) {
	l, err := a.openOrEmpty()
	if err != nil {
		return nil // the check of the ledger says so
	}
	defer l.Close()
	warnings, err := a.qualityWarnings(l, ledger.Since(decide.Millis(a.now.AddDate(0, 0, -statusDays).UnixMilli())))
	if err != nil {
		return []check{{"quality", "problem", err.Error(), "shimctl doctor --fix"}}
	}
	for _, w := range warnings {
		checks = append(checks, check{"quality", "note", w.Says, "shimctl stats"})
	}
	return checks
}

type qualityReport struct {
	Measured bool                `json:"measured" doc:"whether the fresh chains were held out; otherwise what kept them fresh may explain a difference"`
	Resumed  qualityArmReport    `json:"resumed" doc:"chains that were resumed"`
	Fresh    qualityArmReport    `json:"fresh" doc:"chains that stayed fresh"`
	Whole    *qualityArmReport   `json:"whole,omitempty" doc:"of the resumed chains, those that were sent whole prompts for comparison"`
	Delta    *qualityArmReport   `json:"delta,omitempty" doc:"of the resumed chains, those that they are compared with"`
	Weeks    []qualityWeekReport `json:"weeks" doc:"the same by the week in which the chains began"`
	Warnings []string            `json:"warnings" doc:"where resumed chains did worse"`
}

type qualityArmReport struct {
	Chains   int64      `json:"chains" doc:"chains that have ended, whose first call ended well and that had another one"`
	Calls    meanReport `json:"calls" doc:"calls of a chain until it ended"`
	Failed   meanReport `json:"failed_share" doc:"share of the chains with a failed call"`
	MS       meanReport `json:"duration_ms" doc:"time of a chain's calls together"`
	Tried    int64      `json:"resumes_tried" doc:"resumes that were tried"`
	FellBack int64      `json:"resumes_given_up" doc:"of these, those that the tool refused, so that the call ran fresh"`
	Accepted meanReport `json:"accepted_share" doc:"share of the resumes that the tool took"`
}

type qualityWeekReport struct {
	Week    string           `json:"week" doc:"its Monday"`
	Resumed qualityArmReport `json:"resumed" doc:"chains that were resumed"`
	Fresh   qualityArmReport `json:"fresh" doc:"chains that stayed fresh"`
}

func qualityJSON(q saving.Quality) qualityReport {
	r := qualityReport{Measured: q.Measured, Resumed: qualityArmJSON(q.Resumed), Fresh: qualityArmJSON(q.Fresh), Weeks: []qualityWeekReport{},
		Warnings: append([]string{}, q.Warnings()...)}
	for _, w := range q.Weeks {
		r.Weeks = append(r.Weeks, qualityWeekReport{w.Monday, qualityArmJSON(w.Resumed), qualityArmJSON(w.Fresh)})
	}
	if q.Whole.Chains+q.Delta.Chains > 0 {
		whole, delta := qualityArmJSON(q.Whole), qualityArmJSON(q.Delta)
		r.Whole, r.Delta = &whole, &delta
	}
	return r
}

func qualityArmJSON(a saving.QualityArm) qualityArmReport {
	return qualityArmReport{a.Chains, meanJSON(a.Calls), meanJSON(a.Failed), meanJSON(a.Millis), a.Tried, a.FellBack, meanJSON(a.Accepted)}
}
