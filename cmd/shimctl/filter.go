package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/reason"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A filterFlags is what the flags of a view say about the calls that it shows.
type filterFlags struct {
	since, until    string
	tool, directory string
	task, role      string
	reason, class   string
	outcome, from   string // from is the chain
}

// filterNames are the flags, in the order of filterFlags.
var filterNames = []string{"since", "until", "tool", "directory", "task", "role", "reason", "class", "outcome", "chain"}

// filterMark marks the flags that are filters, for help.
const filterMark = "filter"

func isFilter(f *pflag.Flag) bool {
	_, is := f.Annotations[filterMark]
	return is
}

// filterFlag adds the flags by which every view selects calls.
func (a *app) filterFlag(c *cobra.Command) *filterFlags {
	var f filterFlags
	flags := c.Flags()
	flags.StringVar(&f.since, "since", "", "only calls since `WHEN`: "+whenWords)
	flags.StringVar(&f.until, "until", "", "only calls before `WHEN`")
	flags.StringVar(&f.tool, "tool", "", "only calls of this `TOOL`")
	flags.StringVar(&f.directory, "directory", "", "only calls in `DIR` or below it")
	flags.StringVar(&f.task, "task", "", "only calls of this `TASK`")
	flags.StringVar(&f.role, "role", "", "only calls of this `ROLE`")
	flags.StringVar(&f.reason, "reason", "", "only calls with this `REASON`")
	flags.StringVar(&f.class, "class", "", "only calls with a reason of this `CLASS`, such as age")
	flags.StringVar(&f.outcome, "outcome", "", "only calls with this `OUTCOME`: "+strings.Join(ledger.Outcomes, ", "))
	flags.StringVar(&f.from, "chain", "", "only calls of `CHAIN`: its number, task or the start of a session's ID")
	for name, values := range map[string][]string{"since": nil, "until": nil, "tool": rewrite.Names, "task": nil, "role": nil,
		"reason": reasonCompletions(), "class": classNames, "outcome": ledger.Outcomes} {
		completeFlag(c, name, values)
	}
	if err := c.RegisterFlagCompletionFunc("chain", a.completeChain); err != nil {
		panic(err) // there is no such flag
	}
	for _, name := range filterNames {
		if err := flags.SetAnnotation(name, filterMark, nil); err != nil {
			panic(err) // there is no such flag
		}
	}
	check := c.PreRunE
	c.PreRunE = func(c *cobra.Command, args []string) error {
		if _, err := a.filter(nil, &f); err != nil {
			return err
		}
		if check == nil {
			return nil
		}
		return check(c, args)
	}
	return &f
}

// filter returns the filter that the flags describe. The ledger is needed for a chain only; without one, the
// chain is not looked up.
func (a *app) filter(l *ledger.Ledger, f *filterFlags) (ledger.Filter, error) {
	out := ledger.Filter{Tool: f.tool, Task: f.task, Role: f.role, Reason: reason.Code(f.reason), Class: reason.Class(f.class), Outcome: f.outcome}
	period, err := a.period(f.since, f.until)
	if err != nil {
		return out, err
	}
	if period != ledger.Always {
		out.Period = period
	}
	switch {
	case f.tool != "" && !slices.Contains(rewrite.Names, f.tool):
		return out, usageError{fmt.Sprintf("%q is not a tool", f.tool), "one of " + strings.Join(rewrite.Names, ", ")}
	case f.class != "" && !slices.Contains(classNames, f.class):
		return out, usageError{fmt.Sprintf("there is no class %q", f.class), "one of " + strings.Join(classNames, ", ")}
	case f.outcome != "" && !slices.Contains(ledger.Outcomes, f.outcome):
		return out, usageError{fmt.Sprintf("there is no outcome %q", f.outcome), "one of " + strings.Join(ledger.Outcomes, ", ")}
	}
	if err := checkReason(out.Reason); err != nil {
		return out, err
	}
	if f.directory != "" {
		if out.Directory, err = filepath.Abs(f.directory); err != nil {
			return out, fmt.Errorf("find %s: %w", f.directory, err)
		}
	}
	if f.from != "" && l != nil {
		if number, err := strconv.ParseInt(f.from, 10, 64); err == nil {
			out.Chain = number // it may have no calls any more
			return out, nil
		}
		found, err := findChain(l, f.from)
		if err != nil {
			return out, err
		}
		out.Chain = found.ID
	}
	return out, nil
}

// period reads a time since when and one until when. An empty period is an error.
func (a *app) period(since, until string) (ledger.Period, error) {
	p := ledger.Always
	for _, end := range []struct {
		text string
		at   *decide.Millis
	}{{since, &p.Since}, {until, &p.Until}} {
		if end.text == "" {
			continue
		}
		at, err := a.sinceTime(end.text)
		if err != nil {
			return p, err
		}
		*end.at = decide.Millis(at.UnixMilli())
	}
	if p.Since >= p.Until {
		return p, usageError{fmt.Sprintf("no time is since %s and before %s", since, until), "--since takes the earlier end, --until the later one"}
	}
	return p, nil
}

// given returns the name of the first flag that is set, "" if none is.
func (f *filterFlags) given() string {
	for i, value := range []string{f.since, f.until, f.tool, f.directory, f.task, f.role, f.reason, f.class, f.outcome, f.from} {
		if value != "" {
			return filterNames[i]
		}
	}
	return ""
}
