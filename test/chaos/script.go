package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
)

// The fake tool's environment variables: the directory with the scripts and the records, and the
// number of the call.
const (
	dirEnv  = "CHAOS_DIR"
	callEnv = "CHAOS_CALL"
)

// A Script says what the fake tool does in a call. The caller writes it first.
type Script struct {
	Said     []string       // the model's messages, the answer last
	Lead     int            // milliseconds before the first word
	Pause    int            // milliseconds between two events
	Ending   Ending         // of every run
	OnResume Refusal        // of a resumed run only
	Code     int            // exit code, if the ending has one
	Signal   syscall.Signal // the signal that it dies by, if the ending is one
	Noise    string         // on stderr, before anything else
	Huge     int            // length in bytes of a line that is not the model's
	NoFinal  bool           // the last line of events has no newline
	Hook     bool           // of a conversation: a hook is called for each message
	Wind     int            // of a conversation: milliseconds between the end of stdin and the tool's own
}

// An Ending is how a run ends.
type Ending string

// How a run can end.
const (
	Well   Ending = ""
	Early  Ending = "crash before the first word"
	Middle Ending = "crash in the middle of a line"
	Limit  Ending = "error of the model's API"
	Status Ending = "exit status after a good answer"
	Died   Ending = "death by a signal in the middle"
	Hangs  Ending = "hangs until it is killed"
)

// A Refusal is how a resume fails.
type Refusal string

// How a resume can fail.
const (
	Takes   Refusal = ""
	Unknown Refusal = "knows no such session"
	Busy    Refusal = "says that the session is in use"
	Broken  Refusal = "says that the session is broken"
	OtherID Refusal = "goes on under another id"
	Silent  Refusal = "fails without a word"
)

// A Run is what the fake tool records about one of its runs.
type Run struct {
	PID     int
	Start   int64 // nanoseconds since the epoch
	Args    []string
	Prompt  string   // as it would go to the model
	Session string   // "" if it has none
	From    string   // the session that it resumed, "" if it did not
	Later   []string // of a conversation: the messages after the first
	Results int      // of a conversation: how many of its messages were answered
	Resumed bool
	Asked   []string // marks in what the session was sent before
	Said    []string // marks in what it answered before
	Busy    bool     // another run holds the session
	Dir     string

	Refused bool // the resume failed
	Exit    int  // -1 until it has ended normally

	history []turn // of the session before
}

// save replaces the record atomically; a run that is killed leaves its last one.
func (r *Run) save(dir, call string) {
	text, err := json.Marshal(r)
	check(err)
	path := filepath.Join(dir, "runs", fmt.Sprintf("%s.%d", call, r.PID))
	check(os.WriteFile(path+".new", text, 0o600))
	check(os.Rename(path+".new", path))
}

// mark matches the text that is put into every block of a prompt and every answer, so that it is
// recognized anywhere.
var mark = regexp.MustCompile(`KQZ[0-9a-f]{12}`)

func marks(text string) []string { return mark.FindAllString(text, -1) }

// A Shown is what a caller sees of a run in a format.
type Shown struct{ Stdout, Stderr string }

// show returns what the tool prints. With own it returns what a caller must see that did not
// request a resume: its own prompt, and figures of this call alone.
func show(tool, format string, s Script, r *Run, turns int) Shown {
	if r.Refused {
		shown, _ := fakes[tool].refused(format, s, r)
		return shown
	}
	if s.Ending == Early {
		notice := ""
		if tool == "codex" {
			notice = codexNotice(r.Args)
		}
		return Shown{Stderr: notice + s.Noise + "something broke\n"}
	}
	return fakes[tool].shown(format, s, r, turns)
}

// cut removes everything after half of the second last line, for a run that stops in the middle.
func cut(lines []string) string {
	text := strings.Join(lines[:len(lines)-1], "")
	return text[:len(text)-len(lines[len(lines)-2])/2]
}

func stops(e Ending) bool { return e == Middle || e == Died || e == Hangs }

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "chaos: the fake tool:", err)
		os.Exit(99)
	}
}

// rawJSON encodes a text the way gemini and vibe do: only what must be escaped is escaped.
func rawJSON(text string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	check(e.Encode(text))
	return strings.TrimSuffix(b.String(), "\n")
}

func toJSON(v any) string {
	text, err := json.Marshal(v)
	check(err)
	return string(text)
}
