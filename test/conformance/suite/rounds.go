package suite

import (
	"encoding/json"
	"fmt"
	"path/filepath"
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
	settings      func(event, matcher, command string) string // nil for guardHook
	options       []string                                    // that have it run unattended
}

// ran is what a hook leaves in the project; blocked is what it says.
const (
	ran     = "hook.log"
	blocked = "not such a prompt"
)

// rounds returns jobs of several rounds. The shim resumes the later ones, and the caller sees the
// same: when the model fails, when the session is broken, with hooks, and at a terminal.
func (c cli) rounds(tool string) (all []scenario) {
	add := func(name, proof string, resumes string, last call, args [][]string) {
		s := scenario{name: name, shown: withoutFigures, proof: proof, resumes: resumes,
			slow: c.modest}
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
		for name, marker := range map[string]string{"401": "HTTP401", "429": "HTTP429",
			"500": "HTTP500", "nothing": "EMPTY", "overflow": "TOOBIG"} {
			add(name+" in round 2, "+f.name, "", "", call{}, job(f, marker))
		}
		for name, script := range breaks(tool) {
			add(name+", "+f.name, "", "", call{Around: script}, job(f, "It still fails."))
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
	settings := g.settings
	if settings == nil {
		settings = guardHook
	}
	text := settings(event, matcher, fmt.Sprintf(
		"echo ran >>%s; grep '%s' >/dev/null || { echo %s >&2; exit 2; }", ran, word, blocked))
	if below, home := strings.CutPrefix(g.file, "~/"); home {
		c.Home = map[string]string{below: text}
	} else {
		c.Files = map[string]string{g.file: text}
	}
	return c
}

// guardHook returns settings with a hook that is this command.
func guardHook(event, matcher, command string) string {
	group := map[string]any{"hooks": []any{
		map[string]string{"type": "command", "command": command}}}
	if matcher != "" {
		group["matcher"] = matcher
	}
	return encode(map[string]any{"hooks": map[string]any{event: []any{group}}})
}

// copilotHook does the same for copilot. Its hook runs for all starts but resumes.
func copilotHook(event, _, command string) string {
	hook := map[string]string{"type": "command", "bash": command, "matcher": "startup|new"}
	return encode(map[string]any{"version": 1, "hooks": map[string]any{event: []any{hook}}})
}

// pluginHook returns a plugin of opencode that notes each run. It could do anything.
func pluginHook(string, string, string) string {
	return "import { appendFileSync } from 'fs'\nexport const Guard = async () => { " +
		"appendFileSync('" + ran + "', 'ran\\n'); return {} }\n"
}

func encode(settings any) string {
	text, err := json.Marshal(settings)
	if err != nil {
		panic(err) // only our own maps come here
	}
	return string(text)
}

// breaks returns scripts that break the sessions of a tool before it starts; none if they are rows
// of a database.
func breaks(tool string) map[string]string {
	t, _ := rewrite.Lookup(tool)
	home := t.Descriptor().Home(func(name string) string {
		return map[string]string{"HOME": "/HOME"}[name]
	})
	scripts := map[string]string{}
	for _, pattern := range t.Descriptor().Sessions {
		files := strings.Replace(filepath.Join(home, pattern), "/HOME", `"$HOME"`, 1)
		for name, command := range map[string]string{"session cut off": "truncate -s -40",
			"session gone": "rm"} {
			scripts[name] += fmt.Sprintf(`for f in %s; do [ ! -e "$f" ] || %s "$f"; done; `, files,
				command)
		}
	}
	for name := range scripts {
		scripts[name] += `exec "$0" "$@"`
	}
	return scripts
}

var jsonNumber = regexp.MustCompile(`(": ?)-?\d[\d.e+-]*|(tokens used[^\n]*\n)[\d,]+`)

// withoutFigures is an answer and the project's files without figures, which a session that goes on
// has others of: a resumed call of copilot shows none.
func withoutFigures(r harness.Result) string {
	slices.Sort(r.Files)
	return harness.WithoutFigures(jsonNumber.ReplaceAllString(answer(r), "${1}${2}N")) +
		strings.Join(r.Files, "")
}
