package jobs

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reprise/test/harness"
)

// A hookPlace is where a tool's hooks are set, and their names: on a prompt, and on a start; ""
// where the tool runs none of that kind without a person.
type hookPlace struct {
	file, prompt, start string // the file is in the project, or below ~
	write               func(event, matcher, log, word string) string
	unattended          []string
	formats             map[string][]string
}

var hookPlaces = map[string]hookPlace{
	"claude": {".claude/settings.json", "UserPromptSubmit", "SessionStart", guardHook, nil,
		map[string][]string{
			"": nil, "json": {"--output-format=json"}, "stream": {"--output-format=stream-json",
				"--verbose"}}},
	"codex": {"~/.codex/hooks.json", "UserPromptSubmit", "SessionStart", guardHook,
		[]string{"--dangerously-bypass-hook-trust"}, map[string][]string{
			"": nil, "json": {"--json"}}},
	"copilot": {"~/.copilot/hooks/guard.json", "", "sessionStart", copilotHook, nil,
		map[string][]string{"": nil}},
	"droid": {".factory/settings.json", "", "SessionStart", guardHook, nil,
		map[string][]string{"": nil}},
	"gemini": {".gemini/settings.json", "BeforeAgent", "SessionStart", guardHook, nil,
		map[string][]string{
			"": nil, "json": {"-o", "json"}, "stream": {"-o", "stream-json"}}},
	"opencode": {".opencode/plugin/guard.js", "", "load", pluginHook, nil,
		map[string][]string{"": nil}},
	"qwen": {".qwen/settings.json", "UserPromptSubmit", "SessionStart", guardHook, nil,
		map[string][]string{
			"": nil, "json": {"-o", "json"}, "stream": {"-o", "stream-json"}}},
}

// headless are the words before a prompt.
var headless = map[string][]string{"claude": {"-p"}, "codex": {"exec"}, "copilot": {"-p"},
	"droid": {"exec"}, "gemini": {"-p"}, "opencode": {"run"}, "qwen": {"-p"}}

// Hooks of a resumed job do what they do without the shim. A hook on the prompt that looks for a
// word of its unchanged part finds it, or blocks the call; a hook on the start runs in each call;
// without hooks the job is resumed.
func TestHooksRunAsWithoutTheShim(t *testing.T) {
	cases := map[string]struct {
		event, matcher string // "" for no hook
		word           string // that the hook looks for
		resumed        bool   // whether the shim resumes the job's later rounds
	}{
		"absent": {resumed: true},
		"passes": {"prompt", "", "Rule 7:", true},
		"blocks": {"prompt", "", "a word that is not there", false},
		"start":  {"start", "startup", "", false},
	}
	rows := map[string]func(t *testing.T){}
	for tool, place := range hookPlaces {
		for format, options := range place.formats {
			for name, c := range cases {
				event, runs := map[string]string{"prompt": place.prompt,
					"start": place.start}[c.event], 3
				if name == "absent" {
					runs = 0
				} else if event == "" {
					continue
				}
				rows[strings.TrimSuffix(tool+" "+name+" "+format, " ")] = func(t *testing.T) {
					var saw [2][]string
					for i, shim := range []bool{false, true} {
						w := newWorld(t, tool, shim)
						log := filepath.Join(w.Root, "hook.log")
						file := filepath.Join(w.Project, place.file)
						if below, home := strings.CutPrefix(place.file, "~"); home {
							file = filepath.Join(w.Home, below)
						}
						if runs > 0 {
							put(t, file, place.write(event, c.matcher, log, c.word))
						}
						for n := range 3 {
							args := slices.Concat(headless[tool],
								[]string{round([]string{"It still fails.", "Still."}[:n]...)},
								options, place.unattended)
							r := w.run(tool, harness.Call{Args: args,
								Env: []string{"REPRISE_TASK=t", "REPRISE_ROLE=coder"}})
							saw[i] = append(saw[i], fmt.Sprintf(
								"exit %d, %d requests, blocked %v, answered %v", r.Exit,
								len(r.Asked),
								strings.Contains(r.Stdout+r.Stderr, "not such a prompt"),
								strings.Contains(r.Stdout, "STATUS")))
						}
						text, err := os.ReadFile(log)
						if got := strings.Count(string(text), "ran\n"); err != nil && runs > 0 ||
							got != runs {
							t.Errorf("shim %v: the hook ran %d times, want %d (%v)", shim, got,
								runs, err)
						}
						if shim {
							w.statusSays(fmt.Sprintf(`"resumed": %d`,
								map[bool]int{true: 2}[c.resumed]))
						}
					}
					if !slices.Equal(saw[0], saw[1]) {
						t.Errorf("direct:\n%s\nshimmed:\n%s", strings.Join(saw[0], "\n"),
							strings.Join(saw[1], "\n"))
					}
				}
			}
		}
	}
	each(t, rows, func(t *testing.T, _ string, test func(t *testing.T)) { test(t) })
}

// hookCommand is a command that notes each run, and blocks its input unless that has a word.
func hookCommand(log, word string) string {
	return fmt.Sprintf("cat >%[1]s.in; echo ran >>%[1]s; grep -q '%[2]s' %[1]s.in || { echo "+
		"'not such a prompt' >&2; exit 2; }", log, word)
}

// guardHook returns settings with a hook of that command.
func guardHook(event, matcher, log, word string) string {
	group := map[string]any{"hooks": []any{
		map[string]string{"type": "command", "command": hookCommand(log, word)}}}
	if matcher != "" {
		group["matcher"] = matcher
	}
	return encode(map[string]any{"hooks": map[string]any{event: []any{group}}})
}

// copilotHook does the same for copilot. Its hook runs for all starts but resumes.
func copilotHook(event, _, log, word string) string {
	hook := map[string]string{"type": "command", "bash": hookCommand(log, word),
		"matcher": "startup|new"}
	return encode(map[string]any{"version": 1, "hooks": map[string]any{event: []any{hook}}})
}

// pluginHook returns a plugin of opencode that notes each run. It could do anything.
func pluginHook(_, _, log, _ string) string {
	return fmt.Sprintf("import { appendFileSync } from 'fs'\nexport const Guard = async () => { "+
		"appendFileSync(%q, 'ran\\n'); return {} }\n", log)
}

func encode(settings any) string {
	text, err := json.Marshal(settings)
	if err != nil {
		panic(err)
	}
	return string(text)
}
