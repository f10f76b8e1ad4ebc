package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// installCopilot creates what npm leaves beside a command. The shim reads the version from it.
func installCopilot(tools string) error {
	return os.WriteFile(filepath.Join(tools, "package.json"), []byte(`{"version":"1.0.102","bin":{"copilot":"copilot"}}`), 0o600)
}

type fakeCopilot struct{ plain }

func (fakeCopilot) read(args []string) (q request) {
	q.format, q.deaf = "text", true
	for name, value := range options(args) {
		switch name {
		case "--output-format":
			if q.format != "silent" || value == "json" {
				q.format = value
			}
		case "--silent":
			q.format = "silent"
		case "--usage-output-file":
			q.dir = value
		case "--share":
			q.share = value
		case "--resume":
			q.resume = value
		case "--prompt", "-p":
			q.prompt = value
		}
	}
	return q
}

func (fakeCopilot) compose(prompt, stdin string) string {
	if prompt == "" {
		return stdin
	}
	return prompt
}

func (fakeCopilot) path(id, _ string) string {
	return filepath.Join(os.Getenv("HOME"), ".copilot/session-state", id, "events.jsonl")
}

func (c fakeCopilot) find(id string) string {
	path := c.path(id, "")
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

const copilotTime = `"timestamp":"2026-11-21T08:00:00.000Z"`

func (fakeCopilot) header(id string) string {
	return `{"type":"session.start","data":{"sessionId":"` + id + `","copilotVersion":"1.0.102"},` + copilotTime + `}`
}

// begins notes in the session's file that it is continued.
func (c fakeCopilot) begins(q request, _ *Run, s Script) {
	if q.resume == "" || s.OnResume != Takes {
		return
	}
	f, err := os.OpenFile(c.path(q.resume, ""), os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	fmt.Fprintln(f, `{"type":"session.resume","data":{"resumeTime":"2026-11-21T08:00:00.000Z"},`+copilotTime+`}`)
}

// copilotTurns counts the turns of the session, this one included.
func copilotTurns(r *Run) int {
	turns, last := 1, ""
	for _, t := range r.history {
		if t.Role == "assistant" && last == "user" {
			turns++
		}
		if t.Role != "" {
			last = t.Role
		}
	}
	return turns
}

// ended writes the figures of the session, and the session itself.
func (fakeCopilot) ended(q request, r *Run, _ Script, _ int) {
	if q.dir != "" && !r.Refused {
		n := copilotTurns(r)
		check(os.WriteFile(q.dir, fmt.Appendf(nil, `{"totalPremiumRequestCost":%d,"totalNanoAiu":0,"totalApiDurationMs":%d,"codeChanges":{"linesAdded":%d,"linesRemoved":0},"modelMetrics":{"fake":{"usage":{"inputTokens":%d,"outputTokens":%d,"cacheReadTokens":%d,"cacheWriteTokens":0}}},"currentModel":"fake","lastCallInputTokens":50,"lastCallOutputTokens":10}`,
			n, 9*n, 2*n, 50*n, 10*n, 20*n), 0o600))
	}
	if q.share != "" && !r.Refused {
		check(os.WriteFile(q.share, []byte("# Copilot CLI Session\n\n> - **Session ID:** `"+r.Session+"`  \n\n---\n"), 0o600))
	}
}

// copilotFooter returns the figures that text ends with.
func copilotFooter(r *Run, turns int) string {
	return fmt.Sprintf("\n\nChanges    +%d -0\nDuration   %ds\nTokens     ↑ %d (%d cached) • ↓ %d\nResume     copilot --resume=%s\n",
		2*turns, turns-1, 50*turns, 20*turns, 10*turns, r.Session)
}

// copilotLines returns the lines of json.
func copilotLines(s Script, r *Run, turns int) (lines []string) {
	add := func(format string, args ...any) {
		lines = append(lines, fmt.Sprintf(`{"type":`+format+`,`+copilotTime+"}\n", args...))
	}
	add(`"session.tools_updated","data":{"model":"fake"}`)
	add(`"user.message","data":{"content":%s,"transformedContent":%s}`, rawJSON(r.Prompt),
		rawJSON("<current_datetime>2026-11-21T08:00:00.000+00:00</current_datetime>\n\n"+strings.TrimRight(r.Prompt, " \t\r\n")))
	exit := 0
	switch s.Ending {
	case Limit:
		exit = 1
		add(`"session.error","data":{"errorType":"query","message":"500 something"}`)
	case Status:
		exit = s.Code
	}
	for i, text := range s.Said {
		if s.Ending == Limit {
			break
		}
		if i > 0 {
			add(`"tool.execution_start","data":{"toolName":"bash","arguments":{"command":"%s"}}`, strings.Repeat("x", s.Huge))
			add(`"tool.execution_complete","data":{"success":true}`)
		}
		add(`"assistant.message","data":{"model":"fake","content":%s,"toolRequests":[]}`, rawJSON(text))
	}
	add(`"result","sessionId":"%s","exitCode":%d,"usage":{"premiumRequests":%d,"totalApiDurationMs":%d,"sessionDurationMs":%d,"codeChanges":{"linesAdded":%d,"linesRemoved":0,"filesModified":[]}}`,
		r.Session, exit, turns, 9*turns, 1000*(turns-1), 2*turns)
	return lines
}

func (fakeCopilot) shown(format string, s Script, r *Run, turns int) Shown {
	broken := stops(s.Ending)
	if format == "json" {
		stderr := s.Noise
		if s.Ending == Middle {
			stderr += "something broke\n"
		}
		lines := copilotLines(s, r, turns)
		switch {
		case broken:
			return Shown{cut(lines), stderr}
		case s.NoFinal:
			return Shown{strings.TrimSuffix(strings.Join(lines, ""), "\n"), stderr}
		}
		return Shown{strings.Join(lines, ""), stderr}
	}
	stdout, stderr := "", s.Noise
	for i, text := range s.Said {
		if broken && i+1 == len(s.Said) || s.Ending == Limit {
			break
		}
		stdout += text + "\n\n"
		if format == "text" && i+1 < len(s.Said) {
			stdout += "● look (shell)\n\n"
		}
	}
	switch s.Ending {
	case Middle:
		stderr += "something broke\n"
	case Limit:
		stderr += "\n500 something\n"
	}
	if format == "text" && !broken {
		stderr += copilotFooter(r, turns)
	}
	return Shown{stdout, stderr}
}

func (fakeCopilot) refused(_ string, s Script, r *Run) (Shown, int) {
	if s.OnResume == Broken {
		return Shown{"", s.Noise + "Error: Session '" + r.Session + "' was found but could not be loaded.\nError: Session file is corrupted (line 1: something)\n"}, 1
	}
	return Shown{"", s.Noise + "Error: No session, task, or name matched '" + r.Session + "'.\n"}, 1
}
