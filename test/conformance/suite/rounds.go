package suite

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"reprise/rewrite"
	"reprise/test/harness"
)

// A guard is where a tool's hooks are set, and their names: on a prompt, and on a start; "" where
// the tool runs none of that kind without a person.
type guard struct {
	file          string // in the project, or below ~
	prompt, start string
	text          string   // of the file, "" for settings as claude's
	options       []string // that have it run unattended
}

// rounds returns jobs of several rounds. The shim resumes the later ones, and the caller sees the
// same: when the model fails, when the session is broken, with hooks, and at a terminal.
func (c cli) rounds(tool string) (all []scenario) {
	add := func(name, proof string, resumes string, last call, args [][]string) {
		s := scenario{name: name, shown: withoutFigures, proof: proof, resumes: resumes,
			slow: c.modest && !strings.HasPrefix(name, "three")}
		for i, words := range args {
			one := last
			one.Args, one.Env = words, list("REPRISE_TASK=t|REPRISE_ROLE=coder")
			if i < len(args)-1 {
				one.Around = ""
			}
			s.calls = append(s.calls, one)
		}
		all = append(all, s)
	}
	for _, f := range c.formats {
		job := func(f format, notes ...string) (args [][]string) {
			for i := range len(notes) + 1 {
				args = append(args, c.ask(f, harness.Round(notes[:i]...)))
			}
			return args
		}
		three := job(f, "It still fails.", "Still.")
		add("three rounds, "+f.name, "", "2 resumed", call{}, three)
		if at := (call{Args: three[0], To: harness.Screen}); headlessAtTerminal(tool, at) {
			add("three rounds, "+f.name+atTerminal, "", "2 resumed", at, three)
			add("401 in round 2, "+f.name+atTerminal, "", "", at, job(f, "HTTP401"))
		}
		for name, marker := range map[string]string{"401": "HTTP401", "404": "HTTP404",
			"429": "HTTP429", "500": "HTTP500", "nothing": "EMPTY", "overflow": "TOOBIG"} {
			if !c.retries(name) {
				add(name+" in round 2, "+f.name, "", "", call{}, job(f, marker))
			}
		}
		for name, command := range map[string]string{"cut off": "truncate -s -40",
			"emptied": "truncate -s 0", "gone": "rm"} {
			add("session "+name+", "+f.name, "", "", call{Around: breaking(tool, command)},
				job(f, "It still fails."))
		}
		f.args = slices.Concat(f.args, c.guard.options)
		three = job(f, "It still fails.", "Still.")
		if c.guard.prompt != "" {
			add("a hook lets prompts pass, "+f.name, strings.Repeat("ran\n", 3), "2 resumed",
				c.guard.on(c.guard.prompt, "", "Rule 7:"), three)
			add("a hook blocks prompts, "+f.name, "ran\n", "0 resumed",
				c.guard.on(c.guard.prompt, "", "no such word"), three[:2])
		}
		if c.guard.start != "" {
			add("a hook at the start, "+f.name, strings.Repeat("ran\n", 2), "0 resumed",
				c.guard.on(c.guard.start, "startup", ""), three[:2])
		}
	}
	return all
}

// on returns a call with a hook that notes each run, and blocks its input unless that has a word.
func (g guard) on(event, matcher, word string) (c call) {
	text := strings.NewReplacer("EVENT", event, "MATCHER", matcher, "COMMAND", fmt.Sprintf(
		"echo ran >>hook.log; grep '%s' >/dev/null || { echo blocked >&2; exit 2; }", word),
	).Replace(cmp.Or(g.text, `{"hooks":{"EVENT":[{"matcher":"MATCHER","hooks":[`+
		`{"type":"command","command":"COMMAND"}]}]}}`))
	if below, home := strings.CutPrefix(g.file, "~/"); home {
		c.Home = map[string]string{below: text}
	} else {
		c.Files = map[string]string{g.file: text}
	}
	return c
}

// breaking returns a script that applies a command to the sessions of a tool, and starts it then.
// Rows of a database stay.
func breaking(tool, command string) (script string) {
	t, _ := rewrite.Lookup(tool)
	for _, pattern := range t.Descriptor().Sessions {
		script += fmt.Sprintf(`for f in "$HOME"/.*/%s; do [ ! -e "$f" ] || %s "$f"; done; `,
			pattern, command)
	}
	return script + `exec "$0" "$@"`
}

var jsonNumber = regexp.MustCompile(`(": ?)-?\d[\d.e+-]*|(tokens used[^\n]*\n)[\d,]+`)

// claudeUsage is of one model. claude resumes with other keys first.
var claudeUsage = regexp.MustCompile(`"inputTokens":N[^{}]*`)

// withoutFigures is an answer and the project's files without figures, which a session that goes on
// has others of: a resumed call of copilot shows none.
func withoutFigures(r harness.Result) string {
	slices.Sort(r.Files)
	text := jsonNumber.ReplaceAllString(answer(r), "${1}${2}N") + strings.Join(r.Files, "")
	return harness.WithoutFigures(claudeUsage.ReplaceAllStringFunc(text, func(usage string) string {
		keys := strings.Split(usage, ",")
		slices.Sort(keys)
		return strings.Join(keys, ",")
	}))
}
