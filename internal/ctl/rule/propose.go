package rule

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"reprise/config"
	"reprise/internal/ctl/view"
	"reprise/ledger"
	"reprise/ledger/replay"
	"reprise/rewrite/reason"
)

// A proposal is a rule for calls that look like rounds of one job.
type proposal struct {
	Text  string // as TOML
	rules []config.Rule
	tried TriedRule
}

// Why there is no rule for a call.
var (
	errPromptGone = errors.New("its prompt is not in the tool's own files any more")
	errNoRounds   = errors.New("no other call is like it")
	errManyJobs   = errors.New("calls like it belong to several jobs, and no line of their prompts names the job")
	errMixes      = errors.New("a rule would put prompts that begin differently into one session")
	errNoGain     = errors.New("with a rule, none of the calls like it would have been resumed")
)

// NamedBy is the error that a call has no proposal because a rule names calls like it by now.
type NamedBy string

func (rule NamedBy) Error() string { return "rule " + string(rule) + " names calls like it by now" }

// proposeRule returns the rule for the job of a call, and what it would have made of these calls.
func (past *Past) proposeRule(id int64, tool, cwd string) (p proposal, err error) {
	calls := past.sentLike(tool, cwd)
	at := slices.IndexFunc(calls, func(c sentCall) bool { return c.ID == id })
	if at < 0 {
		return p, errPromptGone
	}
	if by := past.nameBy(tool, cwd, calls[at].prompt); by != "" {
		return p, NamedBy(by)
	}
	if p, err = propose(calls[at], calls, ruleName(calls[at], past.config.RuleNames())); err != nil {
		return p, err
	}
	tried, err := past.try(p.rules)
	if err != nil {
		return p, err
	}
	if p.tried = tried[0]; p.tried.Resumed == 0 {
		return p, errNoGain
	}
	return p, nil
}

// ruleName returns a name for a call's rule that no rule has: that of its caller, or else of its directory.
func ruleName(c sentCall, taken []string) string {
	name := strings.TrimSuffix(c.Caller, filepath.Ext(c.Caller))
	if name == "" {
		name = filepath.Base(c.Cwd)
	}
	name = strings.Trim(regexp.MustCompile(`[^\pL\pN]+`).ReplaceAllString(name, "-"), "-")
	name = clip(cmp.Or(name, "job"))
	free := name
	for n := 2; slices.Contains(taken, free); n++ {
		free = fmt.Sprintf("%s-%d", name, n)
	}
	return free
}

// propose returns a rule with that name for a call, given all calls of its tool and directory. It has a role for each way in
// which the prompts of the call's caller begin; if these cannot be told apart, it is for prompts that begin like the call's, with
// other numbers too: a rule for one job's number would match no later job.
func propose(call sentCall, calls []sentCall, name string) (proposal, error) {
	times := map[string]int{}
	for _, c := range calls {
		if c.Caller == call.Caller {
			times[c.begins]++
		}
	}
	if times[call.begins] < 2 {
		return proposal{}, errNoRounds
	}
	all := slices.DeleteFunc(slices.Clone(calls), func(c sentCall) bool { return c.Caller != call.Caller || times[c.begins] < 2 })
	own := slices.DeleteFunc(slices.Clone(all), func(c sentCall) bool { return c.withoutNumbers() != call.withoutNumbers() })
	p, err := proposeGroup(call, all, calls, name)
	if err != nil && len(own) < len(all) {
		p, err = proposeGroup(call, own, calls, name)
	}
	return p, err
}

// withoutNumbers returns the opening with its words with digits made equal.
func (c *sentCall) withoutNumbers() string {
	return word.ReplaceAllStringFunc(strings.Join(c.opening, "\n"), func(w string) string {
		if hasDigit.MatchString(w) {
			return "0"
		}
		return w
	})
}

// proposeGroup returns a rule for a group of calls. It checks the rule with all calls of the tool and directory.
func proposeGroup(call sentCall, group, calls []sentCall, name string) (p proposal, err error) {
	o := openingOf(group)
	task := ""
	if !o.namesTask {
		if task, err = jobPattern(group); err != nil {
			return p, err
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s.\n[[rule]]\nname = %s\ntool = %s\ncwd = %s\n", alike(group), tomlText(name), tomlText(call.Tool), tomlText(globText(call.Cwd)))
	patterns := o.patterns
	if task != "" {
		patterns = append(patterns, task)
	}
	switch len(patterns) {
	case 1:
		fmt.Fprintf(&b, "prompt = %s\n", tomlText(patterns[0]))
	default:
		fmt.Fprintf(&b, "prompt = [%s]\n", strings.Join(view.Mapped(patterns, tomlText), ", "))
	}
	if task == "" && !o.namesTask {
		fmt.Fprintf(&b, "task = %s\n", tomlText(name))
	}
	if o.role != "" {
		fmt.Fprintf(&b, "role = %s\n", tomlText(o.role))
	}
	p.Text = b.String()
	if p.rules, err = config.ParseRules("rule", p.Text, ""); err != nil {
		return p, err
	}
	return p, checkRoles(&p.rules[0], group, calls)
}

// checkRoles reports an error if a rule does not match each call of its group with task and role, or if it has prompts that
// begin differently in one role of one task.
func checkRoles(r *config.Rule, group, calls []sentCall) error {
	begins, matched := map[[2]string]string{}, 0
	for _, c := range calls {
		text := c.prompt.Text
		if c.lead != "" {
			text = c.lead + "\n" + text
		}
		m, ok := r.MatchSent(config.Subject{Tool: c.Tool, Cwd: c.Cwd, Prompt: text})
		if !ok {
			continue
		}
		job := [2]string{m.Task, m.Role}
		if m.Task == "" || m.Role == "" || begins[job] != "" && begins[job] != c.begins {
			return errMixes
		}
		begins[job] = c.begins
		if slices.ContainsFunc(group, func(g sentCall) bool { return g.ID == c.ID }) {
			matched++
		}
	}
	if matched < len(group) {
		return errMixes
	}
	return nil
}

// An opening matches how the prompts of a group begin.
type opening struct {
	patterns  []string
	role      string // if the patterns capture none
	namesTask bool   // they capture a task
}

// word matches a word, or any other character.
var (
	word       = regexp.MustCompile(`[\pL\pN]+(?:[_./#-]+[\pL\pN]+)*|.`)
	startsWord = regexp.MustCompile(`^[\pL\pN]`)
	hasDigit   = regexp.MustCompile(`\pN`)
)

const anyWord = `[\pL\pN_./#-]+`

// openingOf compares the prompts' openings line by line. Words with digits in which they differ name the task or count
// its rounds; the first other words in which they differ are the roles.
func openingOf(group []sentCall) (o opening) {
	lines := len(group[0].opening)
	for _, c := range group {
		lines = min(lines, len(c.opening))
	}
	lead, alike := leadPattern(group), lines // alike is how many lines are the same in all
	for n := range lines {
		own := func(c sentCall) string { return c.opening[n] }
		if allEqual(group, own) {
			continue
		}
		alike = min(alike, n)
		pattern, task, role := linePatternOf(group, n, !o.namesTask)
		if pattern == "" {
			break
		}
		if n == 0 {
			pattern = "^" + lead + pattern
		} else {
			pattern = `(?m)^\s*` + pattern
		}
		o.patterns, o.namesTask = append(o.patterns, pattern), o.namesTask || task
		if role {
			return o
		}
	}
	if alike > 0 { // no word tells this role from others: the lines do
		start := view.Mapped(group[0].opening[:min(alike, longestStart)], wholeLine)
		o.patterns = slices.Insert(o.patterns, 0, "^"+lead+strings.Join(start, `\s*`))
	}
	o.role = roleWords(group[0].opening)
	return o
}

// longestStart is how many lines of an opening a pattern contains.
const longestStart = 4

// wholeLine matches a line, a long one by its start.
func wholeLine(line string) string {
	const most = 80
	if utf8.RuneCountInString(line) <= most {
		return regexp.QuoteMeta(line) + `\s*?(?:\n|$)`
	}
	return regexp.QuoteMeta(string([]rune(line)[:most])) + `[^\n]*`
}

// leadPattern matches the lead-ins of a group's prompts, "" if there are none.
func leadPattern(group []sentCall) string {
	leads := map[string]bool{}
	for _, c := range group {
		if c.lead != "" {
			leads[regexp.QuoteMeta(c.lead)] = true
		}
	}
	if len(leads) == 0 {
		return ""
	}
	return `(?:(?:` + strings.Join(slices.Sorted(maps.Keys(leads)), "|") + `)\s+)?`
}

// allEqual reports whether all calls have the same value.
func allEqual(group []sentCall, value func(sentCall) string) bool {
	return !slices.ContainsFunc(group, func(c sentCall) bool { return value(c) != value(group[0]) })
}

// linePatternOf matches a line of the openings as far as it captures a role, and a task behind it, or the whole line. It returns
// no pattern if the lines differ in something else.
func linePatternOf(group []sentCall, n int, wantTask bool) (pattern string, task, role bool) {
	words := map[string][]string{}
	most := 0
	for _, c := range group {
		if words[c.opening[n]] == nil {
			words[c.opening[n]] = word.FindAllString(c.opening[n], -1)
			most = max(most, len(words[c.opening[n]]))
		}
	}
	captured, roleAt, behind := "", 0, false // captured is the pattern up to the role, or as far as it goes if the task is behind that
	for at := range most {
		if slices.ContainsFunc(group, func(c sentCall) bool { return len(words[c.opening[n]]) <= at }) {
			return captured, task, role
		}
		own := func(c sentCall) string { return words[c.opening[n]][at] }
		are := func(kind *regexp.Regexp) bool {
			return !slices.ContainsFunc(group, func(c sentCall) bool { return !kind.MatchString(own(c)) })
		}
		ofRole := func(c sentCall) string { return words[c.opening[n]][roleAt] }
		switch {
		case allEqual(group, own):
			pattern += regexp.QuoteMeta(own(group[0]))
		case wantTask && !task && (are(hasDigit) && !counts(group, own) || role && are(startsWord) && differWithin(group, own, ofRole) && differWithin(group, ofRole, own)):
			pattern, task = pattern+"(?P<task>"+anyWord+")", true
			behind = role
		case are(hasDigit):
			pattern += anyWord
		case !role && are(startsWord):
			choice, end := roleChoice(group, own)
			pattern, role, roleAt = pattern+choice, true, at
			captured = pattern + end
		default:
			return captured, task, role
		}
		if behind {
			captured = pattern
		}
	}
	if role {
		return captured, task, role
	}
	return pattern, task, role
}

// differWithin reports whether two calls of one kind have different values.
func differWithin(group []sentCall, own, kind func(sentCall) string) bool {
	seen := map[string]string{}
	for _, c := range group {
		if before, ok := seen[kind(c)]; ok && before != own(c) {
			return true
		}
		seen[kind(c)] = own(c)
	}
	return false
}

// counts reports whether a word differs between prompts that otherwise begin alike, as the number of a round does.
func counts(group []sentCall, own func(sentCall) string) bool {
	return differWithin(group, own, func(c sentCall) string { return c.begins })
}

// roleChoice captures the words that the group has in one place as the role. end keeps it from matching the beginning of a longer word.
func roleChoice(group []sentCall, own func(sentCall) string) (choice, end string) {
	var roles []string
	end = `\b`
	for _, c := range group {
		if role := regexp.QuoteMeta(own(c)); !slices.Contains(roles, role) {
			roles = append(roles, role)
		}
		if last, _ := utf8.DecodeLastRuneInString(own(c)); last >= utf8.RuneSelf {
			end = `(?:[^\pL\pN]|$)` // \b knows ASCII only
		}
	}
	slices.SortFunc(roles, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	return "(?P<role>" + strings.Join(roles, "|") + ")", end
}

var youAre = regexp.MustCompile(`(?i)\byou are (?:an? |the )?([\pL\pN][\pL\pN -]*)`)

// afterNoun are words with which what is said of a role begins, as in the coder of a small project.
var afterNoun = []string{"about", "at", "by", "for", "from", "in", "of", "on", "responsible", "that", "to", "who", "whose", "with", "working"}

// roleWords returns a name for the role of prompts that begin so.
func roleWords(opening []string) string {
	const most = 3
	words := opening[0]
	if found := youAre.FindStringSubmatch(strings.Join(opening, " ")); found != nil {
		words = found[1]
	}
	names := slices.DeleteFunc(word.FindAllString(strings.ToLower(words), -1), func(w string) bool {
		return !startsWord.MatchString(w) || hasDigit.MatchString(w) // a sign, the task or a count
	})
	if of := slices.IndexFunc(names, func(w string) bool { return slices.Contains(afterNoun, w) }); of > 0 {
		names = names[:of]
	}
	return cmp.Or(strings.Join(names[:min(len(names), most)], " "), "first")
}

// rounds shows which calls of a group look like rounds of one job.
type rounds struct {
	place map[string]int // by how a prompt begins: the place in which most of them differ
	job   []int          // of each call: the same number for the calls of one job that begin alike
}

func roundsOf(group []sentCall) rounds {
	r := rounds{map[string]int{}, make([]int, len(group))}
	type pair struct{ earlier, later, place int } // place is -1 where the later prompt repeats all of the earlier one
	var pairs []pair
	type placed struct {
		begins string
		place  int
	}
	counts := map[placed]int{}
	for later, c := range group {
		r.job[later] = later
		for earlier, e := range group[:later] {
			if e.begins != c.begins || e.LastUsed > c.Started {
				continue
			}
			x, y := e.prompt.Footprint(), c.prompt.Footprint()
			relation := replay.Relate(x.Blocks, y.Blocks)
			place, _, ok := replay.OneDifference(x, y)
			if ok {
				counts[placed{c.begins, place}]++
			}
			if relation == reason.Identical || relation == reason.Extends {
				place, ok = -1, true
			}
			if ok {
				pairs = append(pairs, pair{earlier, later, place})
			}
		}
	}
	for _, p := range slices.SortedFunc(maps.Keys(counts), func(a, b placed) int { return cmp.Compare(a.place, b.place) }) {
		if best, ok := r.place[p.begins]; !ok || counts[p] >= counts[placed{p.begins, best}] {
			r.place[p.begins] = p.place
		}
	}
	for _, p := range pairs {
		if p.place == -1 || p.place == r.place[group[p.later].begins] {
			r.join(r.job[p.earlier], r.job[p.later])
		}
	}
	return r
}

// join makes two jobs one.
func (r rounds) join(one, other int) {
	for i := range r.job {
		if r.job[i] == other {
			r.job[i] = one
		}
	}
}

// jobPattern captures what names the job in the prompts of a group, "" if all that begin alike belong to one job.
func jobPattern(group []sentCall) (string, error) {
	r := roundsOf(group)
	var pattern *regexp.Regexp
	for later, c := range group {
		for earlier, e := range group[:later] {
			if pattern == nil && e.begins == c.begins && r.job[earlier] != r.job[later] {
				d, err := differ(e.prompt, c.prompt)
				if err != nil || d.pattern == "" {
					return "", errManyJobs
				}
				pattern = regexp.MustCompile(d.pattern)
			}
		}
	}
	if pattern == nil {
		return "", nil
	}
	names := map[int]string{}
	jobs := map[[2]string]int{}
	for i, c := range group {
		found := pattern.FindStringSubmatch(c.prompt.Text)
		if found == nil {
			return "", errManyJobs
		}
		job, begins := r.job[i], [2]string{c.begins, found[1]}
		if name, ok := names[job]; ok && name != found[1] {
			return "", errManyJobs
		}
		if other, ok := jobs[begins]; ok && other != job {
			return "", errManyJobs
		}
		names[job], jobs[begins] = found[1], job
	}
	if len(names) == len(group) { // no two calls are rounds of one job
		return "", errManyJobs
	}
	return pattern.String(), nil
}

// alike says what the calls of a group have in common: the places in which those differ that begin alike.
func alike(group []sentCall) string {
	places, times := roundsOf(group).place, map[string]int{}
	var parts []string // in which they differ
	for _, c := range group {
		if place, ok := places[c.begins]; ok {
			where := placeWords(c.prompt, place)
			if times[where]++; times[where] == 1 {
				parts = append(parts, where)
			}
		}
	}
	words := strings.Join(view.Mapped(parts, func(where string) string { return sameBut(times[where], where) }), "; ")
	return callerWords(group[0].FreshCall) + ": " + cmp.Or(words, view.Count(int64(len(group)), "call"))
}

// sameBut says of calls that they differ in one place of a prompt.
func sameBut(calls int, where string) string {
	return fmt.Sprintf("%s, the same but for %s", view.Count(int64(calls), "call"), where)
}

// callerWords names the caller, or where it makes its calls.
func callerWords(c ledger.FreshCall) string {
	return clip(cmp.Or(c.Caller, c.Tool+" in "+filepath.Base(c.Cwd)))
}
