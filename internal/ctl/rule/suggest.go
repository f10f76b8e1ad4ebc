package rule

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"reprise/config"
	"reprise/internal/ctl/app"
	"reprise/internal/ctl/view"
	"reprise/ledger/decide"
	"reprise/ledger/replay"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"

	"github.com/BurntSushi/toml"
	"github.com/spf13/cobra"
)

// maxSuggestions is how many suggestions are shown at most.
const maxSuggestions = 10

func suggestCommand(a *app.App) *cobra.Command {
	var asJSON bool
	var since string
	var files []string
	c := &cobra.Command{
		Use: "suggest", Short: "propose rules for calls that were fresh",
		Long: `Proposes rules for those of the latest 20000 fresh calls that differ in one section and that no rule named. It applies
none. The comment above each rule says what must be true. Task and role come from the prompts in the tools' files; what these lack you fill in.`,
		Args: app.NoArguments,
		RunE: func(*cobra.Command, []string) error { return runSuggest(a, since, files, asJSON) },
	}
	app.JSONFlag(c, &asJSON, "shimctl.suggest/1")
	c.Flags().StringVar(&since, "since", "7d", "only calls since `WHEN`: "+app.WhenWords)
	app.CompleteFlag(c, "since", nil)
	c.Flags().StringArrayVar(&files, "prompt-file", nil, "a prompt of the caller in `FILE`, - for stdin; pass it twice")
	return c
}

func runSuggest(a *app.App, since string, files []string, asJSON bool) error {
	from, err := a.SinceTime(since)
	if err != nil {
		return err
	}
	if len(files) != 0 && len(files) != 2 {
		return app.Usage("suggest takes two prompts or none", "give --prompt-file twice, for two tasks of one caller")
	}
	var prompts []string
	for _, name := range files {
		text, err := app.ReadInput(a, "prompt", name)
		if err != nil {
			return err
		}
		prompts = append(prompts, string(text))
	}
	found, err := view.WithProgress(a.Stderr, "looking through the calls", func() ([]suggestion, error) { return suggestions(a, from, prompts) })
	if err != nil {
		return err
	}
	if asJSON {
		return a.Stdout.PrintJSON(SuggestReport{"shimctl.suggest/1", from.UTC(), found})
	}
	printSuggestions(a, found, files)
	return nil
}

func suggestions(a *app.App, since time.Time, prompts []string) ([]suggestion, error) {
	found := []suggestion{}
	if _, err := a.Config(); err != nil {
		return nil, err
	}
	l, err := a.OpenOrEmpty()
	if err != nil {
		return nil, err
	}
	defer l.Close()
	past, err := ReadPast(a, l, decide.MillisOf(since))
	if err != nil {
		return nil, err
	}
	var two *difference
	if len(prompts) == 2 {
		if two, err = differ(prompt.New(prompts[0], l.Key()), prompt.New(prompts[1], l.Key())); err != nil {
			return nil, err
		}
	}
	for _, f := range past.Templates() {
		if len(found) == maxSuggestions || two != nil && !two.begins(f) {
			continue
		}
		s := suggestionFor(f, two, len(found)+1)
		if !s.worthIt() {
			continue
		}
		p := promptOf(f.Latest, l.Key())
		if past.nameBy(f.Tool, f.Cwd, p) != "" {
			continue
		}
		s.Section = placeWords(p, f.Place)
		if err := s.try(past, f, two != nil); err != nil {
			return nil, err
		}
		if s.worthIt() && !slices.ContainsFunc(found, func(o suggestion) bool { return s.proposed && o.Rule == s.Rule }) { // one rule may name several roles
			found = append(found, s)
		}
	}
	return found, nil
}

// Advice says what the calls of a template have in common, and returns the command that has them resumed. It adds a rule if that
// matches as many; otherwise it shows what the user must complete. The command is "" if a rule names them by now, or would resume none.
func (past *Past) Advice(t replay.Template) (says, command string) {
	p := promptOf(t.Latest, past.ledger.Key())
	if past.nameBy(t.Tool, t.Cwd, p) != "" {
		return "", ""
	}
	switch proposed, err := past.proposeRule(t.Latest.ID, t.Tool, t.Cwd); {
	case errors.Is(err, errNoGain):
		return "", ""
	case err == nil && proposed.tried.Matched >= t.Calls:
		command = fmt.Sprintf("shimctl rule add --from %d", t.Latest.ID)
	default:
		command = "shimctl rule suggest"
	}
	return fmt.Sprintf("%s: %s; a rule would resume them", callerWords(t.Latest), sameBut(t.Calls, placeWords(p, t.Place))), command
}

// try takes the rule for the latest call, unless there are prompts to take it from, and replays the calls with a rule that
// names their task.
func (s *suggestion) try(past *Past, f replay.Template, prompts bool) error {
	var tried TriedRule
	switch {
	case s.Pattern != "" && !s.Different:
		rules, err := config.ParseRules("rule", s.Rule, "")
		if err != nil {
			return err
		}
		all, err := past.try(rules)
		if err != nil {
			return err
		}
		tried = all[0]
	case !prompts:
		p, err := past.proposeRule(f.Latest.ID, f.Tool, f.Cwd)
		if errors.Is(err, errNoGain) {
			s.Figures = replay.Figures{}
		}
		if err != nil {
			return nil // the user completes the rule
		}
		s.Rule, s.proposed, tried = p.Text, true, p.tried
		s.Roles = view.Mapped(tried.Roles, func(r triedRole) string { return r.Role })
	}
	if tried.Matched > 0 {
		s.Figures, s.result = tried.Figures, tried.result()
	}
	return nil
}

type SuggestReport struct {
	Schema      string       `json:"schema" doc:"name of this schema"`
	Since       time.Time    `json:"since" doc:"start of the period that was read"`
	Suggestions []suggestion `json:"suggestions" doc:"what was found, the most promising first"`
}

// A suggestion is a frame, with the rule that would have named its calls.
type suggestion struct {
	Tool      string   `json:"tool" doc:"name of the tool"`
	Directory string   `json:"directory" doc:"working directory of the calls"`
	Role      string   `json:"role,omitempty" doc:"part in the job"`
	Block     int      `json:"block" doc:"the block that differs, from 1"`
	Blocks    int      `json:"blocks" doc:"blocks of the latest prompt"`
	Call      int64    `json:"call" doc:"the latest call"`
	Caller    string   `json:"caller,omitempty" doc:"name of the process that made the latest call"`
	Section   string   `json:"section" doc:"the place that differs, in words"`
	Roles     []string `json:"roles,omitempty" doc:"roles that the rule captures"`
	Calls     int      `json:"calls" doc:"similar calls"`
	Runs      int      `json:"runs" doc:"groups of calls that would have formed a chain"`
	replay.Figures
	Reasons   map[reason.Code]int `json:"fresh_for" doc:"these calls by the reason why they were fresh"`
	First     time.Time           `json:"first" doc:"time of the first call"`
	Last      time.Time           `json:"last" doc:"time of the last call"`
	Pattern   string              `json:"task_pattern,omitempty" doc:"the name of the task, from the two prompts"`
	Different bool                `json:"different_tasks" doc:"whether the two prompts show different tasks; then there is no rule"`
	Rule      string              `json:"rule,omitempty" doc:"the rule, as TOML"`
	openings  int                 // ways in which the prompts begin
	tasks     [2]string
	result    string // what the rule would have made of all calls that it matches, "" if it names no task or the prompts are gone
	proposed  bool   // the rule is made from the prompts, and complete
}

func suggestionFor(f replay.Template, two *difference, number int) suggestion {
	s := suggestion{Tool: f.Tool, Directory: f.Cwd, Role: f.Role, Block: f.Place + 1, Blocks: f.Blocks, Call: f.Latest.ID, Caller: f.Latest.Caller,
		Calls: f.Calls, Runs: f.Calls - f.Continuing, Figures: f.Figures, Reasons: f.Reasons, First: f.First.Time(), Last: f.Last.Time(), openings: len(f.Openings)}
	if two != nil {
		s.Pattern, s.tasks = two.pattern, two.tasks
		if s.Different = two.within(f); s.Different {
			s.Runs, s.Figures = f.Calls, replay.Figures{}
			return s
		}
	}
	s.Rule = s.rule(number)
	return s
}

// worthIt reports whether a suggestion has calls resumed that are not all short, would do so with a longer ttl, or warns.
func (s suggestion) worthIt() bool {
	return s.PromptBytes >= LeastPrompts || s.Resumed == 0 && s.Late > 0 || s.Different
}

// rule returns the rule in TOML. If nothing names the task it changes nothing yet.
func (s suggestion) rule(number int) string {
	var b strings.Builder
	name := fmt.Sprintf("suggested-%d", number)
	fmt.Fprintf(&b, "[[rule]]\nname = %s\nrole = %s\ntool = %s\ncwd = %s\n", tomlText(name), tomlText(cmp.Or(s.Role, name)),
		tomlText(s.Tool), tomlText(globText(s.Directory)))
	if s.Pattern != "" {
		fmt.Fprintf(&b, "prompt = %s\n", tomlText(s.Pattern))
		return b.String()
	}
	b.WriteString("# What names the task? Keep one of these lines; without one the rule resumes\n# no more than before:\n" +
		"# env.NAME = '(?P<task>.+)'            # a variable that the caller sets\n" +
		"# prompt = '(?m)^Task: (?P<task>\\S+)'  # a line outside of that block\n")
	if s.openings > 1 {
		fmt.Fprintf(&b, "# The prompts begin in %d ways: if these are roles, capture (?P<role>\\w+) too.\n", s.openings)
	} else {
		b.WriteString("# task = \"one\"                         # all in the directory is one task\n")
	}
	return b.String()
}

// globText returns a pattern that matches a path. A "?" stands for each character that would
// be a wildcard or cannot be printed.
func globText(path string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("*{", r) || unprintable(r) {
			return '?'
		}
		return r
	}, path)
}

func unprintable(r rune) bool { return r == unicode.ReplacementChar || unicode.IsControl(r) }

// tomlText writes a text as a value: what has a backslash, as patterns have, in
// single quotes where that can be.
func tomlText(text string) string {
	if strings.Contains(text, `\`) && !strings.ContainsFunc(text, func(r rune) bool { return r == '\'' || unprintable(r) }) {
		return "'" + text + "'"
	}
	var b bytes.Buffer
	_ = toml.NewEncoder(&b).Encode(map[string]string{"x": text}) // a text can always be written
	return strings.TrimSpace(strings.TrimPrefix(b.String(), "x = "))
}

// printSuggestions prints text that can be put into the configuration file as it is: everything
// that is said about a rule is a comment.
func printSuggestions(a *app.App, found []suggestion, files []string) {
	if len(found) == 0 {
		a.Stderr.Notice("nothing to suggest: no fresh calls in that time differ in one section only, and begin as asked for")
	}
	for i, s := range found {
		if i > 0 {
			fmt.Fprintln(a.Stdout)
		}
		printComment(a.Stdout, s.comment(a))
		rule := s.Rule
		if s.proposed { // its first line says what its calls have in common
			var alike string
			alike, rule, _ = strings.Cut(rule, "\n")
			printComment(a.Stdout, []string{strings.TrimPrefix(alike, "# ")})
		}
		fmt.Fprint(a.Stdout, rule)
	}
	if slices.ContainsFunc(found, func(s suggestion) bool { return s.Rule != "" && !s.proposed }) {
		fmt.Fprintln(a.Stdout)
		printComment(a.Stdout, nextSteps(files))
	}
}

func printComment(s view.Screen, lines []string) {
	const mark = "# "
	for _, line := range lines {
		bullet := len(line) - len(strings.TrimLeft(line, " -"))
		folded := s.Indented(view.Printable(line), len(mark)+bullet)
		fmt.Fprintln(s, mark+strings.ReplaceAll(folded, "\n"+strings.Repeat(" ", len(mark)), "\n"+mark))
	}
}

// nextSteps say how to use the rules.
func nextSteps(files []string) []string {
	steps := []string{"Without a rule: the caller sets REPRISE_TASK to the name of the task, and REPRISE_ROLE to that of the role.",
		"With a rule: put it into a FILE, with a line that names the task, and then",
		"  shimctl rule try FILE    shows what it would have made of these calls",
		"  shimctl rule add FILE    writes it into the configuration"}
	if len(files) == 2 && !slices.Contains(files, "-") {
		again := fmt.Sprintf("shimctl rule suggest --prompt-file %s --prompt-file %s", view.ShellQuote(files[0]), view.ShellQuote(files[1]))
		steps = append(steps[:1], "With a rule: if it is right,", "  "+again+" | shimctl rule try -", "  "+again+" | shimctl rule add --yes -")
	}
	return steps
}

func (s suggestion) comment(a *app.App) []string {
	lines := []string{
		fmt.Sprintf("%s in %q: %s in %s, each like the one before it but for %s,", s.Tool, a.Tilde(s.Directory),
			view.Count(int64(s.Calls), "call"), view.Count(int64(s.Runs), "run"), s.Section),
		fmt.Sprintf("from block %d on, of %d. They were fresh: %s.", s.Block, s.Blocks, reasonCounts(s.Reasons)),
	}
	if s.Different {
		return append(lines, "Your two prompts differ there as well: these are different tasks, and no rule may join them.")
	}
	would := "Named, at most " + words(s.Figures) + "."
	switch {
	case s.Resumed == 0:
		would = fmt.Sprintf("Named, none would have been resumed: %d came later than ttl after the one before.", s.Late)
	case s.result != "":
		would = s.result
	case s.Late > 0:
		would += fmt.Sprintf(" %d more came later than ttl.", s.Late)
	}
	lines = append(lines, would,
		"Likeness is no evidence: two tasks of one caller look just like this. The rule is right only if",
		fmt.Sprintf("  - the text from block %d on is new in each round of one task, and does not name the task;", s.Block))
	if s.proposed {
		lines = append(lines, fmt.Sprintf("  - its roles are all that take part in the job: %s;", strings.Join(s.Roles, ", ")))
	} else if s.Pattern == "" {
		lines = append(lines, "  - what you let name the task is never the same for two tasks;")
	} else {
		lines = append(lines, "  - what it captures names the task in every prompt; in yours it is",
			fmt.Sprintf("    %q and %q;", s.tasks[0], s.tasks[1]))
	}
	lines = append(lines, "  - calls of another role (a reviewer, a judge), and those that a preset knows, do not match it: your rules come first.")
	if s.proposed {
		lines = append(lines, fmt.Sprintf("shimctl rule add --from %d adds it, after a question.", s.Call))
	}
	return lines
}

func reasonCounts(reasons map[reason.Code]int) string {
	return strings.Join(view.Mapped(slices.Sorted(maps.Keys(reasons)), func(r reason.Code) string {
		return fmt.Sprintf("%d %s", reasons[r], r)
	}), ", ")
}
