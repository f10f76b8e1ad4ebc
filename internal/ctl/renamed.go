package ctl

import (
	"slices"
	"strings"

	"reprise/internal/ctl/app"

	"github.com/spf13/cobra"
)

// A renamed is a name that a command had in the last release. For one release it says what to use now, and does that.
type renamed struct {
	old, now []string
	flag     [2]string // a flag's old name and its new one
}

var renamedCommands = []renamed{
	{old: []string{"chains"}, now: []string{"show"}},
	{old: []string{"sessions"}, now: []string{"show", "--sessions"}},
	{old: []string{"tail"}, now: []string{"log", "--follow"}, flag: [2]string{"--lines", "--limit"}},
	{old: []string{"top"}, now: []string{"status", "--watch"}},
	{old: []string{"ledger", "repair"}, now: []string{"doctor", "--fix"}},
}

// addRenamed adds the old names to the commands; help and completion do not list them.
func addRenamed(a *app.App, root *cobra.Command) {
	ledger := &cobra.Command{Use: "ledger", Hidden: true}
	app.MakeGroup(ledger)
	root.AddCommand(ledger)
	for _, r := range renamedCommands {
		parent := root
		if r.old[0] == ledger.Name() {
			parent = ledger
		}
		parent.AddCommand(&cobra.Command{
			Use: r.old[len(r.old)-1], Hidden: true, DisableFlagParsing: true,
			RunE: func(_ *cobra.Command, args []string) error {
				a.Stderr.Notice("shimctl " + strings.Join(r.old, " ") + " is now shimctl " + strings.Join(r.now, " "))
				for i, arg := range args {
					if rest, is := strings.CutPrefix(arg, r.flag[0]); is && r.flag[0] != "" {
						args[i] = r.flag[1] + rest
					}
				}
				root.SetArgs(slices.Concat(r.now, args))
				return root.Execute()
			},
		})
	}
}
