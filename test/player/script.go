// Package player is one program that plays every tool: it reads a script with the answers and
// faults, keeps sessions where the tool does, and speaks in the tool's own dialect. It can also
// return the output that a caller must see.
package player

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
)

// The player's environment variables: the directory with the scripts and the records, and the name
// of the call.
const (
	DirEnv  = "PLAYER_DIR"
	CallEnv = "PLAYER_CALL"
)

// A Script lists the tool's actions in a call. The caller writes it first.
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
	// of a conversation: milliseconds between the end of stdin and the tool's own
	Wind int
	// a resumed run works in another process, which can outlive the started process
	Detached bool
	// a resumed run outlives its parent, and prints nothing until it is done
	Orphan bool
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

// Stops reports whether a run stops in the middle.
func (e Ending) Stops() bool { return e == Middle || e == Died || e == Hangs }

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

// A Run is the player's record of a run.
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
	Asked   []string // marks in the session's earlier prompts
	Said    []string // marks in its earlier answers
	Unended bool     // the session's last prompt was not answered
	Busy    bool     // another run holds the session
	Dir     string

	Refused bool // the resume failed
	Exit    int  // -1 until it has ended normally

	history []turn // of the session before
	turns   int    // of the session, this one included
}

// Prepare makes the directories of scripts and records.
func Prepare(dir string) error {
	for _, name := range []string{"scripts", "runs", "locks"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			return fmt.Errorf("make directory: %w", err)
		}
	}
	return nil
}

// Write writes the script of a call.
func (s Script) Write(dir, call string) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "scripts", call), text, 0o644)
}

// Runs returns the recorded runs of a call, * for all, the earliest first.
func Runs(dir, call string) (all []Run) {
	files, _ := filepath.Glob(filepath.Join(dir, "runs", call+".*"))
	for _, file := range files {
		if strings.HasSuffix(file, ".new") {
			continue
		}
		var r Run
		if text, err := os.ReadFile(file); err == nil && json.Unmarshal(text, &r) == nil {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b Run) int { return int(a.Start - b.Start) })
	return all
}

// save replaces the record atomically; a run that is killed leaves its last one.
func (r *Run) save(dir, call string) {
	text, err := json.Marshal(r)
	check(err)
	path := filepath.Join(dir, "runs", fmt.Sprintf("%s.%d", call, r.PID))
	check(os.WriteFile(path+".new", text, 0o600))
	check(os.Rename(path+".new", path))
}

// Mark matches the text that is put into every block of a prompt and every answer, so that it is
// recognized anywhere.
var Mark = regexp.MustCompile(`KQZ[0-9a-f]{12}`)

// Marks returns the marks in a text.
func Marks(text string) []string { return Mark.FindAllString(text, -1) }

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "player:", err)
		os.Exit(99)
	}
}
