package rewrite

import (
	"encoding/json"
	"slices"
	"strings"
)

// A Tool is everything that differs from one agent CLI to the next. One file of
// this package implements it for each tool.
type Tool interface {
	// Descriptor returns what is known of the tool as data. It must not be changed.
	Descriptor() *Descriptor
	// Parse reads a command line. It decides what kind of call it is; it never
	// fails: what it cannot read is a passthrough with a reason.
	Parse(Invocation) Call
	// HelpArgs are the arguments that make the tool print the help of its
	// headless mode.
	HelpArgs() []string
	// Options reads that help into the options it knows beyond the
	// grammar, and reports whether that version can resume a session.
	Options(help string) Probe
	// Variables returns which environment variables shape a session or its account.
	Variables() Variables
	// ResolveWithEnv completes a call by what only its surroundings tell. It may find that
	// the call must not be managed after all.
	ResolveWithEnv(Call, HostEnv) Call
	// EffectivePrompt returns the prompt as the tool itself would send it to the model,
	// from the call and what stands on its stdin; "" where it cannot be managed.
	EffectivePrompt(call Call, stdin string) string
	// ActsOn reports whether the tool acts on something in a prompt's text in the turn that it is sent in: a file that
	// it puts in (@path), a word that makes it think more. It may err on the side of yes.
	ActsOn(text string) bool
	// Plan returns the command line, stdin and expectations of the real call.
	Plan(call Call, target Target) Plan
	// Stream reads and renders the output of the call that Plan described.
	Stream(call Call, plan Plan, totals Totals) Stream
	// ForkPoint finds the message that a copy of a session has to end with, to hold
	// all that stands in its file up to where tail ends, and no more. Tail ends with a
	// whole line, and may begin within one. "" where there is none, or the tool can
	// make no such copy.
	ForkPoint(tail []byte) (message string)
	// ValidID reports whether id has the form of this tool's session ids.
	ValidID(id string) bool
	// SessionPaths returns the places where the tool keeps the session, the most
	// likely one first; each may contain * as filepath.Glob understands it, and the
	// last by name of what it matches is taken.
	SessionPaths(home, cwd, id string) []string
	// SessionFiles returns all that the tool keeps of the session whose file is at
	// that path, which was found by SessionPaths; ok is false where it is no such
	// path.
	SessionFiles(home, id, path string) (files SessionFiles, ok bool)
	// IsOrphanFile tells of a file beside a session's own, matched by SessionPaths,
	// that the tool left there and that endangers the session.
	IsOrphanFile(path string, data []byte) bool
	// Refused reads a resumed run's stderr and exit status where its stdout did
	// not tell, and names the reason if the tool refused to resume.
	Refused(stderr string, exit int) Reason
}

// An Invocation is a command line as the caller wrote it, and what has to be
// known of its surroundings to read it.
type Invocation struct {
	Args      []string            // without argv[0]
	Env       func(string) string // the caller's environment; "" where unset
	StdinTTY  bool
	StdoutTTY bool
	StderrTTY bool
	Learned   Probe // what was learned from the binary's own --help, if anything
}

// HostEnv are what a call depends on beside its command line.
type HostEnv struct {
	Settings map[string]string // the texts of those of the call's SettingsFiles that exist
	Dirs     []string          // the working directory, and the root of its repository if it has one
	Version  string            // of the tool, "" where it is not known
}

// A Probe is what a tool's own --help told about one binary.
type Probe struct {
	Known   bool     // the help text was readable
	Resume  bool     // it offers to resume a session
	Options []Option // all options it lists
}

// A Format is the shape of output that a caller asked for.
type Format string

// The formats of all tools.
const (
	Text        Format = "text"
	JSON        Format = "json"
	JSONVerbose Format = "json-verbose" // claude: every event, as one array
	StreamJSON  Format = "stream-json"
)

// StdinUse says what a tool does with its stdin in a given call.
type StdinUse int

// How stdin takes part in the prompt.
const (
	StdinUnused   StdinUse = iota // a terminal, or not looked at
	StdinPrompt                   // stdin is the prompt
	StdinAppended                 // the prompt stands in argv; data on stdin is joined to it
	StdinFrames                   // stdin is a conversation, whose first message is the prompt
)

// A Call is a command line understood.
type Call struct {
	Tool   string
	Mode   Mode   // Passthrough, Observe, or Fresh for a call that may be managed
	Reason Reason // why, where Mode is Passthrough or Observe

	Args   []string // without argv[0], as the caller wrote them
	Format Format   // what the caller asked for
	Stdin  StdinUse

	Prompt    string // the prompt in argv
	promptArg int    // its index in Args, -1 where there is none

	Dir       string    // working directory the caller asked for, "" for its own
	Model     string    // model asked for, "" for the tool's default
	Settings  []Setting // all that must be equal between a session and a call that resumes it
	StderrTTY bool
	SessionID string // the session the caller names itself
	Home      string // the directory where the tool keeps its sessions
	NoResume  bool   // this version is known not to resume
	Copies    bool   // this version is known to resume in a copy, also in one that ends with a given message

	SettingsFiles []string // files that ResolveWithEnv wants the text of
	Watched       []Watch  // files that shape a session and that ResolveWithEnv need not read
	// KeepPrompt reports that the caller is shown the prompt that the model is sent: it is sent whole.
	KeepPrompt bool
	// NoScout says why the tool must not be started before it is known which session is meant, "" if it may.
	NoScout Reason
	// SessionModel and SessionVersion are the model that the session to resume began with
	// and the version of the tool that said so, "" if they are not known.
	SessionModel, SessionVersion string
	Unknown                      string // the option the grammar does not know, where Reason says so

	formatArg    argSpan   // where the caller's output format stands in Args
	promptArgs   []argSpan // likewise for the prompt, where it may be in several places
	noColor      bool
	outputDir    string // vibe: the caller's own --output-dir
	verbose      bool
	omitThinking bool
	version      string // claude: as its place tells it
	maxTurns     string
	maxBudget    string

	execAt  int   // codex: where exec stands in Args
	learned Probe // codex: what Args was read with
	colors  bool  // codex: its stderr would have colours
}

// A Setting is one option, variable or file that shapes a session. File reports that
// Value names files, with NUL between them, whose content counts besides their names.
// Guard is why a call is fresh where the setting has changed, "" for SettingsChanged.
type Setting struct {
	Name  string
	Value string
	File  bool
	Guard Reason
}

// Paths returns the files that the setting names.
func (s Setting) Paths() []string { return strings.Split(s.Value, "\x00") }

// A Watch names files whose content shapes a session. An element of Path may have a *,
// which stands for any part of a name; Name then stands for what is before it. Above says that the directories above the
// working directory count as well, for a relative path.
type Watch struct {
	Path  string
	Name  string // shown to people, "" for the path itself
	Above bool
	Guard Reason // "" for SettingsChanged
}

// argSpan is a run of arguments; empty where n is 0.
type argSpan struct{ at, n int }

// A Plan is the real call: the command line without argv[0], what its stdin is,
// and what it must show before it is believed.
type Plan struct {
	Args []string
	// Stdin replaces the caller's stdin where HasStdin is set; otherwise the
	// tool gets the caller's own.
	Stdin    string
	HasStdin bool
	// ReadStderr reports that stderr must be read as well, line by line.
	ReadStderr bool
	// Follow are files that the tool writes while it runs and that tell what its
	// output does not.
	Follow []Follow
	// Env are variables that are set for the tool, as NAME=VALUE.
	Env []string
	// ReexecsSelf tells of a tool that starts itself anew as a child of its own and
	// does not hand signals on to it.
	ReexecsSelf bool
	// ExitsBeforeFlush tells of a tool that leaves before a pipe that is full has taken all of
	// its output.
	ExitsBeforeFlush bool
	// Resume is the session that the call goes on from, "" for a fresh call. With Copy
	// the tool must come back under another id, otherwise under this one.
	Resume string
	Copy   bool
	// Prompt is what the model is sent, Whole whether that is the caller's
	// whole prompt. Asked is that whole prompt, where Prompt is not.
	Prompt string
	Whole  bool
	Asked  string
	// OneStream reports that ErrLine reads stdout and stderr alike: where the
	// caller has both in one file, they are read as one, in their order.
	OneStream bool
}

// A Follow names files to be followed while a tool runs: those below Dir, at any
// depth, whose base name matches Name as path.Match does. With Lines a file is
// handed on line by line as it grows, from where it ended before the run;
// otherwise whole, each time it is put in place.
type Follow struct {
	Dir, Name string
	Lines     bool
}

// Scratch stands, in the arguments of a Plan and in Follow.Dir, for a private
// directory that is made for the run and removed after it.
const Scratch = "{reprise-scratch}"

// SessionFiles are what a tool keeps of one session, by paths relative to its home.
type SessionFiles struct {
	// Paths are the session's own file or directory, and after it those that only
	// serve it, which need not exist.
	Paths []string
	// Lock is a file on which a process of the tool holds a lock (flock) as long
	// as it has the session open, "" where the tool has none.
	Lock string
	// Running and Forks are patterns, as path.Match understands them, of files that
	// begin with a line: where it names the session, a process has it open, or
	// another session has no copy of it and needs it.
	Running, Forks []string
}

// Totals are the running figures of a session as its tool last reported them,
// in a form that only the tool's own file reads; "" where there are none.
type Totals string

// A Stream reads one run's stdout, line by line, and gives what the caller is to
// see in its place. It is not safe for concurrent use.
type Stream interface {
	// Line takes a line with its newline (the last may lack it) and returns the
	// bytes for the caller; the result is valid until the next call.
	Line(line []byte) []byte
	// ErrLine is the same for a line of stderr, where the plan asks for that.
	ErrLine(line []byte) []byte
	// TakeStderr returns what the tool, asked for the caller's format, would have
	// written on stderr besides, since it was last taken.
	TakeStderr() string
	// File takes what a followed file holds: a line of it, or all of it.
	File(path string, data []byte)
	// End is called once, when the output is over, and returns what remains to
	// be shown. It may be called again and then returns nothing.
	End() []byte
	// MaxLine is the length in bytes beyond which a line of stdout need not be collected
	// but may be handed on unread; 0 for no limit. NoLines means that nothing is
	// collected: Line takes the output in the pieces in which it comes. Lines of stderr
	// are collected up to LongestLine.
	MaxLine() int
	// HoldsOutput reports whether the tool, asked for the caller's format, writes only
	// at its end: until then it does not notice that nobody reads. What Line returns may
	// be shown at once all the same.
	HoldsOutput() bool
	// Seen is what has been learned so far.
	Seen() *StreamState
}

// NoLines is the MaxLine of a stream that does not read lines.
const NoLines = -1

// StreamState is what a run's output told.
type StreamState struct {
	ID      string // session id, from the tool's own field, of valid form
	Source  string // where it was read: stdout, stderr, file
	Version string // the tool's version, where it says so
	Model   string

	Results    int      // how many final events were seen
	Content    bool     // the model's first content has arrived under ID
	WrongID    bool     // the tool works under another id than the one asked for
	ToolRan    bool     // the model has used a tool
	Final      bool     // the final event was seen
	Failed     bool     // the final event is marked as an error, or an event was not as expected
	TurnLimit  bool     // it failed for nothing but the turns that the caller allowed it: its session is whole
	Synthetic  bool     // the last message is not a model's
	Refusal    Reason   // the session could not be gone on with
	Compacted  bool     // the tool shortened its history
	Answer     string   // the final answer
	Texts      []string // all that the model said, Answer at the end of it, where the caller is shown that too
	Exit       int      // what the tool would exit with in the caller's format, 0 for what it did
	Unshown    []byte   // after End: what the tool wrote that must be shown as it is if the tool exits with 0
	Usage      Usage
	Totals     Totals
	ContextUse Context

	// Files are those that the run's tools were given to read or change, at most MaxThings of them.
	Files []string

	textBytes int // of all Texts so far
}

// LongestLine is how long a line may be that is read although nothing waits for it: longer than a result with the
// longest answer of a model, and its figures.
const LongestLine = 8 << 20

// maxTexts bounds how much is kept of what a run says on its way, in bytes.
const maxTexts = 1 << 20

// addText notes what the model said. Of a run that says too much nothing but the
// final answer is kept.
func (s *StreamState) addText(text string) {
	if s.textBytes += len(text); s.textBytes > maxTexts {
		s.Texts = nil
		return
	}
	s.Texts = append(s.Texts, text)
}

// fileKeys are the fields in which the tools of the agents are given the name of a file.
var fileKeys = []string{"file_path", "notebook_path", "absolute_path", "path"}

// addFiles notes the files that a tool was given. input is what it was given, of whatever shape.
func (s *StreamState) addFiles(input json.RawMessage) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(input, &fields) != nil {
		return
	}
	for _, key := range fileKeys {
		var name string
		if json.Unmarshal(fields[key], &name) == nil && name != "" && len(s.Files) < MaxThings {
			s.Files = append(s.Files, name)
		}
	}
}

// EndTurn returns what a turn has told that ends with this, and begins the next one. What was
// learned of the session stays.
func (s *StreamState) EndTurn() StreamState {
	turn := *s
	s.Answer, s.Texts, s.textBytes, s.Files = "", nil, 0, nil
	return turn
}

// Continue adds what came behind the end of a turn, and belongs to it.
func (s *StreamState) Continue(more StreamState) {
	more.Texts, more.Files = slices.Concat(s.Texts, more.Texts), slices.Concat(s.Files, more.Files)
	*s = more
}

// Since returns a usage without what had been used before, of a total that only grows.
func (u Usage) Since(before Usage) Usage {
	u.Input, u.CacheRead, u.CacheWrite = u.Input-before.Input, u.CacheRead-before.CacheRead, u.CacheWrite-before.CacheWrite
	u.Output, u.CostNano = u.Output-before.Output, u.CostNano-before.CostNano
	return u
}

// Usage is what one call took, in disjoint kinds of tokens. Known is false where
// the tool did not say.
type Usage struct {
	Known      bool
	Input      int64 // neither read from nor written to the cache
	CacheRead  int64
	CacheWrite int64
	Output     int64
	// CostNano is the price in nano-dollars as the tool gives it.
	CostNano  int64
	CostKnown bool
}

// Context is how full a session's window is, in tokens; Limit is 0 where the
// tool does not say.
type Context struct{ Used, Limit int64 }
