package main

import (
	"bufio"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A fakeTool is what differs between the fake tools.
type fakeTool interface {
	// read parses a command line.
	read(args []string) request
	// compose joins prompt and stdin, either of which may be empty.
	compose(prompt, stdin string) string
	// path returns the file of a new session; find returns that of an existing one.
	path(id, dir string) string
	find(id string) string
	// header returns the beginning of a session's file.
	header(id string) string
	// begins does what the tool does with its files at its start, ended what it does at a normal
	// end.
	begins(q request, r *Run, s Script)
	ended(q request, r *Run, s Script, exit int)
	// shown returns what it prints; refused returns what it prints, and its exit code, if it
	// refuses a resume.
	shown(format string, s Script, r *Run, turns int) Shown
	refused(format string, s Script, r *Run) (Shown, int)
	// limit returns the exit code after an error of the model's API.
	limit(format string) int
}

var fakes = map[string]fakeTool{
	"claude": fakeClaude{}, "codex": fakeCodex{}, "copilot": fakeCopilot{}, "droid": fakeDroid{}, "gemini": fakeGemini{},
	"opencode": fakeOpencode{}, "qwen": fakeQwen{}, "vibe": fakeVibe{},
}

// plain is a tool that only stores sessions, and exits with 1 on errors.
type plain struct{}

func (plain) begins(request, *Run, Script)     {}
func (plain) ended(request, *Run, Script, int) {}
func (plain) limit(string) int                 { return 1 }

// A request is a parsed command line.
type request struct {
	format string
	prompt string // "" if it is on stdin
	resume string
	id     string // chosen by the caller
	waits  bool   // stdin is always read to its end
	deaf   bool   // stdin is not read if there is a prompt in argv
	dir    string // where to record how the run ended, "" for nowhere
	share  string // where to write the session, "" for nowhere
	fork   bool   // resume goes on in a copy
	at     string // the last message that the copy keeps, "" for all
	frames bool   // stdin is a conversation
}

// options yields the options of a command line in which each has a value, after = or as the next
// argument unless that is an option itself.
func options(args []string) iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		for i := 0; i < len(args); i++ {
			name, value, attached := strings.Cut(args[i], "=")
			if !attached && i+1 < len(args) && !strings.HasPrefix(args[i+1], "--") {
				i++
				value = args[i]
			}
			if !yield(name, value) {
				return
			}
		}
	}
}

// A turn is a line of a session's file.
type turn struct {
	Type string `json:"type"`
	Role string `json:"role,omitempty"`
	Text string `json:"text,omitempty"`

	// What claude's entries have. A turn that is read again has no Message.
	UUID     string `json:"uuid,omitempty"`
	Time     string `json:"timestamp,omitempty"`
	Version  string `json:"version,omitempty"`
	APIError bool   `json:"isApiErrorMessage,omitempty"`
	Message  any    `json:"message,omitempty"`
}

// entry returns a turn as the tool stores it.
func (r *Run) entry(name, role, text string) string {
	if name == "copilot" {
		return toJSON(turn{Type: role + ".message", Role: role, Text: text})
	}
	if name == "gemini" {
		return geminiEntry(r, role, text)
	}
	if name == "qwen" {
		return qwenEntry(r, role, text)
	}
	if name != "claude" {
		return toJSON(turn{Type: "response_item", Role: role, Text: text})
	}
	return claudeEntry(r, role, text)
}

// play is the fake tool's main.
func play(name string) int {
	// The caller's limits are meant for the shim.
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_FSIZE, &limit) == nil {
		limit.Cur = limit.Max
		_ = unix.Setrlimit(unix.RLIMIT_FSIZE, &limit)
	}
	tool := fakes[name]
	dir, call := os.Getenv(dirEnv), os.Getenv(callEnv)
	var s Script
	text, err := os.ReadFile(filepath.Join(dir, "scripts", call))
	check(err)
	check(json.Unmarshal(text, &s))
	q := tool.read(os.Args[1:])
	cwd, err := os.Getwd()
	check(err)
	r := &Run{PID: os.Getpid(), Start: time.Now().UnixNano(), Args: os.Args[1:], Resumed: q.resume != "", Dir: cwd, Exit: -1}
	r.save(dir, call) // it can be killed from now on
	if !q.frames {
		r.Prompt = tool.compose(q.prompt, readStdin(q))
	}
	exit := r.run(name, tool, q, s, dir, call)
	r.Exit = exit
	r.save(dir, call)
	return exit
}

// readStdin reads stdin to its end if there is no prompt in argv or the tool always does, otherwise
// only if data comes soon.
func readStdin(q request) string {
	if q.prompt != "" && q.deaf {
		return ""
	}
	if q.prompt != "" && !q.waits {
		fds := []unix.PollFd{{Events: unix.POLLIN}}
		for {
			_, err := unix.Poll(fds, 500)
			if errors.Is(err, unix.EINTR) {
				continue
			}
			break
		}
		if fds[0].Revents == 0 {
			return ""
		}
	}
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		return "" // closed
	}
	return string(text)
}

func (r *Run) run(name string, tool fakeTool, q request, s Script, dir, call string) int {
	file, turns := "", 0
	end := func(exit int) { tool.ended(q, r, s, exit) }
	refuse := func() int {
		r.Refused = true
		shown, exit := tool.refused(q.format, s, r)
		return r.print(shown, s, exit, end)
	}
	tool.begins(q, r, s)
	switch {
	case q.resume != "":
		r.Session, r.From = q.resume, q.resume
		if file = tool.find(q.resume); file == "" {
			s.OnResume = Unknown
		}
		if s.OnResume != Takes && s.OnResume != OtherID {
			return refuse()
		}
		if s.OnResume == OtherID {
			r.Refused, r.Session = true, newSession(name)
			if q.fork {
				r.Session = q.resume // in place of a copy
			}
			file = tool.path(r.Session, r.Dir)
		} else if q.fork {
			if r.Session = q.id; q.id == "" {
				r.Session = newSession(name)
			}
			file = fork(name, r, file, tool.path(r.Session, r.Dir), q.at)
		}
	case q.id != "":
		r.Session = q.id
		file = tool.path(q.id, r.Dir)
	default:
		r.Session = newSession(name)
		file = tool.path(r.Session, r.Dir)
	}
	r.Busy = !r.Refused && !hold(filepath.Join(dir, "locks", r.Session))
	if q.frames {
		turns = r.load(file)
		r.save(dir, call)
		return r.converse(tool, q, s, file, turns, dir, call)
	}
	if s.Ending == Early && !r.Refused {
		r.save(dir, call)
		return r.print(show(name, q.format, s, r, 0), s, s.Code, end)
	}
	turns = r.load(file)
	r.save(dir, call)
	time.Sleep(time.Duration(s.Lead) * time.Millisecond)
	check(os.MkdirAll(filepath.Dir(file), 0o700))
	flags := os.O_APPEND | os.O_CREATE | os.O_WRONLY
	if r.Resumed && !r.Refused {
		flags &^= os.O_CREATE
	}
	f, err := os.OpenFile(file, flags, 0o600)
	if errors.Is(err, os.ErrNotExist) { // another run has deleted it
		s.OnResume = Unknown
		return refuse()
	}
	check(err)
	if turns == 0 && len(r.Asked) == 0 {
		fmt.Fprintln(f, tool.header(r.Session))
	}
	if !r.Refused || !q.fork { // the session that it should have copied stays as it is
		fmt.Fprintln(f, r.entry(name, "user", r.Prompt))
	}
	if o, ok := tool.(fakeOpencode); ok {
		o.opened(r)
	}
	if r.Refused { // under another ID: the shim must end this run
		return refuse()
	}
	shown := show(name, q.format, s, r, turns+1)
	if s.Ending == Well || s.Ending == Status {
		for _, text := range s.Said {
			fmt.Fprintln(f, r.entry(name, "assistant", text))
		}
		if name == "codex" {
			fmt.Fprint(f, codexFigures(turns+1))
		}
	}
	if name == "claude" {
		fmt.Fprint(f, claudeEnd(s, r, turns+1))
	}
	exit := 0
	switch s.Ending {
	case Middle, Status:
		exit = s.Code
	case Limit:
		exit = tool.limit(q.format)
	}
	return r.print(shown, s, exit, end)
}

// fork copies a session's file up to a message, and returns the copy's name.
func fork(name string, r *Run, from, to, at string) string {
	text, err := os.ReadFile(from)
	check(err)
	if name == "qwen" {
		text = forkQwen(text, r.From, r.Session)
	}
	if i := strings.Index(string(text), `"uuid":"`+at+`"`); at != "" && i >= 0 {
		text = text[:i+strings.IndexByte(string(text[i:]), '\n')+1]
	}
	check(os.WriteFile(to, text, 0o600))
	return to
}

// load reads the session's content and counts its answers.
func (r *Run) load(file string) (turns int) {
	f, err := os.Open(file)
	if err != nil {
		return 0
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	last := ""
	for lines.Scan() {
		var t turn
		if json.Unmarshal(lines.Bytes(), &t) != nil {
			continue
		}
		r.history = append(r.history, t)
		switch t.Role {
		case "user":
			r.Asked = append(r.Asked, marks(t.Text)...)
		case "assistant":
			r.Said = append(r.Said, marks(t.Text)...)
			if last == "user" {
				turns++
			}
		}
		last = t.Role
	}
	return turns
}

// hold takes the session for as long as this process lives.
func hold(path string) bool {
	fd, err := unix.Open(path, unix.O_CREAT|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	check(err)
	return unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) == nil
}

// print writes stderr and stdout in pieces with pauses between them, and ends the run as its script
// says. A closed stdout kills it, like any tool.
func (r *Run) print(shown Shown, s Script, exit int, end func(exit int)) int {
	_, _ = io.WriteString(os.Stderr, shown.Stderr)
	for len(shown.Stdout) > 0 {
		n := strings.IndexByte(shown.Stdout, '\n') + 1
		if n == 0 {
			n = len(shown.Stdout)
		}
		_, _ = io.WriteString(os.Stdout, shown.Stdout[:n])
		shown.Stdout = shown.Stdout[n:]
		time.Sleep(time.Duration(s.Pause) * time.Millisecond)
	}
	if r.Refused || s.Ending != Early && !stops(s.Ending) {
		end(exit)
	}
	if r.Refused {
		if s.OnResume == OtherID {
			time.Sleep(3 * time.Second) // the shim must end it
		}
		return exit
	}
	s.stop()
	return exit
}

// stop does not return if the script ends by a signal or hangs.
func (s Script) stop() {
	switch s.Ending {
	case Died:
		_ = syscall.Kill(os.Getpid(), s.Signal)
		time.Sleep(time.Minute)
	case Hangs:
		time.Sleep(time.Minute)
	}
}

// newSession returns the ID of a new session.
func newSession(tool string) string {
	if tool == "opencode" {
		return opencodeID()
	}
	return newID()
}

func newID() string {
	var b [16]byte
	rand.Read(b[:])
	return formatID(b)
}

func formatID(b [16]byte) string {
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
