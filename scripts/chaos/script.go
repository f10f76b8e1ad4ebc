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

// What the fake tool reads of its environment: the directory with the scripts and the
// records, and the number of the call.
const (
	dirEnv  = "CHAOS_DIR"
	callEnv = "CHAOS_CALL"
)

// A Script says what the fake tool does in a call. The caller writes it before.
type Script struct {
	Said     []string       // the model's messages, the answer last
	Lead     int            // milliseconds before the first word
	Pause    int            // milliseconds between two events
	Ending   Ending         // of every run
	OnResume Refusal        // of a resumed run only
	Code     int            // exit status, where the ending has one
	Signal   syscall.Signal // that it dies by, where the ending is one
	Noise    string         // on stderr, before anything else
	Huge     int            // bytes of a line that no model said
	NoFinal  bool           // the last line of events has no newline
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

// A Run is what the fake tool notes of one of its runs, on its own side.
type Run struct {
	PID     int
	Start   int64 // nanoseconds since the epoch
	Args    []string
	Prompt  string // as it would go to the model
	Session string // "" where it has got none
	Resumed bool
	Asked   []string // marks in what the session was sent before
	Said    []string // marks in what it answered before
	Busy    bool     // another run holds the session
	Dir     string

	Refused bool // the resume failed
	Exit    int  // -1 until it has ended by itself

	history []turn // of the session before
}

// save puts the record in place; a run that is killed leaves its last one.
func (r *Run) save(dir, call string) {
	text, err := json.Marshal(r)
	check(err)
	path := filepath.Join(dir, "runs", fmt.Sprintf("%s.%d", call, r.PID))
	check(os.WriteFile(path+".new", text, 0o600))
	check(os.Rename(path+".new", path))
}

// mark matches what is put into every block of a prompt and every answer, so that
// it is recognised wherever it turns up.
var mark = regexp.MustCompile(`KQZ[0-9a-f]{12}`)

func marks(text string) []string { return mark.FindAllString(text, -1) }

// A Shown is what a caller sees of a run in a format.
type Shown struct{ Stdout, Stderr string }

// show returns what the tool prints. With own it is what a caller is to see, who did not
// ask for a resume: its own prompt, and figures of this call alone.
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

// cut takes what comes behind half of the second last line, of a run that stops in the
// middle.
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

// rawJSON writes a text as gemini and vibe do: nothing is escaped but what must be.
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
