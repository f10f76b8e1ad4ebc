package player

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sys/unix"
)

// A player is a run of a tool that is played.
type player struct {
	*Run
	Script
	dialect
	request
	dir, call string // of the records; dir is "" if there are none
	file      string // of the session
	late      string // text for stderr at the end
}

// Play is the tool's main.
func Play(name string) int {
	// The caller's limits are meant for the shim.
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_FSIZE, &limit) == nil {
		limit.Cur = limit.Max
		_ = unix.Setrlimit(unix.RLIMIT_FSIZE, &limit)
	}
	d := dialects[name]
	p := &player{dialect: d, request: d.read(os.Args[1:]), Script: Script{Said: []string{"ok"}},
		dir: os.Getenv(DirEnv), call: os.Getenv(CallEnv)}
	if p.dir != "" {
		text, err := os.ReadFile(filepath.Join(p.dir, "scripts", p.call))
		check(err)
		check(json.Unmarshal(text, &p.Script))
	}
	if p.resume != "" {
		p.goElsewhere()
	}
	cwd, err := os.Getwd()
	check(err)
	p.Run = &Run{PID: os.Getpid(), Start: time.Now().UnixNano(), Args: os.Args[1:],
		Resumed: p.resume != "", Dir: cwd, Exit: -1}
	p.record() // it can be killed from now on
	if !p.frames {
		p.Prompt = d.compose(p.prompt, p.readStdin())
	}
	p.Exit = p.run()
	p.record()
	return p.Exit
}

func (p *player) record() {
	if p.dir != "" {
		p.save(p.dir, p.call)
	}
}

// goElsewhere lets a resumed run outlive its parent, or continue in a process that keeps the
// streams, if its script says so.
func (p *player) goElsewhere() {
	const again = "PLAYER_DETACHED"
	if p.Orphan {
		// keeps the system from ending us with our parent
		check(unix.Prctl(unix.PR_SET_PDEATHSIG, 0, 0, 0, 0))
	}
	if !p.Detached || os.Getenv(again) != "" {
		return
	}
	other, err := os.StartProcess("/proc/self/exe", os.Args, &os.ProcAttr{
		Env: append(os.Environ(), again+"=yes"), Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
		Sys: &syscall.SysProcAttr{Setsid: true}})
	check(err)
	state, err := other.Wait()
	check(err)
	os.Exit(state.ExitCode())
}

// readStdin reads stdin to its end if there is no prompt in argv or the tool always does, otherwise
// only if data comes soon.
func (p *player) readStdin() string {
	if p.prompt != "" && p.deaf {
		return ""
	}
	if p.prompt != "" && !p.waits {
		fds := []unix.PollFd{{Events: unix.POLLIN}}
		for {
			if _, err := unix.Poll(fds, 500); !errors.Is(err, unix.EINTR) {
				break
			}
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

func (p *player) run() int {
	if p.begins != nil {
		p.begins(p)
	}
	if !p.open() {
		return p.refuse()
	}
	if p.Busy = !p.Refused && p.dir != "" &&
		!hold(filepath.Join(p.dir, "locks", p.Session)); p.frames {
		p.load()
		p.record()
		return p.converse()
	}
	if p.Ending == Early && !p.Refused {
		p.record()
		p.print(p.show())
		return p.end(p.Code)
	}
	p.load()
	p.record()
	f, err := p.note("user", p.Prompt)
	if errors.Is(err, os.ErrNotExist) { // another run has deleted it
		p.OnResume = Unknown
		return p.refuse()
	}
	check(err)
	defer f.Close()
	if p.opened != nil {
		p.opened(p)
	}
	if p.Refused { // under another ID: the shim must end this run
		return p.refuse()
	}
	shown := p.show()
	if p.format == "stream-json" && !p.Orphan {
		first := strings.IndexByte(shown.Stdout, '\n') + 1
		p.print(Shown{shown.Stdout[:first], shown.Stderr})
		shown = Shown{Stdout: shown.Stdout[first:]}
	}
	time.Sleep(time.Duration(p.Lead) * time.Millisecond)
	p.noteAnswer(f)
	p.print(shown)
	switch p.Ending {
	case Middle, Status:
		return p.end(p.Code)
	case Limit:
		return p.end(p.exitOfLimit(p.format))
	}
	return p.end(0)
}

// open chooses the session, and reports whether the run goes on.
func (p *player) open() bool {
	id := uuid.NewString()
	if p.newID != nil {
		id = p.newID()
	}
	p.Session, p.From = p.id, p.resume
	if p.id == "" && (p.resume == "" || p.fork) {
		p.Session = id
	}
	if p.resume == "" {
		p.file = p.path(p.Session, p.Dir)
		return true
	}
	source := p.find(p.resume)
	if source == "" {
		p.OnResume = Unknown
	}
	switch {
	case p.OnResume == OtherID && p.fork:
		p.Refused, p.Session = true, p.resume // in place of a copy
		p.file = p.path(p.Session, p.Dir)
	case p.OnResume == OtherID:
		p.Refused, p.Session = true, id
		p.file = p.path(p.Session, p.Dir)
	case p.OnResume != Takes:
		p.Session = p.resume
		return false
	case p.fork:
		p.file = p.path(p.Session, p.Dir)
		p.copySession(source)
	default:
		p.Session, p.file = p.resume, source
	}
	return true
}

// refuse ends a run that cannot resume the session.
func (p *player) refuse() int {
	p.Refused = true
	shown, exit := p.refused(p.format, p.Script, p.Run)
	p.print(shown)
	return p.end(exit)
}

// copySession copies a session's file up to a message.
func (p *player) copySession(from string) {
	text, err := os.ReadFile(from)
	check(err)
	if p.copied != nil {
		text = p.copied(text, p.From, p.Session)
	}
	if i := strings.Index(string(text), `"uuid":"`+p.at+`"`); p.at != "" && i >= 0 {
		text = text[:i+strings.IndexByte(string(text[i:]), '\n')+1]
	}
	check(os.WriteFile(p.file, text, 0o600))
}

// note adds a message to the session's file, which it begins.
func (p *player) note(role, text string) (*os.File, error) {
	check(os.MkdirAll(filepath.Dir(p.file), 0o700))
	flags := os.O_APPEND | os.O_CREATE | os.O_WRONLY
	if p.Resumed && !p.Refused && !p.frames {
		flags &^= os.O_CREATE
	}
	f, err := os.OpenFile(p.file, flags, 0o600)
	if err != nil {
		return nil, err
	}
	if len(p.history) == 0 && !p.frames {
		fmt.Fprintln(f, p.fill(p.header, nil))
	}
	if !p.Refused || !p.fork { // the session that it should have copied stays as it is
		p.write(f, role, text)
	}
	return f, nil
}

func (p *player) write(f io.Writer, role,
	text string) {
	fmt.Fprintln(f, p.entry(p.Run, role, text))
}

// noteAnswer adds the turn's answer to the session's file.
func (p *player) noteAnswer(f io.Writer) {
	if p.Ending == Well || p.Ending == Status {
		for _, text := range p.Script.Said {
			p.write(f, "assistant", text)
		}
	}
	if p.ends != nil {
		for _, line := range p.ends(p.Ending) {
			fmt.Fprintln(f, p.fill(line, nil))
		}
	}
}

// A turn has the fields that are read of a line of a session's file.
type turn struct {
	Role    string `json:"role"`
	Text    string `json:"text"`
	Session string `json:"session"` // gemini: in which it was said
}

// load reads the session's content and counts its answers.
func (p *player) load() {
	p.turns = 1
	f, err := os.Open(p.file)
	if err != nil {
		return
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
		p.history = append(p.history, t)
		if t.Session != "" && p.Resumed {
			p.From = t.Session // which the shim has copied
		}
		switch t.Role {
		case "user":
			p.Asked = append(p.Asked, Marks(t.Text)...)
			p.Unended = true
		case "assistant":
			p.Run.Said = append(p.Run.Said, Marks(t.Text)...)
			if last == "user" {
				p.turns++
			}
			p.Unended = false
		}
		last = t.Role
	}
}

// hold takes the session for as long as this process lives.
func hold(path string) bool {
	fd, err := unix.Open(path, unix.O_CREAT|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	check(err)
	return unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) == nil
}

// print writes stderr and stdout in pieces with pauses between them. A closed stdout kills it, like
// any tool.
func (p *player) print(shown Shown) {
	if p.errLast {
		shown.Stderr, p.late = "", p.late+shown.Stderr
	}
	_, _ = io.WriteString(os.Stderr, shown.Stderr)
	for line := range strings.Lines(shown.Stdout) {
		_, _ = io.WriteString(os.Stdout, line)
		time.Sleep(time.Duration(p.Pause) * time.Millisecond)
	}
}

// end ends the run as its script says.
func (p *player) end(exit int) int {
	if p.ended != nil && (p.Refused || p.Ending != Early && !p.Ending.Stops()) {
		p.ended(p, exit)
	}
	_, _ = io.WriteString(os.Stderr, p.late)
	if !p.Refused {
		p.stop()
	} else if p.OnResume == OtherID {
		time.Sleep(3 * time.Second) // the shim must end it
	}
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
