// Package rule proposes rules for calls that were fresh, tries them on past calls, and adds them to the configuration.
//
// It never applies a rule to a running call. Its invariant: what a rule is said to change was found by replaying past calls through
// the same matching and the same decision as the shim's.
package rule

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"reprise/config"
	"reprise/internal/ctl/app"

	"github.com/spf13/cobra"
)

func Command(a *app.App) *cobra.Command {
	c := &cobra.Command{
		Use: "rule COMMAND", Short: "suggest rules, try them on past calls, and add them to the configuration",
		Long:                  "Suggests rules for calls in the ledger that were fresh, tries rules on past calls, and adds them to the configuration.",
		DisableFlagsInUseLine: true,
	}
	app.MakeGroup(c)
	c.AddCommand(suggestCommand(a), tryCommand(a), addCommand(a))
	return c
}

// readRules reads a file of rules; "-" is stdin. It returns the text as well.
func readRules(a *app.App, name string) (text string, rules []config.Rule, err error) {
	data, err := app.ReadInput(a, "rules", name)
	if err != nil {
		return "", nil, err
	}
	if name == "-" {
		name = "stdin"
	}
	rules, err = config.ParseRules(name, string(data), a.Getenv("HOME"))
	return string(data), rules, err
}

// findRules returns the rules of a file or, if there is no such file, those of a name: the user's or built-in ones.
func findRules(a *app.App, cfg config.Config, name string) (rules []config.Rule, isFile bool, err error) {
	if _, err := os.Stat(name); name == "-" || err == nil || !errors.Is(err, fs.ErrNotExist) || strings.Contains(name, "/") {
		_, rules, err := readRules(a, name)
		return rules, true, err
	}
	if rules = cfg.RulesNamed(name); len(rules) == 0 {
		hint := "they are " + strings.Join(cfg.RuleNames(), ", ")
		if near := config.Nearest(name, cfg.RuleNames()); near != "" {
			hint = fmt.Sprintf("did you mean %q", near)
		}
		return nil, false, app.Usage(fmt.Sprintf("%q is neither a file nor the name of a rule", name), hint)
	}
	return rules, false, nil
}
