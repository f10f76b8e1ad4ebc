package app

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"reprise/config"
	"reprise/internal/ctl/view"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/reason"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A FilterFlags is what the flags of a view say about the calls that it shows.
type FilterFlags struct {
	Since, Until    string
	Tool, Directory string
	Task, Role      string
	Reason, Class   string
	Outcome, From   string // From is the chain
}

// FilterNames are the flags, in the order of FilterFlags.
var FilterNames = []string{"since", "until", "tool", "directory", "task", "role", "reason", "class", "outcome", "chain"}

// filterMark marks the flags that are filters, for help.
const filterMark = "filter"

func IsFilter(f *pflag.Flag) bool {
	_, is := f.Annotations[filterMark]
	return is
}

// FilterFlag adds the flags by which every view selects calls.
func FilterFlag(a *App, c *cobra.Command) *FilterFlags {
	var f FilterFlags
	flags := c.Flags()
	flags.StringVar(&f.Since, "since", "", "only calls since `WHEN`: "+WhenWords)
	flags.StringVar(&f.Until, "until", "", "only calls before `WHEN`")
	flags.StringVar(&f.Tool, "tool", "", "only calls of this `TOOL`")
	flags.StringVar(&f.Directory, "directory", "", "only calls in `DIR` or below it")
	flags.StringVar(&f.Task, "task", "", "only calls of this `TASK`")
	flags.StringVar(&f.Role, "role", "", "only calls of this `ROLE`")
	flags.StringVar(&f.Reason, "reason", "", "only calls with this `REASON`")
	flags.StringVar(&f.Class, "class", "", "only calls with a reason of this `CLASS`, such as age")
	flags.StringVar(&f.Outcome, "outcome", "", "only calls with this `OUTCOME`: "+strings.Join(ledger.Outcomes, ", "))
	flags.StringVar(&f.From, "chain", "", "only calls of `CHAIN`: its number, task or the start of a session's ID")
	for name, values := range map[string][]string{"since": nil, "until": nil, "tool": rewrite.Names, "task": nil, "role": nil,
		"reason": ReasonCompletions(), "class": classNames, "outcome": ledger.Outcomes} {
		CompleteFlag(c, name, values)
	}
	if err := c.RegisterFlagCompletionFunc("chain", a.CompleteChain); err != nil {
		panic(err) // there is no such flag
	}
	for _, name := range FilterNames {
		if err := flags.SetAnnotation(name, filterMark, nil); err != nil {
			panic(err) // there is no such flag
		}
	}
	check := c.PreRunE
	c.PreRunE = func(c *cobra.Command, args []string) error {
		if _, err := Filter(a, nil, &f); err != nil {
			return err
		}
		if check == nil {
			return nil
		}
		return check(c, args)
	}
	return &f
}

// Filter returns the filter that the flags describe. The ledger is needed for a chain only; without one, the
// chain is not looked up.
func Filter(a *App, l *ledger.Ledger, f *FilterFlags) (ledger.Filter, error) {
	out := ledger.Filter{Tool: f.Tool, Task: f.Task, Role: f.Role, Reason: reason.Code(f.Reason), Class: reason.Class(f.Class), Outcome: f.Outcome}
	period, err := period(a, f.Since, f.Until)
	if err != nil {
		return out, err
	}
	if period != ledger.Always {
		out.Period = period
	}
	switch {
	case f.Tool != "" && !slices.Contains(rewrite.Names, f.Tool):
		return out, Usage(fmt.Sprintf("%q is not a tool", f.Tool), "one of "+strings.Join(rewrite.Names, ", "))
	case f.Class != "" && !slices.Contains(classNames, f.Class):
		return out, Usage(fmt.Sprintf("there is no class %q", f.Class), "one of "+strings.Join(classNames, ", "))
	case f.Outcome != "" && !slices.Contains(ledger.Outcomes, f.Outcome):
		return out, Usage(fmt.Sprintf("there is no outcome %q", f.Outcome), "one of "+strings.Join(ledger.Outcomes, ", "))
	}
	if err := CheckReason(out.Reason); err != nil {
		return out, err
	}
	if f.Directory != "" {
		if out.Directory, err = filepath.Abs(f.Directory); err != nil {
			return out, fmt.Errorf("find %s: %w", f.Directory, err)
		}
	}
	if f.From != "" && l != nil {
		if number, err := strconv.ParseInt(f.From, 10, 64); err == nil {
			out.Chain = number // it may have no calls any more
			return out, nil
		}
		found, err := FindChain(l, f.From)
		if err != nil {
			return out, err
		}
		out.Chain = found.ID
	}
	return out, nil
}

// period reads a time since when and one until when. An empty period is an error.
func period(a *App, since, until string) (ledger.Period, error) {
	p := ledger.Always
	for _, end := range []struct {
		text string
		at   *decide.Millis
	}{{since, &p.Since}, {until, &p.Until}} {
		if end.text == "" {
			continue
		}
		at, err := a.SinceTime(end.text)
		if err != nil {
			return p, err
		}
		*end.at = decide.Millis(at.UnixMilli())
	}
	if p.Since >= p.Until {
		return p, Usage(fmt.Sprintf("no time is since %s and before %s", since, until), "--since takes the earlier end, --until the later one")
	}
	return p, nil
}

// Given returns the name of the first flag that is set, "" if none is.
func (f *FilterFlags) Given() string {
	for i, value := range []string{f.Since, f.Until, f.Tool, f.Directory, f.Task, f.Role, f.Reason, f.Class, f.Outcome, f.From} {
		if value != "" {
			return FilterNames[i]
		}
	}
	return ""
}

// CheckReason refuses a reason that there is not.
func CheckReason(r reason.Code) error {
	if _, known := r.Lookup(); known || r == "" {
		return nil
	}
	var known []string
	for _, text := range reason.Table {
		known = append(known, string(text.Code))
	}
	hint := "docs/reference/reasons.md lists the reasons"
	if near := config.Nearest(string(r), known); near != "" {
		hint = fmt.Sprintf("did you mean %q", near)
	}
	return Usage(fmt.Sprintf("there is no reason %q", r), hint)
}

func ReasonCompletions() (list []string) {
	for _, text := range reason.Table {
		list = append(list, string(text.Code)+"\t"+text.Meaning)
	}
	slices.Sort(list)
	return list
}

// classNames are the classes of reasons.
var classNames = func() (list []string) {
	for _, c := range reason.Classes {
		list = append(list, string(c))
	}
	return list
}()

// PeriodWords says where the period begins and ends, as in " since 2026-01-31 00:00".
func PeriodWords(p ledger.Period) (words string) {
	if p.Since != ledger.Always.Since {
		words += " since " + p.Since.Time().Format(view.MinuteFormat)
	}
	if p.Until != ledger.Always.Until {
		words += " before " + p.Until.Time().Format(view.MinuteFormat)
	}
	return words
}

func FilterWords(f ledger.Filter) string {
	words := " yet"
	if p := f.Period; p != (ledger.Period{}) {
		words = ""
		if p.Since != ledger.Always.Since {
			words = " since " + p.Since.Time().Format(time.RFC3339)
		}
		if p.Until != ledger.Always.Until {
			words += " before " + p.Until.Time().Format(time.RFC3339)
		}
	}
	if f.Period = (ledger.Period{}); f != (ledger.Filter{}) {
		words += " that the flags select"
	}
	return words
}

// WhenWords say what SinceTime reads.
const WhenWords = "12h, 7d or 1w ago, 2026-01-31 in UTC, or RFC 3339"

// SinceTime reads how long ago, since which day or which moment; "" is the beginning.
func (a *App) SinceTime(text string) (time.Time, error) {
	if text == "" {
		return time.UnixMilli(0), nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, nil
		}
	}
	if d, err := config.ParseDuration(text); err == nil && d >= 0 {
		return a.Now.Add(-d), nil
	}
	return time.Time{}, Usage(fmt.Sprintf("%q is no time", text), WhenWords)
}
