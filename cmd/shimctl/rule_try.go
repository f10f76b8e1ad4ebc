package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"reprise/config"
	"reprise/internal/ui"
	"reprise/ledger"
	"reprise/rewrite"
)

func ruleTryCommand(a *app) *cobra.Command {
	var asJSON bool
	var since string
	c := &cobra.Command{
		Use: "try FILE|NAME", Short: "show what a rule would have made of past calls",
		Long: `Shows which of the latest 20000 fresh calls that no rule matched would have been resumed with a rule, and what that
would have saved. FILE contains the rule, - is stdin; NAME is a rule of yours or a preset. The ledger keeps no
variables, options or prompts: for a rule that reads them the figures are upper bounds, as if it matched every
call, and each run of calls that differ in one place were one task.`,
		Args: oneArgument("a file of rules, or the name of a rule"),
		RunE: func(_ *cobra.Command, args []string) error { return a.ruleTry(args[0], since, asJSON) },
	}
	jsonFlag(c, &asJSON, "shimctl.rule.try/1")
	c.Flags().StringVar(&since, "since", "7d", "only calls since `WHEN`: "+whenWords)
	completeFlag(c, "since", nil)
	c.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return a.configured().RuleNames(), cobra.ShellCompDirectiveDefault
	}
	return c
}

type ruleTryReport struct {
	Schema  string      `json:"schema" doc:"name of this schema"`
	Since   time.Time   `json:"since" doc:"start of the period that was read"`
	Rules   []triedRule `json:"rules" doc:"the rules, in their order"`
	Command string      `json:"command,omitempty" doc:"the command that adds them"`
}

// A triedRule is a rule, and what it would have made of the fresh calls that no rule matched.
type triedRule struct {
	Rule        string                 `json:"rule" doc:"its name"`
	Matched     int                    `json:"matched" doc:"fresh calls of its tool and directory"`
	Reads       []string               `json:"reads,omitempty" doc:"keys that read what the ledger lacks"`
	AtMost      bool                   `json:"at_most" doc:"whether the next figures are upper bounds"`
	Resumed     int                    `json:"would_resume" doc:"calls that would have been resumed"`
	PromptBytes int64                  `json:"prompt_bytes" doc:"length of their prompts"`
	SavedBytes  int64                  `json:"estimated_saved" doc:"estimated bytes not sent"`
	Fresh       map[rewrite.Reason]int `json:"would_be_fresh" doc:"the others by their reason"`
	InUse       int64                  `json:"calls_of_this_name" doc:"calls that it matched"`
	InUseResume int64                  `json:"resumed_of_this_name" doc:"of these, the resumed ones"`
	Calls       []triedCall            `json:"calls" doc:"the last 50, unless there are reads"`
	Text        string                 `json:"text" doc:"all of this in sentences"`
	rule        *config.Rule
}

type triedCall struct {
	ID     int64          `json:"id" doc:"its number"`
	Was    rewrite.Reason `json:"was_fresh_for" doc:"why it was fresh"`
	Task   string         `json:"task,omitempty" doc:"its task, with the rule"`
	Role   string         `json:"role,omitempty" doc:"its role"`
	Mode   rewrite.Mode   `json:"mode" doc:"fresh or resume"`
	Reason rewrite.Reason `json:"reason" doc:"the reason for that"`
	Saved  int64          `json:"estimated_saved" doc:"estimated bytes not sent"`
	call   ledger.ReplayedCall
}

// maxTried is how many calls of a rule are listed.
const maxTried = 50

func (a *app) ruleTry(name, since string, asJSON bool) error {
	from, err := a.sinceTime(since)
	if err != nil {
		return err
	}
	cfg, err := a.config()
	if err != nil {
		return err
	}
	rules, isFile, err := a.findRules(cfg, name)
	if err != nil {
		return err
	}
	report := ruleTryReport{Schema: "shimctl.rule.try/1", Since: from.UTC()}
	if isFile && name != "-" {
		report.Command = "shimctl rule add " + ui.ShellQuote(name)
	}
	report.Rules, err = ui.WithProgress(a.stderr, "looking through the calls", func() ([]triedRule, error) {
		return a.tryRules(rules, ledger.Millis(from.UnixMilli()))
	})
	if err != nil {
		return err
	}
	if asJSON {
		return a.stdout.PrintJSON(report)
	}
	a.printTried(report)
	return nil
}

// tryRules replays the calls since a time with some rules, of which the first that is known to match a call is used.
func (a *app) tryRules(rules []config.Rule, since ledger.Millis) ([]triedRule, error) {
	l, err := a.openOrEmpty()
	if err != nil {
		return nil, err
	}
	defer l.Close()
	tried := make([]triedRule, len(rules))
	for n := range rules {
		tried[n] = triedRule{Rule: rules[n].Name, Reads: rules[n].Reads(), Fresh: map[rewrite.Reason]int{}, Calls: []triedCall{}, rule: &rules[n]}
		tried[n].AtMost = len(tried[n].Reads) > 0 && rules[n].NamesTask() && !rules[n].Never && !rules[n].Strict
	}
	var taken []int // by replayed call: the rule that takes it
	calls, err := l.Replay(since, func(tool, cwd string) (ledger.Naming, bool) {
		for n := range rules {
			m, ok := rules[n].MatchPlace(tool, cwd)
			switch {
			case !ok:
			case len(tried[n].Reads) > 0: // it may match, and so may a later one
				tried[n].Matched++
			default:
				taken = append(taken, n)
				return naming(m), true
			}
		}
		return ledger.Naming{}, false
	})
	if err != nil {
		return nil, err
	}
	for i, c := range calls {
		tried[taken[i]].add(c)
	}
	inUse, err := l.Groups(ledger.ByRule, ledger.Since(since))
	if err != nil {
		return nil, err
	}
	for n := range tried {
		t := &tried[n]
		for _, g := range inUse {
			if g.Key == t.Rule {
				t.InUse, t.InUseResume = g.Calls, g.Resumed
			}
		}
		if t.AtMost {
			if err := t.bound(l, since); err != nil {
				return nil, err
			}
		}
		t.Calls = t.Calls[max(0, len(t.Calls)-maxTried):]
		t.Text = strings.Join(t.sentences(), " ")
	}
	return tried, nil
}

func naming(m config.Match) ledger.Naming {
	return ledger.Naming{Scope: m.Name, Task: m.Task, Role: m.Role, Prove: m.Strict, Never: m.Never, ResumeSame: m.Identical == config.IdenticalResume,
		TTL: ledger.Millis(m.TTL.Milliseconds()), MaxAge: ledger.Millis(m.MaxAge.Milliseconds())}
}

// add counts a call that the rule takes.
func (t *triedRule) add(c ledger.ReplayedCall) {
	t.Matched++
	if c.Mode.Continues() {
		t.Resumed, t.PromptBytes, t.SavedBytes = t.Resumed+1, t.PromptBytes+c.Bytes, t.SavedBytes+c.Saved
	} else {
		t.Fresh[c.Reason]++
	}
	t.Calls = append(t.Calls, triedCall{c.ID, c.Was, c.Task, c.Role, c.Mode, c.Reason, c.Saved, c})
}

// bound adds up, for each directory and role, the calls that are most like each other: no more can be rounds of one task.
func (t *triedRule) bound(l *ledger.Ledger, since ledger.Millis) error {
	frames, err := l.Frames(since, ledger.Millis(t.rule.TTL.Milliseconds()))
	if err != nil {
		return err
	}
	seen := map[[3]string]bool{}
	for _, f := range frames { // the most useful first
		place := [3]string{f.Tool, f.Cwd, f.Role}
		if _, ok := t.rule.MatchPlace(f.Tool, f.Cwd); ok && !seen[place] {
			seen[place] = true
			t.Resumed, t.PromptBytes, t.SavedBytes = t.Resumed+f.Resumed, t.PromptBytes+f.PromptBytes, t.SavedBytes+f.SavedBytes
		}
	}
	return nil
}

// sentences say what the rule would have done, and what is not known.
func (t *triedRule) sentences() (said []string) {
	say := func(format string, values ...any) { said = append(said, fmt.Sprintf(format, values...)) }
	matched := ui.Count(int64(t.Matched), "fresh call")
	saving := fmt.Sprintf("%d of them would have been resumed, and of %s about %s not sent (estimated: the ledger has no text).",
		t.Resumed, ui.Size(t.PromptBytes), ui.Size(t.SavedBytes))
	switch {
	case t.Matched == 0:
		say("Rule %s matches the tool and directory of no fresh call that no rule matched.", t.Rule)
	case t.rule.Never:
		say("Rule %s keeps calls fresh. It changes nothing for the %s whose tool and directory it matches.", t.Rule, matched)
	case t.rule.Strict:
		say("Rule %s names tasks, but proves nothing (strict): %s would have stayed fresh.", t.Rule, matched)
	case t.AtMost:
		say("Rule %s matches the tool and directory of %s. It also reads %s, which the ledger does not keep: which calls it takes, and of which "+
			"task they are, is not known. At most %s", t.Rule, matched, strings.Join(t.Reads, ", "), saving)
	case !t.rule.NamesTask():
		say("Rule %s matches %s, but names no task: the prompts alone would have decided, as they did.", t.Rule, matched)
	default:
		say("Rule %s matches %s: %s", t.Rule, matched, saving)
		if len(t.Fresh) > 0 {
			say("The others would have been fresh: %s.", reasonCounts(t.Fresh))
		}
		say("Not known: whether a conversation was edited, a commit undone or a session used by another process.")
	}
	if t.InUse > 0 {
		say("A rule of this name matched %s in that time; %d of them were resumed.", ui.Count(t.InUse, "other call"), t.InUseResume)
	}
	return said
}

func (a *app) printTried(r ruleTryReport) {
	table := ui.NewTable("CALL", "WHEN", "TOOL", "WOULD BE", "REASON", "NOT SENT", "TASK", "ROLE", "WAS", "RULE", "DIRECTORY")
	for _, t := range r.Rules {
		for _, c := range t.Calls {
			would := ui.TextCell(string(c.Mode))
			if c.Mode.Continues() {
				would = would.As(ui.Good)
			}
			table.Add(ui.IDCell(c.ID), a.whenCell(c.call.Started), ui.TextCell(c.call.Tool), would, ui.TextCell(string(c.Reason)), ui.SizeCell(c.Saved),
				ui.TextCell(c.Task), ui.TextCell(c.Role), ui.TextCell(string(c.Was)), ui.TextCell(t.Rule), a.pathCell(c.call.Cwd))
		}
	}
	table.Print(a.stdout)
	fmt.Fprintln(a.stdout)
	a.stdout.Sentences("RESULT", "", mapped(r.Rules, func(t triedRule) string { return t.Text })...)
	if r.Command != "" {
		fmt.Fprintln(a.stdout)
		a.stdout.Sentences("COMMAND", ui.Strong, r.Command)
	}
}
