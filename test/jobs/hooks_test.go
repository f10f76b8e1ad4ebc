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

// A hookPlace is where a tool's hooks are set, and what they are called.
type hookPlace struct {
	file, prompt string // the file is in the project, or below ~
	unattended   []string
	formats      map[string][]string
}

var hookPlaces = map[string]hookPlace{
	"claude": {".claude/settings.json", "UserPromptSubmit", nil, map[string][]string{
		"": nil, "json": {"--output-format=json"}, "stream": {"--output-format=stream-json", "--verbose"}}},
	"codex":  {"~/.codex/hooks.json", "UserPromptSubmit", []string{"--dangerously-bypass-hook-trust"}, map[string][]string{"": nil, "json": {"--json"}}},
	"gemini": {".gemini/settings.json", "BeforeAgent", nil, map[string][]string{"": nil, "json": {"-o", "json"}, "stream": {"-o", "stream-json"}}},
	"qwen":   {".qwen/settings.json", "UserPromptSubmit", nil, map[string][]string{"": nil, "json": {"-o", "json"}, "stream": {"-o", "stream-json"}}},
}

// headless are the words before a prompt.
var headless = map[string][]string{"claude": {"-p"}, "codex": {"exec"}, "gemini": {"-p"}, "qwen": {"-p"}}

// Hooks of a resumed job do what they do without the shim. A hook on the prompt that looks for a word of its unchanged part
// finds it, or blocks the call; a hook on the start runs in each call; without hooks the job is resumed.
func TestHooksRunAsWithoutTheShim(t *testing.T) {
	cases := map[string]struct {
		hooks   func(p hookPlace, log string) string
		resumed bool // what the shim does with the job's later rounds
		runs    int  // of the hook in three rounds
	}{
		"absent": {func(hookPlace, string) string { return "{}" }, true, 0},
		"passes": {func(p hookPlace, log string) string { return guardHook(p.prompt, "", log, "Rule 7:") }, true, 3},
		"blocks": {func(p hookPlace, log string) string { return guardHook(p.prompt, "", log, "a word that is not there") }, false, 3},
		"start":  {func(_ hookPlace, log string) string { return guardHook("SessionStart", "startup", log, "") }, false, 3},
	}
	rows := map[string]func(t *testing.T){}
	for tool, place := range hookPlaces {
		for format, options := range place.formats {
			for name, c := range cases {
				rows[strings.TrimSuffix(tool+" "+name+" "+format, " ")] = func(t *testing.T) {
					var saw [2][]string
					for i, shim := range []bool{false, true} {
						w := newWorld(t, tool, shim)
						log := filepath.Join(w.Root, "hook.log")
						file := filepath.Join(w.Project, place.file)
						if below, home := strings.CutPrefix(place.file, "~"); home {
							file = filepath.Join(w.Home, below)
						}
						put(t, file, c.hooks(place, log))
						for n := range 3 {
							args := slices.Concat(headless[tool], []string{round([]string{"It still fails.", "Still."}[:n]...)}, options, place.unattended)
							r := w.run(tool, harness.Call{Args: args, Env: []string{"REPRISE_TASK=t", "REPRISE_ROLE=coder"}})
							saw[i] = append(saw[i], fmt.Sprintf("exit %d, %d requests, blocked %v, answered %v", r.Exit, len(r.Asked),
								strings.Contains(r.Stdout+r.Stderr, "not such a prompt"), strings.Contains(r.Stdout, "STATUS")))
						}
						text, err := os.ReadFile(log)
						if runs := strings.Count(string(text), "ran\n"); err != nil && c.runs > 0 || runs != c.runs {
							t.Errorf("shim %v: the hook ran %d times, want %d (%v)", shim, runs, c.runs, err)
						}
						if shim {
							w.statusSays(fmt.Sprintf(`"resumed": %d`, map[bool]int{true: 2}[c.resumed]))
						}
					}
					if !slices.Equal(saw[0], saw[1]) {
						t.Errorf("direct:\n%s\nshimmed:\n%s", strings.Join(saw[0], "\n"), strings.Join(saw[1], "\n"))
					}
				}
			}
		}
	}
	each(t, rows, func(t *testing.T, _ string, test func(t *testing.T)) { test(t) })
}

// guardHook returns settings with a hook that notes each run, and blocks what it is given unless that has a word.
func guardHook(event, matcher, log, word string) string {
	command := fmt.Sprintf("cat >%[1]s.in; echo ran >>%[1]s; grep -q '%[2]s' %[1]s.in || { echo 'not such a prompt' >&2; exit 2; }", log, word)
	group := map[string]any{"hooks": []any{map[string]string{"type": "command", "command": command}}}
	if matcher != "" {
		group["matcher"] = matcher
	}
	text, err := json.Marshal(map[string]any{"hooks": map[string]any{event: []any{group}}})
	if err != nil {
		panic(err)
	}
	return string(text)
}
