package rule

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"reprise/config"
	"reprise/internal/ctl/app"
	"reprise/internal/ctl/view"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/ledger/history"
	"reprise/ledger/replay"
	"reprise/rewrite"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
	"reprise/shim"

	"github.com/spf13/cobra"
)

func tryCommand(a *app.App) *cobra.Command {
	var asJSON bool
	var since string
	c := &cobra.Command{
		Use: "try FILE|NAME", Short: "show what a rule would have made of past calls",
		Long: `Shows which of the latest 20000 fresh calls that no rule matched would have been resumed with a rule, by role, and
what that would have saved. FILE contains the rule, - is stdin; NAME is a rule of yours or a preset. Prompts are read
from the tools' files. Variables and options are not kept: of a rule that reads them the figures are upper bounds.`,
		Args: app.OneArgument("a file of rules, or the name of a rule"),
		RunE: func(_ *cobra.Command, args []string) error { return runTry(a, args[0], since, asJSON) },
	}
	app.JSONFlag(c, &asJSON, "shimctl.rule.try/1")
	c.Flags().StringVar(&since, "since", "7d", "only calls since `WHEN`: "+app.WhenWords)
	app.CompleteFlag(c, "since", nil)
	c.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return a.Configured().RuleNames(), cobra.ShellCompDirectiveDefault
	}
	return c
}

type TryReport struct {
	Schema  string      `json:"schema" doc:"name of this schema"`
	Since   time.Time   `json:"since" doc:"start of the period that was read"`
	Rules   []TriedRule `json:"rules" doc:"the rules, in their order"`
	Command string      `json:"command,omitempty" doc:"the command that adds them"`
}

// A TriedRule is a rule, and what it would have made of the fresh calls that no rule matched.
type TriedRule struct {
	Rule    string   `json:"rule" doc:"its name"`
	Matched int      `json:"matched" doc:"fresh calls that it matches, as far as that is known"`
	Unread  int      `json:"unread" doc:"fresh calls of its tool and directory whose prompt is gone, if it reads that"`
	Reads   []string `json:"reads,omitempty" doc:"keys that read what is kept nowhere"`
	AtMost  bool     `json:"at_most" doc:"whether the next figures are upper bounds"`
	replay.Figures
	Fresh       map[reason.Code]int `json:"would_be_fresh" doc:"the others by their reason"`
	Roles       []triedRole         `json:"roles" doc:"the roles of the calls that it matches"`
	Mixes       bool                `json:"mixes" doc:"whether it has no role for prompts that begin differently"`
	InUse       int64               `json:"calls_of_this_name" doc:"calls that it matched"`
	InUseResume int64               `json:"resumed_of_this_name" doc:"of these, the resumed ones"`
	Calls       []triedCall         `json:"calls" doc:"the last 50"`
	Text        string              `json:"text" doc:"all of this in sentences"`
	rule        *config.Rule
	gone        int               // of would_resume whose prompts are gone
	begins      map[string]string // how the first prompt of each task without a role begins
}

// words say in a clause what a rule would have made of calls.
func words(p replay.Figures) string {
	about, estimated := "", ""
	if p.Resumed == 0 {
		return "0 of them would have been resumed"
	}
	if p.Estimated {
		about, estimated = "about ", " (estimated)"
	}
	words := fmt.Sprintf("%d of them would have been resumed, and of their %s, %s%s not sent%s", p.Resumed, view.Size(p.PromptBytes), about, view.Size(p.LeftOut), estimated)
	if len(p.WhyWhole) > 0 {
		words += "; sent whole: " + reasonCounts(p.WhyWhole)
	}
	return words
}

// LeastPrompts is how long the prompts of the calls that a rule resumes must be together for it to be proposed.
const LeastPrompts = prompt.ShortPromptBytes

type triedRole struct {
	Role    string `json:"role" doc:"its name, empty for none"`
	Calls   int    `json:"calls" doc:"calls that it matches"`
	Resumed int    `json:"would_resume" doc:"of these, those that would have been resumed"`
}

type triedCall struct {
	ID     int64        `json:"id" doc:"its number"`
	Was    reason.Code  `json:"was_fresh_for" doc:"why it was fresh"`
	Task   string       `json:"task,omitempty" doc:"its task, with the rule"`
	Role   string       `json:"role,omitempty" doc:"its role"`
	Mode   rewrite.Mode `json:"mode" doc:"fresh or resume"`
	Reason reason.Code  `json:"reason" doc:"the reason for that"`
	Saved  int64        `json:"estimated_saved" doc:"bytes not sent"`
	Whole  reason.Code  `json:"why_whole,omitempty" doc:"why its whole prompt would have been sent"`
	call   replay.Call
}

// maxTried is how many calls of a rule are listed.
const maxTried = 50

func runTry(a *app.App, name, since string, asJSON bool) error {
	from, err := a.SinceTime(since)
	if err != nil {
		return err
	}
	cfg, err := a.Config()
	if err != nil {
		return err
	}
	rules, isFile, err := findRules(a, cfg, name)
	if err != nil {
		return err
	}
	report := TryReport{Schema: "shimctl.rule.try/1", Since: from.UTC()}
	report.Rules, err = view.WithProgress(a.Stderr, "looking through the calls", func() ([]TriedRule, error) {
		l, err := a.OpenOrEmpty()
		if err != nil {
			return nil, err
		}
		defer l.Close()
		past, err := ReadPast(a, l, decide.MillisOf(from))
		if err != nil {
			return nil, err
		}
		return past.try(rules)
	})
	if err != nil {
		return err
	}
	if isFile && name != "-" && slices.ContainsFunc(report.Rules, TriedRule.mayResume) {
		report.Command = "shimctl rule add " + view.ShellQuote(name)
	}
	if asJSON {
		return a.Stdout.PrintJSON(report)
	}
	printTried(a, report)
	return nil
}

// try replays the calls with some rules, of which the first that is known to match a call is used.
func (past *Past) try(rules []config.Rule) ([]TriedRule, error) {
	key := past.ledger.Key()
	tried := make([]TriedRule, len(rules))
	for n := range rules {
		tried[n] = TriedRule{Rule: rules[n].Name, Reads: rules[n].ReadsUnkept(), Fresh: map[reason.Code]int{}, Roles: []triedRole{},
			Calls: []triedCall{}, rule: &rules[n], begins: map[string]string{}}
		tried[n].AtMost = len(tried[n].Reads) > 0 && rules[n].NamesTask() && !rules[n].Never && !rules[n].Strict
	}
	var taken []int // by replayed call: the rule that takes it
	calls := replay.Replay(past.calls, func(c *ledger.FreshCall) (replay.Naming, bool) {
		sent := config.Subject{Tool: c.Tool, Cwd: c.Cwd, Digest: key.Name}
		var p *prompt.Prompt
		for n := range rules {
			if _, ok := rules[n].MatchPlace(c.Tool, c.Cwd); !ok {
				continue
			}
			if p == nil {
				if p = promptOf(*c, key); p != nil {
					sent.Prompt = p.Text
				}
			}
			if rules[n].ReadsPrompt() && p == nil { // it may match, and so may a later one
				tried[n].Unread++
				continue
			}
			if m, ok := rules[n].MatchSent(sent); ok {
				taken = append(taken, n)
				return named(c.Tool, m, p), true
			}
		}
		return replay.Naming{}, false
	})
	for i, c := range calls {
		tried[taken[i]].add(c)
	}
	inUse, err := history.Groups(past.ledger, history.ByRule, history.Since(past.since), math.MaxInt64, 0)
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
		slices.SortFunc(t.Roles, func(a, b triedRole) int { return cmp.Compare(a.Role, b.Role) })
		t.Calls = t.Calls[max(0, len(t.Calls)-maxTried):]
		t.Text = strings.Join(t.sentences(), " ")
	}
	return tried, nil
}

// unkeptName is the task, or the role, of all calls of which it is captured in what is kept nowhere.
const unkeptName = "?"

// named returns what a rule makes of a call with a prompt, nil if its text is gone.
func named(tool string, m config.Match, p *prompt.Prompt) replay.Naming {
	if m.Task == "" && m.NamesTask() {
		m.Task = unkeptName
	}
	if (m.Role == "" || strings.HasPrefix(m.Role, prompt.RoleTextMark)) && m.NamesRole() {
		m.Role = unkeptName
	}
	n := naming(m.Policy)
	n.Scope, n.Task, n.Role, n.Attempt, n.Prove, n.Never, n.Fresh, n.Prompt = m.Name, m.Task, m.Role, m.Attempt, m.Strict, m.Never, m.Fresh, p
	if p != nil {
		p.Again = shim.SentAgain(tool, m.Keep())
	}
	return n
}

// naming returns the policy for calls that a rule names.
func naming(p config.Policy) replay.Naming {
	return replay.Naming{ResumeSame: p.ResumeSame, Unrelated: p.Unrelated,
		WholePrompt: p.WholePrompt, TTL: decide.Millis(p.TTL.Milliseconds()), MaxAge: decide.Millis(p.MaxAge.Milliseconds())}
}

// add counts a call that the rule takes.
func (t *TriedRule) add(c replay.Call) {
	t.Matched++
	at := slices.IndexFunc(t.Roles, func(r triedRole) bool { return r.Role == c.Role })
	if at < 0 {
		at = len(t.Roles)
		t.Roles = append(t.Roles, triedRole{Role: c.Role})
	}
	t.Roles[at].Calls++
	t.Figures.Add(c)
	if c.Mode.Continues() {
		if t.Roles[at].Resumed++; c.Prompt == nil {
			t.gone++
		}
	} else {
		t.Fresh[c.Reason]++
	}
	if c.Role == "" && c.Unrelated && c.Task != "" && !c.Never && !c.Prove {
		if first, ok := t.begins[c.Task]; ok && first != c.Opening {
			t.Mixes = true
		}
		t.begins[c.Task] = c.Opening
	}
	t.Calls = append(t.Calls, triedCall{c.ID, c.Was, c.Task, c.Role, c.Mode, c.Reason, c.LeftOut, c.WhyWhole, c})
}

// roleWords say how many calls each role has.
func (t *TriedRule) roleWords() string {
	return strings.Join(view.Mapped(t.Roles, func(r triedRole) string {
		return fmt.Sprintf("%s %s, %d resumed", cmp.Or(view.RoleName(r.Role), "no role"), view.Count(int64(r.Calls), "call"), r.Resumed)
	}), "; ")
}

// mayResume reports whether the rule would have resumed calls, or may resume others than those in the ledger.
func (t TriedRule) mayResume() bool { return t.Resumed > 0 || t.Matched == 0 && t.rule.NamesTask() }

// result says what the rule would have done with calls that it matches.
func (t *TriedRule) result() string {
	return fmt.Sprintf("Rule %s matches %s: %s.", t.Rule, view.Count(int64(t.Matched), "fresh call"), words(t.Figures))
}

// sentences say what the rule would have done, and what is not known.
func (t *TriedRule) sentences() (said []string) {
	say := func(format string, values ...any) { said = append(said, fmt.Sprintf(format, values...)) }
	matched := view.Count(int64(t.Matched), "fresh call")
	switch {
	case t.Matched == 0 && t.Unread == 0:
		say("Rule %s matches no fresh call that no rule matched.", t.Rule)
	case t.Matched == 0:
		say("Rule %s matches no fresh call whose prompt is known.", t.Rule)
	case t.rule.Never:
		say("Rule %s keeps calls fresh. It changes nothing for the %s that it matches.", t.Rule, matched)
	case t.rule.Strict:
		say("Rule %s names tasks, but proves nothing (strict): %s would have stayed fresh.", t.Rule, matched)
	case !t.rule.NamesTask():
		say("Rule %s matches %s, but names no task: the prompts alone would have decided, as they did.", t.Rule, matched)
	default:
		if t.AtMost {
			say("Rule %s reads %s, which is kept nowhere: which calls it takes, and of which task they are, is not known. It may match %s. At most %s.",
				t.Rule, strings.Join(t.Reads, ", "), matched, words(t.Figures))
		} else {
			said = append(said, t.result())
		}
		if len(t.Fresh) > 0 {
			say("The others would have been fresh: %s.", reasonCounts(t.Fresh))
		}
		say("Roles: %s.", t.roleWords())
		if t.Mixes {
			say("Warning: it captures no role, and prompts of one task begin differently: a reviewer must not share the coder's session.")
		}
		gone := ""
		if t.gone > 0 {
			gone = ", and what the prompts of " + view.Count(int64(t.gone), "resumed call") + " say, such as a new role"
		}
		say("Not known: whether a commit or files were undone, a context filled or a session used by another process%s.", gone)
	}
	if t.Unread > 0 {
		say("The tool's files do not have the prompts of %s: whether it matches them is not known.", view.Count(int64(t.Unread), "more call"))
	}
	if t.InUse > 0 {
		say("A rule of this name matched %s in that time; %d of them were resumed.", view.Count(t.InUse, "other call"), t.InUseResume)
	}
	return said
}

func printTried(a *app.App, r TryReport) {
	table := view.NewTable("CALL", "WHEN", "TOOL", "WOULD BE", "REASON", "NOT SENT", "TASK", "ROLE", "WAS", "RULE", "DIRECTORY")
	for _, t := range r.Rules {
		for _, c := range t.Calls {
			would := view.TextCell(string(c.Mode))
			if c.Mode.Continues() {
				would = would.As(view.Good)
			}
			table.Add(view.IDCell(c.ID), a.WhenCell(c.call.Started), view.TextCell(c.call.Tool), would, view.TextCell(string(c.Reason)), view.SizeCell(c.Saved),
				view.TextCell(c.Task), view.RoleCell(c.Role), view.TextCell(string(c.Was)), view.TextCell(t.Rule), a.PathCell(c.call.Cwd))
		}
	}
	if slices.ContainsFunc(r.Rules, func(t TriedRule) bool { return len(t.Calls) > 0 }) {
		table.Print(a.Stdout)
		fmt.Fprintln(a.Stdout)
	}
	a.Stdout.Sentences("RESULT", "", slices.Compact(view.Mapped(r.Rules, func(t TriedRule) string { return t.Text }))...) // presets have rules of one name
	if r.Command != "" {
		fmt.Fprintln(a.Stdout)
		a.Stdout.Sentences("COMMAND", view.Strong, r.Command)
	}
}
