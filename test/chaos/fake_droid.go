package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

type fakeDroid struct{ plain }

func (fakeDroid) read(args []string) (q request) {
	q.format, q.deaf = "text", true
	for i := 1; i < len(args); i++ { // after exec
		name, value, attached := strings.Cut(args[i], "=")
		if known := slices.Contains([]string{"--output-format", "-o", "--fork"}, name); !known {
			if args[i] != "--" {
				q.prompt = args[i]
			}
			continue
		}
		if !attached {
			i++
			value = args[i]
		}
		if name == "--fork" {
			q.resume, q.fork = value, true
		} else {
			q.format = value
		}
	}
	return q
}

func (fakeDroid) compose(prompt, stdin string) string {
	if prompt == "" {
		return stdin
	}
	return prompt
}

func (fakeDroid) path(id, dir string) string {
	return filepath.Join(os.Getenv("HOME"), ".factory/sessions", notAlphanumeric.ReplaceAllString(dir, "-"), id+".jsonl")
}

func (fakeDroid) find(id string) string {
	found, _ := filepath.Glob(filepath.Join(os.Getenv("HOME"), ".factory/sessions/*", id+".jsonl"))
	if len(found) == 0 {
		return ""
	}
	return found[0]
}

func (fakeDroid) header(id string) string { return `{"type":"session_start","id":"` + id + `"}` }

const droidUsage = `"usage":{"input_tokens":9,"output_tokens":6,"cache_read_input_tokens":3,"cache_creation_input_tokens":0,"factory_credits":0}`

// droidFailure returns what a failed run ends with: a copy repeats its source's last answer.
func droidFailure(r *Run, turns int) string {
	for i := len(r.history) - 1; i >= 0 && turns > 1; i-- {
		if r.history[i].Role == "assistant" {
			return r.history[i].Text
		}
	}
	return "Exec failed"
}

// droidLines returns the lines of stream-json, each with its newline. It counts the session's turns.
func droidLines(s Script, r *Run, turns int) (lines []string) {
	session := `"timestamp":1795366179854,"session_id":"` + r.Session + `"`
	add := func(format string, args ...any) {
		lines = append(lines, `{"type":`+fmt.Sprintf(format, args...)+"}\n")
	}
	add(`"system","subtype":"init","cwd":%s,"session_id":"%s","tools":[],"model":"fake"`, rawJSON(r.Dir), r.Session)
	add(`"message","role":"user","id":"asked","text":%s,%s`, rawJSON(strings.TrimSpace(r.Prompt)), session)
	if s.Ending == Limit {
		add(`"error","source":"agent_loop","message":"500 something",%s`, session)
		add(`"error","source":"cli","message":%s,%s`, rawJSON(droidFailure(r, turns)), session)
		return lines
	}
	for i, text := range s.Said {
		if i > 0 {
			add(`"tool_call","toolName":"Execute","parameters":{"command":"%s"},%s`, strings.Repeat("x", s.Huge), session)
			add(`"tool_result","isError":false,"value":"done",%s`, session)
		}
		add(`"message","role":"assistant","id":"said","text":%s,%s`, rawJSON(text), session)
	}
	add(`"completion","finalText":%s,"numTurns":%d,"durationMs":7,%s,%s`, rawJSON(s.Said[len(s.Said)-1]), turns, session, droidUsage)
	return lines
}

// droidJSON returns json's only line.
func droidJSON(s Script, r *Run, turns int) string {
	if s.Ending == Limit {
		return fmt.Sprintf(`{"type":"result","subtype":"failure","is_error":true,"duration_ms":0,"num_turns":0,"result":%s,"session_id":"%s","usage":{"input_tokens":0,"output_tokens":0,"cache_read_input_tokens":0,"cache_creation_input_tokens":0,"factory_credits":0}}`+"\n",
			rawJSON(droidFailure(r, turns)), r.Session)
	}
	return fmt.Sprintf(`{"type":"result","subtype":"success","is_error":false,"duration_ms":7,"num_turns":%d,"result":%s,"session_id":"%s",%s}`+"\n",
		turns, rawJSON(s.Said[len(s.Said)-1]), r.Session, droidUsage)
}

func (fakeDroid) shown(format string, s Script, r *Run, turns int) Shown {
	stderr, broken := s.Noise, stops(s.Ending)
	if s.Ending == Middle {
		stderr += "something broke\n"
	}
	lines := droidLines(s, r, turns)
	switch {
	case format == "stream-json" && broken:
		return Shown{cut(lines), stderr}
	case broken:
		return Shown{"", stderr}
	case format == "stream-json" && s.NoFinal:
		return Shown{strings.TrimSuffix(strings.Join(lines, ""), "\n"), stderr}
	case format == "stream-json":
		return Shown{strings.Join(lines, ""), stderr}
	case format == "json":
		return Shown{droidJSON(s, r, turns), stderr}
	case s.Ending == Limit:
		return Shown{"", stderr + "Error during droid execution: " + droidFailure(r, turns) + "\n"}
	}
	return Shown{s.Said[len(s.Said)-1] + "\n", stderr}
}

// refused returns nothing: droid refuses without a word.
func (fakeDroid) refused(_ string, s Script, r *Run) (Shown, int) {
	if s.OnResume == OtherID {
		return Shown{droidLines(s, r, 1)[0], s.Noise}, 1
	}
	return Shown{}, 1
}
