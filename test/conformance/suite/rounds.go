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
	matcher       string   // of a new session, "" for startup
	each          string   // how many calls are resumed with a hook at each start, "" for all
	blocked       string   // likewise if a hook blocks a prompt, "" for the blocked one alone
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
		for name, g := range c.guard.kinds() {
			proof := strings.Repeat("ran\n", len(three))
			if g.matcher == "resume" {
				proof = "" // none of the calls is a resume for the caller
			}
			add(name+", "+f.name, proof, g.resumes,
				c.guard.on(g.event, g.matcher, g.blocks), three)
		}
	}
	return all
}

// A kind is a kind of hook: an event and a matcher, whether it blocks round 2, and how many calls
// the shim resumes.
type kind struct {
	event, matcher string
	blocks         string
	resumes        string
}

// kinds returns the kinds of a tool's hooks.
func (g guard) kinds() map[string]kind {
	if g.text != "" && !strings.Contains(g.text, "MATCHER") { // code: no call is resumed
		return map[string]kind{"a hook lets prompts pass": {g.prompt, "", "", "0 resumed"},
			"a hook blocks a prompt": {g.prompt, "", " blocks", "0 resumed"},
			"a hook at the start":    {g.start, "", "", "0 resumed"}}
	}
	all := map[string]kind{}
	if g.prompt != "" {
		all["a hook lets prompts pass"] = kind{g.prompt, "", "", "2 resumed"}
		all["a hook blocks a prompt"] = kind{g.prompt, "", " blocks",
			cmp.Or(g.blocked, "1 resumed")}
		all["a hook blocks a prompt by JSON"] = kind{g.prompt, "", " json", "1 resumed"}
		all["a hook ends a run by JSON"] = kind{g.prompt, "", " continue",
			cmp.Or(g.blocked, "1 resumed")}
	}
	if g.start != "" {
		all["a hook at the start"] = kind{g.start, cmp.Or(g.matcher, "startup"), "", "0 resumed"}
		all["a hook at each start"] = kind{g.start, "", "", cmp.Or(g.each, "2 resumed")}
		all["a hook at a resume"] = kind{g.start, "resume", "", "0 resumed"}
	}
	return all
}

// noteHook notes a run of a hook, and the prompts that it is given. It can block round 2.
const noteHook = `input=$(cat); echo ran >>hook.log
printf '%s\n' "$input" |
	grep -oE '"[a-zA-Z_]*(event_name|[pP]rompt)": ?"([^"\\]|\\.)*"' >>hook.prompts
case $input in *"Rejection 2"*) ;; *"Rejection 1"*) case $1 in
blocks) echo blocked >&2; exit 2 ;;
json) echo '{"decision":"block","reason":"blocked"}' ;;
continue) echo '{"continue":false,"stopReason":"blocked"}' ;;
esac ;; esac
`

// on returns a call with a hook.
func (g guard) on(event, matcher, blocks string) (c call) {
	command := "sh ./note.sh" + blocks
	text := strings.NewReplacer("EVENT", event, "MATCHER", matcher, "COMMAND", command).Replace(
		cmp.Or(g.text, `{"hooks":{"EVENT":[{"matcher":"MATCHER","hooks":[`+
			`{"type":"command","command":"COMMAND"}]}]}}`))
	c.Files = map[string]string{"note.sh": noteHook}
	if below, home := strings.CutPrefix(g.file, "~/"); home {
		c.Home = map[string]string{below: text}
	} else {
		c.Files[g.file] = text
	}
	return c
}

// breaking returns a script that applies a command to the sessions of a tool, and starts it then.
// Rows of a database stay.
func breaking(tool, command string) (script string) {
	t, _ := rewrite.Lookup(tool)
	for _, pattern := range harness.SessionFiles(t) {
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
