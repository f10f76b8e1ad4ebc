package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A frame is a line of a conversation in stream-json.
type frame struct {
	Type      string          `json:"type"`
	Subtype   string          `json:"subtype,omitempty"`
	RequestID string          `json:"request_id,omitempty"`
	Request   *frameRequest   `json:"request,omitempty"`
	Response  *frameResponse  `json:"response,omitempty"`
	SessionID string          `json:"session_id,omitempty"`
	Version   string          `json:"claude_code_version,omitempty"`
	Message   json.RawMessage `json:"message,omitempty"`
	UUID      string          `json:"uuid,omitempty"`
	Errors    []string        `json:"errors,omitempty"`
	IsError   *bool           `json:"is_error,omitempty"`
	Result    string          `json:"result,omitempty"`
	Cost      float64         `json:"total_cost_usd,omitempty"`
	Usage     map[string]any  `json:"modelUsage,omitempty"`
	OwnUsage  map[string]any  `json:"model_usage_since_last_result,omitempty"`
}

type frameRequest struct {
	Subtype    string         `json:"subtype"`
	CallbackID string         `json:"callback_id,omitempty"`
	ToolUseID  string         `json:"tool_use_id,omitempty"`
	Server     string         `json:"server_name,omitempty"`
	Message    map[string]any `json:"message,omitempty"`
	Input      map[string]any `json:"input,omitempty"`
	Hooks      map[string]any `json:"hooks,omitempty"`
}

type frameResponse struct {
	Subtype   string         `json:"subtype"`
	RequestID string         `json:"request_id"`
	Response  map[string]any `json:"response,omitempty"`
}

func (f frame) line() string {
	text, err := json.Marshal(f)
	if err != nil {
		log.Fatal(err)
	}
	return string(text) + "\n"
}

// caller is a program that talks to claude as the SDKs do, and prints each line that it is sent.
// The arguments are its messages; it waits for the result of each. It fails if claude does not
// keep to the protocol.
func caller() {
	c := sdk{asked: map[string]bool{}}
	flag.BoolVar(&c.waits, "wait", false,
		"wait for the answer to initialize before the first message")
	flag.BoolVar(&c.hooks, "hooks", false, "have a hook")
	flag.BoolVar(&c.silent, "silent", false, "send no initialize")
	flag.StringVar(&c.raw, "raw", "", "a `file` whose lines are sent before the first message")
	flag.StringVar(&c.hold, "hold", "", "keep stdin open until this `file` exists")
	flag.StringVar(&c.session, "session", "", "the session `ID` in each message")
	flag.StringVar(&c.chosen, "id", "", "the `ID` of the new session")
	flag.BoolVar(&c.long, "long", false,
		"put a long specification before each message, and paragraphs in the place of |")
	together := flag.Bool("together", false, "send all messages at once")
	flag.Parse()
	if err := c.run(flag.Args(), *together); err != nil {
		log.Fatal(err)
	}
}

type sdk struct {
	waits, hooks, silent, long bool
	raw, session, chosen, hold string

	in    *os.File
	out   *bufio.Scanner
	asked map[string]bool // requests that are to be answered
}

func (c *sdk) run(messages []string, together bool) error {
	cmd := exec.Command("claude", "--output-format", "stream-json", "--verbose", "--input-format",
		"stream-json")
	if c.chosen != "" {
		cmd.Args = append(cmd.Args, "--session-id", c.chosen)
	}
	cmd.Stderr = os.Stderr
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	cmd.Stdin, c.in, c.out = r, w, bufio.NewScanner(stdout)
	c.out.Buffer(nil, 32<<20)
	if err := cmd.Start(); err != nil {
		return err
	}
	r.Close()
	err = c.talk(messages, together)
	if c.hold != "" {
		await(c.hold)
	}
	c.in.Close()
	for c.out.Scan() {
		fmt.Println(c.out.Text())
	}
	var exit *exec.ExitError
	if errors.As(cmd.Wait(), &exit) && err == nil {
		os.Exit(exit.ExitCode())
	}
	return err
}

func (c *sdk) talk(messages []string, together bool) error {
	c.asked["init"], c.asked["model"] = true, true
	if !c.silent {
		request := &frameRequest{Subtype: "initialize"}
		if c.hooks {
			request.Hooks = map[string]any{"PreToolUse": []any{
				map[string]any{"hookCallbackIds": []string{"hook_0"}}}}
		}
		c.send(frame{Type: "control_request", RequestID: "init", Request: request}.line())
	}
	if c.waits {
		if err := c.until(func(f frame) bool { return f.Type == "control_response" }); err != nil {
			return err
		}
	}
	if c.raw != "" {
		text, err := os.ReadFile(c.raw)
		if err != nil {
			return err
		}
		c.send(string(text))
	}
	for i, text := range messages {
		if c.long {
			text = specification + strings.ReplaceAll(text, " | ", "\n\n")
		}
		message, _ := json.Marshal(map[string]string{"role": "user", "content": text})
		c.send(frame{Type: "user", SessionID: c.session, Message: message}.line())
		if together && i < len(messages)-1 {
			continue
		}
		if err := c.until(func(f frame) bool { return f.Type == "result" }); err != nil {
			return err
		}
	}
	return nil
}

// await waits until a file exists, but not forever: a scenario that fails waits for the processes
// that it has started.
func await(path string) {
	for range 500 {
		if _, err := os.Stat(path); err == nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func (c *sdk) send(text string) { _, _ = c.in.WriteString(text) } // claude might have ended

// until reads up to a frame, and answers requests. The end of stdout is the end.
func (c *sdk) until(last func(frame) bool) error {
	for c.out.Scan() {
		fmt.Println(c.out.Text())
		var f frame
		if err := json.Unmarshal(c.out.Bytes(), &f); err != nil {
			return fmt.Errorf("no frame: %s", c.out.Text())
		}
		switch f.Type {
		case "control_response":
			if !c.asked[f.Response.RequestID] {
				return fmt.Errorf("an answer that was not asked for: %s", c.out.Text())
			}
			delete(c.asked, f.Response.RequestID)
		case "control_request":
			answer := map[string]any{"callback": f.Request.CallbackID}
			if f.Request.Message != nil {
				answer = map[string]any{"mcp_response": map[string]any{
					"id": f.Request.Message["id"]}}
			}
			c.send(frame{Type: "control_response", Response: &frameResponse{"success", f.RequestID,
				answer}}.line())
		}
		if last(f) {
			return nil
		}
	}
	return nil
}

// converser is a fake claude that speaks stream-json. It notes its arguments in $FAKE/N.args and
// each line of stdin in $FAKE/N.in, keeps sessions where claude does, and misbehaves as the
// words in $FAKE/mode say:
//
//	refuse   at the start of a resume     late     after its hook was answered
//	die      at the start of a resume     silent   at initialize, in any run
//	hook     calls a hook for a message   mcp      asks a server before it answers initialize
//	limit    ends each turn with an error that is not about the session
//	linger   writes its costs after the end of its stdin, and stays until $FAKE/go exists
//	more     then begins one more turn by itself
//	unsaved  writes its session only at its end
//	old      reports no figures of its own
//	edit     writes the file work-1 in its first turn, work-2 in its second
func converser() {
	fake := os.Getenv("FAKE")
	mode, _ := os.ReadFile(filepath.Join(fake, "mode"))
	t := talker{fake: fake, mode: strings.Fields(string(mode)), in: bufio.NewScanner(os.Stdin)}
	t.in.Buffer(nil, 32<<20)
	if slices.Contains(os.Args[1:], "--version") {
		fmt.Println("2.1.329 (fake)")
		return
	}
	t.start()
	os.Exit(t.run())
}

// specification is long enough for a delta to pay.
var specification = func() (text string) {
	for i := range 60 {
		text += fmt.Sprintf("%d. Requirement number %d says what the parser does in case %d, "+
			"and how.\n\n", i, i, i)
	}
	return text
}()

type talker struct {
	fake     string
	mode     []string
	in       *bufio.Scanner
	later    []string // read while an answer was waited for
	note     *os.File
	n        int
	id, from string // the session, and the session that it is resumed from
	turns    int    // of the session
	own      int    // of this run
	next     int    // request
	unsaved  []frame
}

func (t *talker) does(word string) bool { return slices.Contains(t.mode, word) }

func (t *talker) start() {
	if err := os.MkdirAll(t.fake, 0o700); err != nil {
		log.Fatal(err)
	}
	var err error
	for t.n = 1; ; t.n++ {
		if t.note, err = os.OpenFile(t.path("in"), os.O_CREATE|os.O_EXCL|os.O_WRONLY,
			0o600); err == nil {
			break
		}
	}
	args := os.Args[1:]
	if err := os.WriteFile(t.path("args"), []byte(strings.Join(args, "\n")+"\n"),
		0o600); err != nil {
		log.Fatal(err)
	}
	t.id = fmt.Sprintf("00000000-0000-4000-8000-%012d", t.n)
	if i := slices.Index(args, "--resume"); i >= 0 {
		t.from = args[i+1]
		if !slices.Contains(args, "--fork-session") {
			t.id = t.from
		}
	}
	if i := slices.Index(args, "--session-id"); i >= 0 {
		t.id = args[i+1]
	}
}

func (t *talker) path(kind string) string {
	return filepath.Join(t.fake, fmt.Sprintf("%d.%s", t.n, kind))
}

func (t *talker) session(id string) string {
	cwd, err := filepath.EvalSymlinks(".")
	if err == nil {
		cwd, err = filepath.Abs(cwd)
	}
	if err != nil {
		log.Fatal(err)
	}
	return filepath.Join(os.Getenv("HOME"), ".claude", "projects", project(cwd), id+".jsonl")
}

func (t *talker) print(f frame) { fmt.Print(f.line()) }

func (t *talker) run() int {
	if t.from != "" {
		text, err := os.ReadFile(t.session(t.from))
		t.turns = strings.Count(string(text), `"type":"assistant"`)
		switch {
		case err != nil || t.does("refuse"):
			return t.refuse()
		case t.does("die"):
			return 9
		}
	}
	for line, ok := t.read(); ok; line, ok = t.read() {
		var f frame
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			log.Fatalf("%v: %s", err, line)
		}
		switch {
		case f.Type == "user":
			if t.from != "" && t.own == 0 && t.does("late") {
				t.hook()
				return t.refuse()
			}
			t.turn(f)
		case f.Type != "control_request":
		case f.Request.Subtype == "initialize" && t.does("silent"):
			return 7
		case f.Request.Subtype == "initialize" && t.does("mcp"):
			t.ask(&frameRequest{Subtype: "mcp_message", Server: "x",
				Message: map[string]any{"method": "initialize", "id": 0}})
			fallthrough
		default:
			t.print(frame{Type: "control_response", Response: &frameResponse{"success", f.RequestID,
				map[string]any{"pid": t.n}}})
		}
	}
	t.windDown()
	return 0
}

// windDown follows the end of stdin.
func (t *talker) windDown() {
	if t.does("linger") {
		time.Sleep(300 * time.Millisecond) // the shim has recorded the turn by then
		t.keep(frame{Type: "cost-state"})
		if err := os.WriteFile(t.path("over"), nil, 0o600); err != nil {
			log.Fatal(err)
		}
		await(filepath.Join(t.fake, "go"))
	}
	if t.does("more") {
		t.turn(frame{Message: json.RawMessage(`{"role":"user","content":"<task-notification>"}`)})
	}
	t.save()
}

// read returns the next line.
func (t *talker) read() (line string, ok bool) {
	if len(t.later) > 0 {
		line, t.later = t.later[0], t.later[1:]
		return line, true
	}
	return t.scan()
}

// scan reads a line and notes it.
func (t *talker) scan() (line string, ok bool) {
	ok = t.in.Scan()
	if ok {
		fmt.Fprintln(t.note, t.in.Text())
	}
	return t.in.Text(), ok
}

func (t *talker) refuse() int {
	text, failed := "No conversation found with session ID: "+t.from, true
	fmt.Fprintln(os.Stderr, text)
	t.print(frame{Type: "result", Subtype: "error_during_execution", IsError: &failed,
		Errors: []string{text}, SessionID: t.from})
	return 1
}

func (t *talker) hook() {
	t.ask(&frameRequest{Subtype: "hook_callback", CallbackID: "hook_0",
		ToolUseID: fmt.Sprintf("use-%d-%d", t.n, t.next),
		Input: map[string]any{"session_id": t.id, "transcript_path": t.session(t.id),
			"hook_event_name": "PreToolUse"}})
}

// ask waits for the answer to a request.
func (t *talker) ask(request *frameRequest) {
	t.next++
	id := fmt.Sprintf("run%d-%d", t.n, t.next)
	t.print(frame{Type: "control_request", RequestID: id, Request: request})
	for line, ok := t.scan(); ok; line, ok = t.scan() {
		var f frame
		if json.Unmarshal([]byte(line), &f) == nil && f.Type == "control_response" &&
			f.Response.RequestID == id {
			return
		}
		t.later = append(t.later, line)
	}
}

// turn answers a message, and keeps both. Costs run on over the session.
func (t *talker) turn(f frame) {
	if t.does("hook") {
		t.hook()
	}
	t.turns++
	t.own++
	failed, answer := t.does("limit"), fmt.Sprintf("answer %d.%d", t.n, t.own)
	model := "m"
	if failed {
		model, answer = "<synthetic>", "API Error: 429"
	}
	message, _ := json.Marshal(map[string]any{"model": model,
		"content": []any{map[string]string{"type": "text", "text": answer}}})
	id := fmt.Sprintf("00000000-0000-4000-9%03d-%012d", t.own, t.n)
	t.keep(frame{Type: "user", Message: f.Message},
		frame{Type: "assistant", UUID: id, Message: message})
	t.print(frame{Type: "system", Subtype: "init", SessionID: t.id, Version: "2.1.329"})
	if t.does("edit") {
		t.edit()
	}
	t.print(frame{Type: "assistant", UUID: id, SessionID: t.id, Message: message})
	time.Sleep(10 * time.Millisecond)
	cost, tokens := 0.5*float64(t.turns), 10*t.turns
	result := frame{Type: "result", Subtype: "success", IsError: &failed, Result: answer,
		SessionID: t.id, Cost: cost,
		Usage: map[string]any{"m": map[string]any{"inputTokens": tokens, "outputTokens": 1,
			"costUSD": cost}}}
	if !t.does("old") {
		result.OwnUsage = map[string]any{"m": map[string]any{"inputTokens": 10, "outputTokens": 0,
			"costUSD": 0.5}}
	}
	t.print(result)
}

// edit writes a file and says so.
func (t *talker) edit() {
	file := fmt.Sprintf("work-%d", t.own)
	if err := os.WriteFile(file, []byte(t.path(file)), 0o600); err != nil {
		log.Fatal(err)
	}
	use := map[string]any{"type": "tool_use", "name": "Write",
		"input": map[string]string{"file_path": file}}
	message, _ := json.Marshal(map[string]any{"model": "m", "content": []any{use}})
	t.print(frame{Type: "assistant", SessionID: t.id, Message: message})
}

// keep adds entries to the session.
func (t *talker) keep(entries ...frame) {
	if t.unsaved = append(t.unsaved, entries...); !t.does("unsaved") {
		t.save()
	}
}

// save writes the messages that the session's file lacks. It begins as a copy.
func (t *talker) save() {
	if len(t.unsaved) == 0 {
		return
	}
	if err := os.MkdirAll(filepath.Dir(t.session(t.id)), 0o700); err != nil {
		log.Fatal(err)
	}
	kept, err := os.ReadFile(t.session(t.id))
	if err != nil && t.from != "" {
		kept, _ = os.ReadFile(t.session(t.from))
	}
	for _, entry := range t.unsaved {
		kept = append(kept, entry.line()...)
	}
	if err := os.WriteFile(t.session(t.id), kept, 0o600); err != nil {
		log.Fatal(err)
	}
	t.unsaved = nil
}
