package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

type fakeCodex struct{ plain }

func (fakeCodex) read(args []string) (q request) {
	q.format, q.waits = "text", true
	for i := 1; i < len(args); i++ { // args[0] is exec
		switch args[i] {
		case "--json":
			q.format = "stream-json"
		case "--skip-git-repo-check":
		case "resume":
			i++
			q.resume, q.waits = args[i], false
		case "-":
		case "-m":
			i++
		default:
			q.prompt = args[i]
		}
	}
	return q
}

func (fakeCodex) compose(prompt, stdin string) string {
	switch {
	case prompt == "":
		return stdin
	case strings.TrimSpace(stdin) == "":
		return prompt
	case !strings.HasSuffix(stdin, "\n"):
		stdin += "\n"
	}
	return prompt + "\n\n<stdin>\n" + stdin + "</stdin>"
}

func codexHome() string { return filepath.Join(os.Getenv("HOME"), ".codex") }

func (fakeCodex) path(id, _ string) string {
	return filepath.Join(codexHome(), "sessions/2026/11/21/rollout-2026-11-21T08-00-00-"+id+".jsonl")
}

func (c fakeCodex) find(id string) string {
	path := c.path(id, "")
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

func (fakeCodex) header(id string) string {
	return fmt.Sprintf(`{"type":"session_meta","payload":{"id":"%s","cli_version":"0.169.0"}}`, id)
}

// The tokens of one turn.
const (
	codexInput  = 1000
	codexCached = 400
	codexOutput = 50
)

// codexUsage returns the cumulative figures after some turns.
func codexUsage(turns int) string {
	return fmt.Sprintf(`"input_tokens":%d,"cached_input_tokens":%d,"cache_write_input_tokens":0,"output_tokens":%d,"reasoning_output_tokens":0`,
		codexInput*turns, codexCached*turns, codexOutput*turns)
}

// codexFigures returns the records at a turn's end in a rollout.
func codexFigures(turns int) string {
	return fmt.Sprintf(`{"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{%s,"total_tokens":%d},"last_token_usage":{%s,"total_tokens":%d},"model_context_window":200000}}}`+"\n",
		codexUsage(turns), (codexInput+codexOutput)*turns, codexUsage(1), codexInput+codexOutput)
}

func (fakeCodex) shown(format string, s Script, r *Run, turns int) Shown {
	if format == "text" {
		return codexText(s, r, turns)
	}
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)+"\n") }
	stderr := codexNotice(r.Args) + s.Noise
	add(`{"type":"thread.started","thread_id":"%s"}`, r.Session)
	add(`{"type":"turn.started"}`)
	if s.Ending == Limit {
		add(`{"type":"error","message":"exceeded retry limit, last status: 429 Too Many Requests"}`)
		add(`{"type":"turn.failed","error":{"message":"exceeded retry limit, last status: 429 Too Many Requests"}}`)
		return Shown{strings.Join(lines, ""), stderr}
	}
	for i, text := range s.Said {
		add(`{"type":"item.completed","item":{"id":"item_%d","type":"agent_message","text":%s}}`, i, toJSON(text))
		if i == 0 && s.Huge > 0 {
			add(`{"type":"item.completed","item":{"id":"item_x","type":"command_execution","aggregated_output":"%s"}}`, strings.Repeat("x", s.Huge))
		}
	}
	add(`{"type":"turn.completed","usage":{%s}}`, codexUsage(turns))
	if stops(s.Ending) {
		return Shown{cut(lines), stderr}
	}
	text := strings.Join(lines, "")
	if s.NoFinal {
		text = strings.TrimSuffix(text, "\n")
	}
	return Shown{text, stderr}
}

// codexNotice returns the line about stdin at the beginning of a fresh run.
func codexNotice(args []string) string {
	q := fakeCodex{}.read(args)
	last := args[len(args)-1]
	switch {
	case q.resume != "" || last == "-":
		return ""
	case q.prompt == "":
		return "Reading prompt from stdin...\n"
	}
	return "Reading additional input from stdin...\n"
}

func codexText(s Script, r *Run, turns int) Shown {
	transcript := codexNotice(r.Args) + s.Noise + "OpenAI Codex v0.169.0\n--------\nworkdir: " + r.Dir +
		"\nmodel: fake\nsession id: " + r.Session + "\n--------\nuser\n" + r.Prompt + "\n"
	if s.Ending == Limit {
		return Shown{"", transcript + "ERROR: exceeded retry limit, last status: 429 Too Many Requests\n"}
	}
	for i, text := range s.Said {
		if stops(s.Ending) && i == len(s.Said)-1 {
			return Shown{"", transcript + "codex\n" + text[:len(text)/2]}
		}
		transcript += "codex\n" + text + "\n"
	}
	transcript += "tokens used\n" + thousands((codexInput-codexCached+codexOutput)*turns) + "\n"
	return Shown{s.Said[len(s.Said)-1] + "\n", transcript}
}

func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}

func (fakeCodex) refused(format string, s Script, r *Run) (Shown, int) {
	if s.OnResume == OtherID {
		if format == "text" {
			return Shown{"", codexText(s, r, 1).Stderr}, 1
		}
		return Shown{fmt.Sprintf(`{"type":"thread.started","thread_id":"%s"}`+"\n", r.Session), s.Noise}, 1
	}
	why := map[Refusal]string{
		Silent:  "something (code -32000)",
		Busy:    "thread " + r.Session + " already has an active writer (code -32600)",
		Unknown: "no rollout found for thread id " + r.Session + " (code -32600)",
	}[s.OnResume]
	return Shown{"", s.Noise + "Error: thread/resume: thread/resume failed: " + why + "\n"}, 1
}
