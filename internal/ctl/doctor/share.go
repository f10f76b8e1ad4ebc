package doctor

import (
	"cmp"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"

	"reprise/internal/ctl/app"
	"reprise/internal/ctl/setup"
	"reprise/ledger/history"
	"reprise/rewrite"
	"reprise/rewrite/reason"
)

// share prints a report that can be pasted into an issue. Every word in it is one of this program's
// own: names of tools and checks, reasons and numbers. The finding of a check names paths, so it is
// left out.
func share(a *app.App, m machine, checks []setup.Check) error {
	fmt.Fprintf(a.Stdout, "%s, %s/%s\n\n", app.Version(), runtime.GOOS, runtime.GOARCH)
	for i, p := range m.places {
		if p.Real != "" {
			how := "behind the shim"
			if !p.Ours {
				how = "not behind the shim"
			}
			fmt.Fprintf(a.Stdout, "%s %s, %s\n", p.Name,
				cmp.Or(versionNumber.FindString(m.versions[i]), "of an unknown version"), how)
		}
	}
	fmt.Fprintln(a.Stdout)
	for _, c := range checks {
		if c.Result != "ok" {
			fmt.Fprintf(a.Stdout, "%s: %s\n", c.Result, c.Name)
		}
	}
	calls, err := sharedCalls(a)
	fmt.Fprintf(a.Stdout, "\n%s", calls)
	return err
}

// sharedCalls counts the calls of each kind in the last days, also those that were passed through.
func sharedCalls(a *app.App) (string, error) {
	l, err := a.OpenOrEmpty()
	if err != nil {
		return "", nil // the check of the ledger says so
	}
	defer l.Close()
	latest, err := app.Summed(l, history.Filter{}, a.Recent())
	if err != nil {
		return "", err
	}
	tallies, err := history.Tallies(l, latest)
	if err != nil {
		return "", err
	}
	passed, err := history.PassthroughRows(l, history.Since(a.Recent()))
	if err != nil {
		return "", err
	}
	calls := map[string]int64{}
	count := func(tool string, n int64, words ...string) {
		kind := own(tool, rewrite.Names)
		for _, word := range words {
			if word != "" {
				kind += " " + word
			}
		}
		calls[kind] += n
	}
	for _, t := range tallies {
		count(t.Tool, t.Calls, own(string(t.Mode), modes), code(t.Reason), code(t.FellBack),
			own(t.Outcome, outcomes))
	}
	for _, p := range passed {
		count(p.Tool, p.Calls, string(rewrite.Passthrough), code(p.Reason))
	}
	var text strings.Builder
	for _, kind := range slices.Sorted(maps.Keys(calls)) {
		fmt.Fprintf(&text, "%6d %s\n", calls[kind], kind)
	}
	return text.String(), nil
}

var outcomes = []string{"ok", "failed", "unread", "killed"}

var modes = []string{string(rewrite.Passthrough), string(rewrite.Observe), string(rewrite.Fresh),
	string(rewrite.Resume), string(rewrite.Fork)}

// other stands for a word that is not one of ours: the ledger can be damaged, or a newer program's.
const other = "other"

func own(word string, words []string) string {
	if word == "" || slices.Contains(words, word) {
		return word
	}
	return other
}

func code(c reason.Code) string {
	if _, ok := c.Lookup(); c == "" || ok {
		return string(c)
	}
	return other
}
