package app

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"reprise/config"
	"reprise/internal/ctl/view"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/ledger/history"
	"reprise/rewrite"
	"reprise/rewrite/reason"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// FilterFlags are the values of the flags of a view that select the calls that it shows, by the
// flags' names.
type FilterFlags map[string]*string

// filters are these flags.
var filters = []struct {
	name, usage string
	values      []string // completions
}{
	{"since", "only calls since `WHEN`: " + WhenWords, nil},
	{"tool", "only calls of this `TOOL`", rewrite.Names},
	{"directory", "only calls in `DIR` or below it", nil},
	{"task", "only calls of this `TASK`", nil},
	{"role", "only calls of this `ROLE`", nil},
	{"reason", "only calls with this `REASON`", ReasonCompletions()},
	{"chain", "only calls of `CHAIN`: its name, as c12, task or the start of a session's ID", nil},
}

// filterMark marks the flags that are filters, for help.
const filterMark = "filter"

// IsFilter reports whether a flag selects calls.
func IsFilter(f *pflag.Flag) bool {
	_, is := f.Annotations[filterMark]
	return is
}

// FilterFlag adds the flags that every view selects calls by.
func FilterFlag(c *cobra.Command) FilterFlags {
	f := FilterFlags{}
	for _, flag := range filters {
		f[flag.name] = c.Flags().String(flag.name, "", flag.usage)
		c.Flags().Lookup(flag.name).Annotations = map[string][]string{filterMark: nil}
		if flag.name != "directory" { // files complete it
			CompleteFlag(c, flag.name, flag.values)
		}
	}
	return f
}

// Filter returns the filter that the flags describe.
func Filter(a *App, l *ledger.Ledger, f FilterFlags) (history.Filter, error) {
	since, err := a.sinceTime(*f["since"])
	out := history.Filter{Since: since, Tool: *f["tool"], Task: *f["task"], Role: *f["role"],
		Reason: reason.Code(*f["reason"])}
	if err != nil {
		return out, err
	}
	if out.Tool != "" {
		if err := CheckTools(out.Tool); err != nil {
			return out, err
		}
	}
	if err := CheckReason(out.Reason); err != nil {
		return out, err
	}
	if directory := *f["directory"]; directory != "" {
		if out.Directory, err = filepath.Abs(directory); err != nil {
			return out, fmt.Errorf("find %s: %w", directory, err)
		}
	}
	if chain := *f["chain"]; chain != "" {
		chains, err := FindChains(l, chain)
		if err == nil && len(chains) > 1 {
			err = several(chain, chains)
		}
		if err != nil {
			return out, err
		}
		out.Chain = chains[0].ID
	}
	return out, nil
}

// CheckTools refuses a name that is no tool's.
func CheckTools(names ...string) error {
	for _, name := range names {
		if !slices.Contains(rewrite.Names, name) {
			return Usage(fmt.Sprintf("%q is not a tool", name),
				"one of "+strings.Join(rewrite.Names, ", "))
		}
	}
	return nil
}

// CheckReason refuses a reason that there is not.
func CheckReason(r reason.Code) error {
	if _, known := r.Lookup(); known || r == "" {
		return nil
	}
	known := view.Mapped(reason.Table, func(row reason.Row) string {
		return string(row.Code)
	})
	hint := "the reasons are " + strings.Join(known, ", ")
	if near := config.Nearest(string(r), known); near != "" {
		hint = fmt.Sprintf("did you mean %q", near)
	}
	return Usage(fmt.Sprintf("there is no reason %q", r), hint)
}

// ReasonCompletions are the reasons with their meanings, for a shell.
func ReasonCompletions() []string {
	list := view.Mapped(reason.Table, func(row reason.Row) string {
		return string(row.Code) + "\t" + row.Meaning
	})
	slices.Sort(list)
	return list
}

// mostSummed is how many calls are summed up where no flag says which.
const mostSummed = 50_000

// Summed narrows a filter without a time to the latest calls if there are more than can be summed up
// in a moment, and says so. A filter by chain or task is left as it is.
func (a *App) Summed(l *ledger.Ledger, f history.Filter) (history.Filter, error) {
	if f.Since != 0 || f.Chain != 0 || f.Task != "" {
		return f, nil
	}
	var err error
	if f.Since, err = history.SinceLatest(l, mostSummed); f.Since != 0 {
		a.Stderr.Notice("these are the latest " + view.Thousands(mostSummed) +
			" calls; --since with an earlier date takes more")
	}
	return f, err
}

// SinceWords says when calls began at the earliest, as in "since 2026-01-31 00:00".
func SinceWords(since decide.Millis) string {
	return "since " + since.Time().Format(view.MinuteFormat)
}

// CallsSince names the calls that figures are of, as in "calls since 2026-11-20 00:00".
func CallsSince(since decide.Millis) string {
	if since == 0 {
		return "all calls"
	}
	return "calls " + SinceWords(since)
}

// NoCallMade says that a filter selects no managed call.
func NoCallMade(f history.Filter) string {
	if f == (history.Filter{}) {
		return "no managed call has been made yet"
	}
	return "no managed call has been made that the flags select"
}

// WhenWords are the forms of time that sinceTime reads.
const WhenWords = "12h, 7d or 1w ago, 2026-01-31 in UTC, or RFC 3339"

// sinceTime reads how long ago, since which day or which moment; "" is the beginning.
func (a *App) sinceTime(text string) (decide.Millis, error) {
	if text == "" {
		return 0, nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if at, err := time.Parse(layout, text); err == nil {
			return decide.MillisOf(at), nil
		}
	}
	if d, err := config.ParseDuration(text); err == nil && d >= 0 {
		return decide.MillisOf(a.Now.Add(-d)), nil
	}
	return 0, Usage(fmt.Sprintf("%q is not a time", text), WhenWords)
}

// A Listing is the flags of a command that lists things.
type Listing struct {
	AsJSON bool
	Filter FilterFlags
	limit  uint
}

// ListFlags adds --json, --limit and the filter to a command that lists things.
func ListFlags(c *cobra.Command, schema string) *Listing {
	var list Listing
	JSONFlag(c, &list.AsJSON, schema)
	LimitFlag(c, &list.limit, "show at most `N`, 0 for all")
	list.Filter = FilterFlag(c)
	return &list
}

// LimitFlag adds --limit, which goes with the filter.
func LimitFlag(c *cobra.Command, limit *uint, usage string) {
	c.Flags().UintVarP(limit, "limit", "n", 50, usage)
}

// Query returns the query of the rows that the flags select.
func (list *Listing) Query(a *App, l *ledger.Ledger) (history.Query, error) {
	filter, err := Filter(a, l, list.Filter)
	return history.Query{Filter: filter, Limit: int(list.limit), Lasting: a.Lasting()}, err
}
