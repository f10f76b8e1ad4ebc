package rule

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"reprise/config"
	"reprise/internal/ctl/app"
	"reprise/internal/ctl/view"
	"reprise/internal/transcript"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/prompt"
)

// proposedPeriod is how long before a call the rule looks for calls like it.
const proposedPeriod = 7 * 24 * 3_600_000

// maxCalls bounds how many calls of a tool in a directory a proposal reads, the latest.
const maxCalls = 200

// A Proposal is a rule for the calls of a program, and the past calls that it matches.
type Proposal struct {
	Text string // as TOML
	rule config.Rule
	past []PastCall
}

// CapturesTask reports whether the prompts name the task.
func (p Proposal) CapturesTask() bool { return strings.Contains(p.Text, "(?P<task>") }

// A PastCall is a fresh call that nothing named, with the names that a rule would have given it.
type PastCall struct {
	Call int64  `json:"call" doc:"number of a past call that the rule matches"`
	Task string `json:"task" doc:"the task that it would have had"`
	Role string `json:"role" doc:"its role"`
	Same bool   `json:"same" doc:"whether task and role equal the task and role of the rule's source call"`
}

// Why there is no rule for a call.
var (
	errPromptGone = errors.New("its prompt is not in the tool's own files any more")
	errTyped      = errors.New("no program made it")
	errNoTask     = errors.New("no line of the prompts tells the runs of its program apart, and " +
		"each run made one call")
	errMixes = errors.New("a rule would give prompts that begin differently the same task " +
		"and role")
)

// NamedBy is the error that a call has no proposal because a rule names calls like it by now.
type NamedBy string

func (rule NamedBy) Error() string { return "rule " + string(rule) + " names calls like it by now" }

// A sentCall is a fresh call that nothing named, and its prompt.
type sentCall struct {
	ledger.Record
	Run  decide.CallerProcess // of the program that made the call
	text string
}

// Propose returns the rule for a call's job, or why there is none. Without a name the rule has the
// name of the calling program.
func Propose(a *app.App, l *ledger.Ledger, i ledger.Record, name string) (p Proposal, err error) {
	switch {
	case i.Rule != "":
		return p, fmt.Errorf("rule %s matched it", i.Rule)
	case i.Mode != rewrite.Fresh || i.FellBack != "":
		return p, fmt.Errorf("it was not fresh for want of a name (%s)", view.Decision(i))
	case i.Task != "":
		return p, fmt.Errorf("its caller named the task %s: unset REPRISE_TASK for a rule", i.Task)
	}
	calls, err := readCalls(l, i)
	if err != nil {
		return p, err
	}
	at := slices.IndexFunc(calls, func(c sentCall) bool { return c.ID == i.ID })
	if at < 0 {
		return p, errPromptGone
	}
	call, cfg := calls[at], a.Configured()
	if by := cfg.Match(call.subject(l.Key())).Name; by != "" {
		return p, NamedBy(by)
	}
	if name == "" {
		name = ruleName(call, cfg.RuleNames())
	}
	return propose(call, calls, name, l.Key())
}

// readCalls returns the fresh calls of a call's tool and directory with known prompts, the latest
// last.
func readCalls(l *ledger.Ledger, i ledger.Record) (list []sentCall, err error) {
	calls, err := l.FreshCalls(i.Started-proposedPeriod, i.Tool, i.Cwd, maxCalls)
	if err != nil {
		return nil, err
	}
	for _, c := range slices.Backward(calls) {
		text, err := transcript.FirstPrompt(c.Tool, c.Began.File)
		if err != nil || text == "" {
			continue
		}
		now, was := prompt.New(text, l.Key()).Footprint(), c.Sent()
		// else the file has another prompt by now
		if slices.Equal(now.Blocks[:now.Opening], was.Blocks[:min(was.Opening, len(was.Blocks))]) {
			list = append(list, sentCall{c.Record, c.Caller.Run(), text})
		}
	}
	return list, nil
}

func (c sentCall) subject(key prompt.Key) config.Subject {
	return config.Subject{Tool: c.Tool, Cwd: c.Cwd, Prompt: c.text, Run: c.Run.Identity(),
		Env: func(string) string { return "" }, Digest: key.Name}
}

// begins returns the first line of the prompt without the numbers, which might count rounds.
func (c sentCall) begins() string { return prompt.WithoutDigits(prompt.FirstLine(c.text)) }

// propose returns a rule with that name for a call, given all calls of the tool and directory. The
// task is captured from the prompt, or each run of the program is a job: a constant would make all
// later runs one job.
func propose(call sentCall, calls []sentCall, name string, key prompt.Key) (p Proposal, err error) {
	if call.Run.Name == "" {
		return p, errTyped
	}
	role := roleOf(call.text)
	group := slices.DeleteFunc(slices.Clone(calls), func(c sentCall) bool {
		return c.Run.Name != call.Run.Name || (roleOf(c.text) == "") != (role == "")
	})
	var roles []string
	if role != "" {
		roles = []string{rolePattern}
	}
	if task := taskPattern(call, group); task != "" {
		if p, err = makeRule(call, calls, name, append([]string{task}, roles...), "",
			key); !errors.Is(err, errMixes) {
			return p, err
		}
	}
	if !slices.ContainsFunc(calls, func(c sentCall) bool {
		return c.ID != call.ID && c.Run == call.Run
	}) {
		return p, errNoTask
	}
	return makeRule(call, calls, name, roles, "job = \"run\"\n", key)
}

// makeRule returns a rule with these patterns for the prompt, and with more lines.
func makeRule(call sentCall, calls []sentCall, name string, patterns []string, more string,
	key prompt.Key) (p Proposal, err error) {
	if len(patterns) > 0 {
		more = "prompt = [" + strings.Join(view.Mapped(patterns, tomlText), ", ") + "]\n" + more
	}
	p.Text = fmt.Sprintf(
		"# Made from call %d of %s.\n[[rule]]\nname = %s\ntool = %s\ncwd = %s\n%s", call.ID,
		view.Printable(call.Run.Name), tomlText(name), tomlText(call.Tool),
		tomlText(globText(call.Cwd)), more)
	c, err := config.Parse("rule", p.Text, "")
	if err != nil {
		return p, err
	}
	p.rule = c.Rules[0]
	p.past, err = tryOn(&p.rule, call, calls, key)
	return p, err
}

// tryOn returns the calls that a rule matches. It is an error if the rule does not match the call
// that it was made from, or if prompts that begin differently share task and role.
func tryOn(r *config.Rule, from sentCall, calls []sentCall, key prompt.Key) (past []PastCall,
	err error) {
	begins := map[[2]string]string{}
	var own PastCall
	for _, c := range calls {
		m, ok := r.MatchSent(c.subject(key))
		if !ok {
			continue
		}
		job := [2]string{m.Task, m.Role}
		if before, known := begins[job]; m.Task == "" || known && before != c.begins() {
			return nil, errMixes
		}
		begins[job] = c.begins()
		past = append(past, PastCall{Call: c.ID, Task: m.Task, Role: view.RoleName(m.Role)})
		if c.ID == from.ID {
			own = past[len(past)-1]
		}
	}
	if own.Call == 0 {
		return nil, errNoTask
	}
	for i := range past {
		past[i].Same = past[i].Task == own.Task && past[i].Role == own.Role
	}
	return past, nil
}

// rolePattern captures the role of a prompt that names it in so many words.
const rolePattern = `(?m)^\s*You are (?:an?|the) (?P<role>\pL[\pL\pN -]*?)(?:[.,;:]|\s+(?:and|at|for|from|in|of|on|that|to|who|with|working)\b|\s*$)`

var roleWords = regexp.MustCompile(rolePattern)

func roleOf(text string) string {
	if found := roleWords.FindStringSubmatch(text); found != nil {
		return found[1]
	}
	return ""
}

// Bounds of the search for a line that names the job.
const (
	maxRuns  = 20 // other calls that a call is compared with
	maxLines = 20 // differing lines of each
)

// taskPattern captures the text that tells the runs of a program apart in the prompts of a group,
// "" if nothing does.
func taskPattern(call sentCall, group []sentCall) string {
	others := slices.DeleteFunc(slices.Clone(group), func(c sentCall) bool {
		return c.Run == call.Run || roleOf(c.text) != roleOf(call.text)
	})
	for _, c := range others[max(0, len(others)-maxRuns):] {
		x, y, tried := strings.Split(call.text, "\n"), strings.Split(c.text, "\n"), 0
		for n := 0; n < min(len(x), len(y)) && tried < maxLines; n++ {
			if strings.TrimSpace(x[n]) == strings.TrimSpace(y[n]) {
				continue
			}
			tried++
			if pattern := linePattern(x[n], y[n]); pattern != "" && tellsRuns(pattern, group) {
				return pattern
			}
		}
	}
	return ""
}

// tellsRuns reports whether a pattern captures something in each prompt of a group that no other
// run of the program shares. Within a run a value must come back, or it counts something.
func tellsRuns(pattern string, group []sentCall) bool {
	of, times, values := map[string]decide.CallerProcess{}, map[string]int{},
		map[decide.CallerProcess][]string{}
	compiled := regexp.MustCompile(pattern)
	for _, c := range group {
		found := compiled.FindStringSubmatch(c.text)
		if found == nil {
			return false
		}
		run, known := of[found[1]]
		if known && run != c.Run {
			return false
		}
		if !known {
			of[found[1]], values[c.Run] = c.Run, append(values[c.Run], found[1])
		}
		times[found[1]]++
	}
	for _, own := range values {
		if len(own) > 1 && slices.ContainsFunc(own, func(v string) bool { return times[v] < 2 }) {
			return false
		}
	}
	return len(values) > 1
}

// linePattern matches two lines by their common start and end, and captures the words between. It
// returns "" if no word at the start identifies the line.
func linePattern(a, b string) string {
	const marks = " \t.,;:!?" // at the end
	s, t := []rune(strings.TrimLeft(strings.TrimRight(a, marks), " \t")),
		[]rune(strings.TrimLeft(strings.TrimRight(b, marks), " \t"))
	before, behind := 0, 0
	for before < min(len(s), len(t)) && s[before] == t[before] {
		before++
	}
	for before > 0 && inWord(s[before-1]) {
		before--
	}
	for behind < min(len(s), len(t))-before && s[len(s)-1-behind] == t[len(t)-1-behind] {
		behind++
	}
	for behind > 0 && inWord(s[len(s)-behind]) {
		behind--
	}
	start := string(s[:before])
	if !strings.ContainsFunc(start, unicode.IsLetter) {
		return ""
	}
	matches := regexp.QuoteMeta(start)
	// the same line of another role
	if role := roleOf(string(s)); role != "" && strings.Contains(start, role) {
		matches = strings.Replace(matches, regexp.QuoteMeta(role), `\pL[\pL\pN -]*?`, 1)
	}
	return `(?m)^\s*` + matches + `(?P<task>\S.*?)` + regexp.QuoteMeta(string(s[len(s)-behind:])) +
		`[.,;:!?\s]*$`
}

// inWord reports whether a character can be part of a name, which is captured as a whole.
func inWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_./#", r)
}

// ruleName returns a name for a call's rule that no rule has: the name of the caller.
func ruleName(c sentCall, taken []string) string {
	name := strings.TrimSuffix(c.Run.Name, filepath.Ext(c.Run.Name))
	name = strings.Trim(regexp.MustCompile(`[^\pL\pN]+`).ReplaceAllString(name, "-"), "-")
	name = cmp.Or(name, "job")
	free := name
	for n := 2; slices.Contains(taken, free); n++ {
		free = fmt.Sprintf("%s-%d", name, n)
	}
	return free
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

// tomlText writes a text as a value: a text with a backslash, as patterns have, in
// single quotes where that can be.
func tomlText(text string) string {
	if strings.Contains(text, `\`) && !strings.ContainsFunc(text, func(r rune) bool {
		return r == '\'' || unprintable(r)
	}) {
		return "'" + text + "'"
	}
	return config.Quoted(text)
}
