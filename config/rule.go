package config

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"reprise/rewrite"
	"reprise/rewrite/prompt"
)

// A Rule selects calls, and has the names and the policy of their job. Rules are pure: a match
// depends on the Subject alone.
type Rule struct {
	Name   string // rules of one name share their tasks
	Policy        // the configuration's, unless the rule says otherwise
	Never  bool   // the calls are independent: they are fresh, and never resumed
	Strict bool   // the names separate jobs, but do not prove that two calls belong to the same one
	// StartFrom is a role: a role's first call begins as a copy of that role's session, "" for
	// none.
	StartFrom string

	tools      []string
	cwd        *pattern
	cwdEnd     string // the text behind the last wildcard of cwd
	env        []variable
	argv       []*pattern
	starts     []string
	prompt     []*pattern
	task, role string // if nothing captures them
	job        JobUnit
	roleText   []*pattern
	keep       []*pattern
	freshWhen  []*pattern
	reset      reset
}

// A JobUnit says which calls of a rule are one job.
type JobUnit string

// JobRun makes each run of the calling program a job, beside the task that the rule names.
const JobRun JobUnit = "run"

// A variable must be set to a value that matches.
type variable struct {
	name string
	*pattern
}

// reset is the event that ends the chain of a role, which can differ from the call's.
type reset struct {
	answer []*pattern
	role   string // "": the call's own
}

// A Subject is everything about a call that rules read.
type Subject struct {
	Tool   string
	Cwd    string
	Env    func(string) string
	Args   []string // without the prompt
	Prompt string
	Run    string // identifies the run of the calling program, "" if it is not known
	// Digest returns a short name for a text, under a key. If it is nil, texts are not part of a
	// role.
	Digest func(text string) string
}

// A Match is the rule that applies to a call, with its captures.
type Match struct {
	*Rule
	Task, Role string
	Scope      string // the rule that has these names, "" if the caller set them
	// the names separate jobs, but do not prove that two calls belong to the same one
	Strict bool
	// the prompt or the environment of each job gives the task: two jobs cannot share it
	Captured bool
	Attempt  int      // rewrite.NoAttempt if it is not given
	Fresh    bool     // the prompt ends the chain
	Resets   []string // the other roles: the prompt ends their chains of the task
}

// Match returns the first rule that matches; the user's come before the presets. If none does, it
// returns the configuration's policy as a rule without a name.
func (c Config) Match(s Subject) Match {
	for _, rules := range [][]Rule{c.Rules, c.presets()} {
		for i := range rules {
			if m, ok := rules[i].match(s); ok {
				return m
			}
		}
	}
	m, _ := (&Rule{Policy: c.Policy}).match(s)
	return m
}

// MatchSent matches a rule's conditions on the tool, the directory and the prompt, as if those on
// variables and options matched.
func (r *Rule) MatchSent(s Subject) (Match, bool) {
	sent := *r
	sent.env, sent.argv = nil, nil
	s.Env = func(string) string { return "" }
	m, ok := sent.match(s)
	m.Rule = r
	return m, ok
}

// RuleNames returns the names of all rules, the user's first.
func (c Config) RuleNames() (names []string) {
	for _, r := range slices.Concat(c.Rules, builtIn(c.Policy)) {
		if !slices.Contains(names, r.Name) {
			names = append(names, r.Name)
		}
	}
	return names
}

// match checks the cheap conditions first: no pattern of a preset is compiled for another program's
// calls.
func (r *Rule) match(s Subject) (Match, bool) {
	if len(r.tools) > 0 && !slices.Contains(r.tools, s.Tool) || !r.startsWell(s.Prompt) ||
		!strings.HasSuffix(s.Cwd, r.cwdEnd) {
		return Match{}, false
	}
	found := captures{attempt: rewrite.NoAttempt}
	if !r.capture(&found, s) {
		return Match{}, false
	}
	m := Match{Rule: r, Scope: r.Name, Strict: r.Strict, Captured: len(found.task) > 0,
		Attempt: found.attempt,
		Task:    name(found.task, r.task), Role: strings.ToLower(name(found.role, r.role))}
	if !r.Never && (len(m.Task) > longestName || len(m.Role) > longestName) {
		return Match{}, false // a text, not a name
	}
	m.addRun(s)
	m.addRoleText(s)
	m.takeNames(s.Env)
	m.deriveRole(s)
	ended := anyIn(r.freshWhen, ends(s.Prompt))
	m.Fresh = ended || m.Task != "" && asksForReset(s.Prompt)
	if role := r.reset.role; ended && role != "" && !prompt.IsRole(m.Role, role) {
		m.Resets = []string{role}
	}
	return m, true
}

const longestName = 200

// addRun adds the run of the calling program to the task. Without a known run the prompts decide,
// as without a task: another run can have the same one.
func (m *Match) addRun(s Subject) {
	switch {
	case m.job != JobRun:
	case s.Run == "" || s.Digest == nil:
		m.Task = ""
	default:
		m.Task = strings.TrimSpace(m.Task + " run " + s.Digest(s.Run))
	}
}

// addRoleText adds to the role the part of its description that is too long for a name. Unlike the
// groups that capture names, it is searched for in the whole prompt: a missed text must not make
// two roles one.
func (m *Match) addRoleText(s Subject) {
	if len(m.roleText) == 0 || s.Digest == nil {
		return
	}
	var texts []string
	for _, p := range m.roleText {
		if found := p.compiled().FindStringSubmatch(s.Prompt); found != nil {
			texts = append(texts, found[min(1, len(found)-1):]...)
		}
	}
	if len(texts) > 0 {
		m.Role += prompt.RoleTextMark + s.Digest(strings.Join(texts, "\x00"))
	}
}

// takeNames replaces the rule's names by the caller's. A name that was copied from
// the documentation names nothing.
func (m *Match) takeNames(env func(string) string) {
	if task := env("REPRISE_TASK"); task != "" && task != "NAME" {
		m.Task, m.Scope, m.Strict, m.Captured = task, "", false, false
	}
	if role := env("REPRISE_ROLE"); role != "" && role != "ROLE" {
		m.Role = role
	}
}

// deriveRole takes a task's role from how the prompt begins if nothing names it: a name around a
// whole job must not put one role into another's session. Numbers in that line do not count, they
// can be of the round.
func (m *Match) deriveRole(s Subject) {
	if m.Task != "" && m.Role == "" && !m.Strict && !m.Unrelated && s.Digest != nil {
		m.Role = prompt.RoleTextMark + s.Digest(prompt.WithoutDigits(prompt.FirstLine(s.Prompt)))
	}
}

func (r *Rule) startsWell(prompt string) bool {
	prompt = head(prompt)
	return len(r.starts) == 0 ||
		slices.ContainsFunc(r.starts, func(start string) bool {
			return strings.HasPrefix(prompt, start)
		})
}

// capture reports whether every pattern matches, and records the captures.
func (r *Rule) capture(found *captures, s Subject) bool {
	if r.cwd != nil && !found.from(r.cwd, s.Cwd) {
		return false
	}
	for _, v := range r.env {
		if text := s.Env(v.name); text == "" || !found.from(v.pattern, text) {
			return false
		}
	}
	return found.fromAll(r.argv, strings.Join(s.Args, " ")) &&
		found.fromAll(r.prompt, head(s.Prompt))
}

// captures are the values of the groups task, role and attempt of a rule's patterns.
type captures struct {
	task, role []string
	attempt    int
}

// from reports whether p matches, and records the captures of the groups.
func (c *captures) from(p *pattern, text string) bool {
	re := p.compiled()
	found := re.FindStringSubmatch(text)
	for i, group := range re.SubexpNames() {
		if found == nil || found[i] == "" {
			continue
		}
		switch group {
		case "task":
			c.task = append(c.task, found[i])
		case "role":
			c.role = append(c.role, found[i])
		case "attempt":
			if n, err := strconv.Atoi(found[i]); err == nil {
				c.attempt = n
			}
		}
	}
	return found != nil
}

func (c *captures) fromAll(patterns []*pattern, text string) bool {
	return !slices.ContainsFunc(patterns, func(p *pattern) bool { return !c.from(p, text) })
}

// name returns the captured texts as one line, or otherwise.
func name(captured []string, otherwise string) string {
	if len(captured) == 0 {
		return otherwise
	}
	return strings.Join(strings.Fields(strings.Join(captured, " ")), " ")
}

// resetRole returns the role that loses a chain by the rule's reset_when: "" for all roles that
// nothing names.
func (m Match) resetRole() string {
	switch {
	case m.reset.role != "":
		return m.reset.role
	case strings.HasPrefix(m.Role, prompt.RoleTextMark):
		return ""
	}
	return m.Role
}

// ResetBy returns the roles that lose a chain by the tool's final answer.
func (m Match) ResetBy(answer string) []string {
	switch {
	case anyIn(m.reset.answer, ends(answer)):
		return []string{m.resetRole()}
	case m.Task == "" || !asksForReset(answer):
		return nil
	case m.reset.role != "" || strings.EqualFold(m.Role, coderRole):
		return []string{m.resetRole()}
	}
	return []string{m.resetRole(), coderRole}
}

// coderRole is the role that loses a chain by another role's answer, unless a rule names one.
const coderRole = "coder"

// resetWords are a separate line, which can be emphasized, or a member of a JSON object.
var resetWords = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("(?m)^[ \\t]*[*_`]*context_reset[*_`]*[ \\t]*:[*_`]*[ " +
		"\\t]*[*_`]*true[*_`]*\\s*$" +
		`|"context_reset"\s*:\s*true\b`)
})

// asksForReset reports whether a prompt or an answer says that the job starts over.
func asksForReset(text string) bool {
	return slices.ContainsFunc(ends(text), func(part string) bool {
		part = strings.ToLower(part) // much faster than a pattern that ignores case
		return strings.Contains(part, "context_reset") && resetWords().MatchString(part)
	})
}

// Keep returns a function that reports whether every delta repeats a block of the prompt. It
// returns nil if none does.
func (m Match) Keep() func(block string) bool {
	if len(m.keep) == 0 {
		return nil
	}
	return func(block string) bool { return anyIn(m.keep, []string{head(block)}) }
}

// window bounds how much of a text patterns see. Go's regular expressions take linear time, but up
// to a tenth of a microsecond per byte.
const window = 32 << 10

// head returns the start of a text, without leading blank lines. The name of a job is there.
func head(text string) string {
	text = strings.TrimLeft(text, " \t\r\n")
	return text[:min(len(text), window)]
}

// ends returns the start of a text and, if that is not all, the end.
func ends(text string) []string {
	first := head(text)
	if len(text) <= window {
		return []string{first}
	}
	return []string{first, text[len(text)-window:]}
}

func anyIn(patterns []*pattern, texts []string) bool {
	return slices.ContainsFunc(patterns, func(p *pattern) bool {
		return slices.ContainsFunc(texts, p.compiled().MatchString)
	})
}
