package main

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// fakeOpencode keeps what a session contains in a file of its own, and a row for it in the database.
type fakeOpencode struct{ plain }

// installOpencode makes the fake the only file of an npm package, from which the shim reads its version.
func installOpencode(tools string) error {
	pkg := filepath.Join(tools, "../lib/node_modules/opencode-linux-x64")
	if err := os.MkdirAll(filepath.Join(pkg, "bin"), 0o755); err != nil {
		return err
	}
	real := filepath.Join(pkg, "bin/opencode")
	if err := os.Rename(filepath.Join(tools, "opencode"), real); err != nil {
		return err
	}
	if err := os.Symlink(real, filepath.Join(tools, "opencode")); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(pkg, "package.json"), []byte(`{"version":"1.18.33"}`), 0o600)
}

func (fakeOpencode) read(args []string) (q request) {
	q.format, q.waits = "text", true
	var words []string
	for i := 1; i < len(args); i++ { // behind run
		name, value, _ := strings.Cut(args[i], "=")
		switch name {
		case "--":
			words = append(words, args[i+1:]...)
			i = len(args)
		case "--format":
			i++
			q.format = "stream-json"
		case "--session":
			q.resume = value
		case "--print-logs":
		default:
			words = append(words, args[i])
		}
	}
	q.prompt = strings.Join(words, " ")
	return q
}

func (fakeOpencode) compose(prompt, stdin string) string {
	if prompt == "" || stdin == "" {
		return prompt + stdin
	}
	return prompt + "\n" + stdin
}

func opencodeHome() string { return filepath.Join(os.Getenv("HOME"), ".local/share/opencode") }

func (fakeOpencode) path(id, _ string) string {
	return filepath.Join(opencodeHome(), "fake", id+".jsonl")
}

func (o fakeOpencode) find(id string) string {
	if _, err := os.Stat(o.path(id, "")); err != nil {
		return ""
	}
	return o.path(id, "")
}

func (fakeOpencode) header(id string) string { return `{"session_id":"` + id + `"}` }

// opencodeID returns an ID of opencode's form.
func opencodeID() string { return "ses_" + strings.ReplaceAll(newID(), "-", "")[:26] }

// note adds a message to a session's row.
func (fakeOpencode) note(id, dir string) {
	check(os.MkdirAll(opencodeHome(), 0o700))
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(opencodeHome(), "opencode.db")+"?_journal_mode=WAL&_busy_timeout=10000&_txlock=immediate")
	check(err)
	defer db.Close()
	tx, err := db.Begin()
	check(err)
	now := time.Now().UnixMilli()
	for _, step := range []struct {
		text string
		args []any
	}{
		{`CREATE TABLE IF NOT EXISTS session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, revert TEXT, version TEXT, model TEXT, cost REAL, tokens_input INTEGER,
			tokens_output INTEGER, tokens_reasoning INTEGER, tokens_cache_read INTEGER, tokens_cache_write INTEGER, time_created INTEGER, time_updated INTEGER)`, nil},
		{"CREATE TABLE IF NOT EXISTS message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT)", nil},
		{"INSERT OR IGNORE INTO session VALUES (?, NULL, ?, NULL, '1.18.33', '{\"id\":\"fake\"}', 0, 0, 0, 0, 0, 0, ?, ?)", []any{id, dir, now, now}},
		{"UPDATE session SET time_updated = ?, cost = cost + 0.01, tokens_input = tokens_input + 30, tokens_output = tokens_output + 5 WHERE id = ?", []any{now, id}},
		{"INSERT INTO message VALUES (?, ?, ?, '{\"role\":\"assistant\",\"tokens\":{\"total\":60}}')", []any{"msg_" + newID(), id, now}},
	} {
		_, err := tx.Exec(step.text, step.args...)
		check(err)
	}
	check(tx.Commit())
}

// logLines returns lines of the log, if the run was asked to print it.
func (fakeOpencode) logLines(r *Run, messages ...string) (lines string) {
	if len(r.Args) < 2 || r.Args[1] != "--print-logs=true" {
		return ""
	}
	for _, m := range messages {
		lines += fmt.Sprintf("timestamp=%s level=INFO run=%08x message=%s\n", time.Now().UTC().Format("2006-01-02T15:04:05.000Z"), uint32(r.Start), m)
	}
	return lines
}

// opened stores the prompt and names the session in the log.
func (o fakeOpencode) opened(r *Run) {
	if !r.Refused {
		o.note(r.Session, r.Dir)
	}
	named := "created id=" + r.Session + " parentID=undefined"
	if r.Resumed {
		named = "loop session.id=" + r.Session + " step=0"
	}
	fmt.Fprint(os.Stderr, o.logLines(r, named))
}

func (o fakeOpencode) ended(_ request, r *Run, _ Script, exit int) {
	if r.Refused {
		return
	}
	o.note(r.Session, r.Dir)
	if exit == 0 {
		fmt.Fprint(os.Stderr, o.logLines(r, `"exiting loop" session.id=`+r.Session))
	}
}

// opencodeEvents returns the lines of json. A tool runs between two texts.
func opencodeEvents(s Script, r *Run) (lines []string) {
	add := func(kind, rest string) {
		lines = append(lines, fmt.Sprintf(`{"type":"%s","timestamp":1,"sessionID":"%s",%s}`+"\n", kind, r.Session, rest))
	}
	if s.Ending == Limit {
		add("error", `"error":{"name":"APIError","data":{"message":"the limit","statusCode":401}}`)
		return lines
	}
	for i, text := range s.Said {
		add("step_start", `"part":{"type":"step-start"}`)
		add("text", `"part":{"type":"text","text":`+rawJSON(text)+`}`)
		reason := "stop"
		if i+1 < len(s.Said) {
			reason = "tool-calls"
			add("tool_use", `"part":{"type":"tool","state":{"status":"completed","input":{"filePath":"`+strings.Repeat("x", s.Huge)+`"}}}`)
		}
		add("step_finish", `"part":{"reason":"`+reason+`","tokens":{"input":30,"output":5,"reasoning":0,"cache":{"read":0,"write":0}},"cost":0.01}`)
	}
	return lines
}

const opencodeFailed = "\x1b[91m\x1b[1mError: \x1b[0m"

func (fakeOpencode) shown(format string, s Script, r *Run, _ int) Shown {
	stderr := s.Noise
	if s.Ending == Middle {
		stderr += "something broke\n"
	}
	if format == "stream-json" {
		lines := opencodeEvents(s, r)
		switch {
		case stops(s.Ending):
			return Shown{cut(lines), stderr}
		case s.NoFinal:
			return Shown{strings.TrimSuffix(strings.Join(lines, ""), "\n"), stderr}
		}
		return Shown{strings.Join(lines, ""), stderr}
	}
	stderr = "\x1b[0m\n> build · fake\n\x1b[0m\n" + stderr
	switch {
	case s.Ending == Limit:
		return Shown{"", stderr + opencodeFailed + "the limit\n"}
	case stops(s.Ending):
		return Shown{"", stderr}
	}
	return Shown{strings.Join(s.Said, "\n") + "\n", stderr}
}

func (o fakeOpencode) refused(format string, s Script, r *Run) (Shown, int) {
	switch {
	case s.OnResume == Unknown:
		return Shown{"", s.Noise + opencodeFailed + "Session not found\n"}, 1
	case s.OnResume == OtherID && format == "stream-json":
		return Shown{opencodeEvents(s, r)[0], s.Noise}, 1
	case s.OnResume == OtherID:
		return Shown{"", s.Noise}, 1
	case format == "stream-json":
		return Shown{fmt.Sprintf(`{"type":"error","timestamp":1,"sessionID":"%s","error":{"name":"APIError","data":{"message":"Bad Request","statusCode":400}}}`+"\n", r.Session), s.Noise}, 1
	}
	id := " session.id=" + r.Session
	return Shown{"", s.Noise + o.logLines(r, "loop"+id+" step=0", `"stream error"`+id+` small=false error.error="AI_APICallError: Bad Request"`) + opencodeFailed + "Bad Request\n"}, 1
}
