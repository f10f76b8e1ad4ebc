// Package rewrite is the program's knowledge of a call to an agent CLI: how a tool's command line
// is parsed, turned into a resume, and its output read for IDs, usage and refusals and rendered in
// the caller's format. Each tool implements it in a separate package below rewrite/tool; an
// import of rewrite/tool registers them all.
//
// All of them do no I/O: they read no file, clock, environment or process state. Their input is
// passed in, and their results are values (a CommandLine, a Plan, a Stream). A test checks their
// imports.
//
// Invariant: a delta is always part of a resume. ToFresh makes a Target with the whole prompt;
// ToResume, ToFork and ToCopy make one with a session's ID; nothing else makes a Target.
package rewrite

import (
	"encoding/json"
	"slices"
	"strings"

	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
)

// A Tool is everything that differs between agent CLIs. A package below rewrite/tool
// implements it for each.
type Tool interface {
	// Descriptor returns the facts about the tool as data. Callers must not change it.
	Descriptor() *Descriptor
	// Parse reads a command line and decides which kind of call it is. It never fails: a command
	// line that it cannot read is passed through with a reason.
	Parse(Input) CommandLine
	// Options parses that help: which options the tool knows beyond the grammar, and whether this
	// version can resume a session.
	Options(help string) Probe
	// ResolveWithEnv completes a call from the environment it runs in. It can find that the call
	// must not be managed.
	ResolveWithEnv(CommandLine, HostEnv) CommandLine
	// EffectivePrompt returns the prompt that the tool itself would send to the model for the call
	// and its stdin, "" if it cannot be managed.
	EffectivePrompt(call CommandLine, stdin string) string
	// ActsOn reports whether the tool acts on something in a prompt's text in the turn that
	// contains it: a file mention (@path), a word that makes the model think more. If unsure, it
	// returns true.
	ActsOn(text string) bool
	// Plan returns the real call's command line, stdin and expectations.
	Plan(call CommandLine, target Target) Plan
	// Stream returns the reader and renderer of the planned call's output.
	Stream(call CommandLine, plan Plan, totals Totals) Stream
	// ForkPoint returns the message that a copy of a session must end with to contain exactly the
	// messages that the file has up to the end of tail. Tail ends with a whole line and can begin
	// within one. It returns "" if there is none, or the tool cannot copy a session.
	ForkPoint(tail []byte) (message string)
	// CopySession returns a copy of a session's file, for a tool that makes no copies itself: the
	// base name, and the text to write to it. From and to are the session's ID and the copy's, at
	// is the time in ISO 8601, in UTC. It fails for a file of any other shape than expected.
	CopySession(from, to, at string, file []byte) (name string, copied []byte, err error)
	// ValidID reports whether id has the form of this tool's session IDs.
	ValidID(id string) bool
	// IsOrphanFile reports whether a file matched by SessionPaths is not the session's own but a
	// leftover of the tool that endangers the session.
	IsOrphanFile(path string, data []byte) bool
	// Refused returns the reason if the tool refused to resume, from a run's stderr and exit code.
	// It is asked if stdout does not show it.
	Refused(stderr string, exit int) reason.Code
}

// An Input is the command line as the caller wrote it, and the facts needed to parse it.
type Input struct {
	Args      []string            // without argv[0]
	Env       func(string) string // the caller's environment; "" if unset
	StdinTTY  bool
	StdoutTTY bool
	Learned   Probe // the facts of the binary's own --help, if any
}

// A HostEnv is the surroundings of a call: all that it depends on apart from the command line.
type HostEnv struct {
	Settings []File // the call's SettingsFiles that exist
	Hooks    []File // the call's HookFiles that exist
	// the working directory, and the root of the repository if it has one
	Dirs    []string
	Version string // the tool's, "" if not known
}

// A File is a file of the call's surroundings. Unread reports that it is there, but could not be
// read.
type File struct {
	Path, Text string
	Unread     bool
}

// A Probe is the facts that a binary's own --help revealed.
type Probe struct {
	Known   bool     // the help text was readable
	Resume  bool     // it can resume a session
	Options []Option // all options it lists
	Version string   // the output of --version, if the descriptor's AsksVersion is set
}

// A Format is the output format that a caller requested.
type Format string

// The formats of all tools.
const (
	Text        Format = "text"
	JSON        Format = "json"
	JSONVerbose Format = "json-verbose" // claude: every event, as one array
	StreamJSON  Format = "stream-json"
)

// StdinUse is a tool's use of stdin in a call.
type StdinUse int

// How stdin is part of the prompt.
const (
	StdinUnused   StdinUse = iota // a terminal, or not read
	StdinPrompt                   // stdin is the prompt
	StdinAppended                 // the prompt is in argv; data on stdin is added to it
	StdinFrames                   // stdin is a conversation; the first message is the prompt
)

// A CommandLine is the command line of a call, parsed by a tool.
type CommandLine struct {
	Mode   Mode        // Passthrough, Observe, or Fresh for a call that can be managed
	Reason reason.Code // why Mode is Passthrough or Observe

	Args   []string // without argv[0], as the caller wrote them
	Format Format   // as the caller requested
	Stdin  StdinUse
	// Silent reports that stdin has been silent for a while, and that the tool must see that for
	// itself.
	Silent bool

	Prompt     string // the prompt in argv
	PromptArgs []Span // the places in Args

	Dir   string // working directory that the caller requested, "" for the current one
	Model string // model that the caller requested, "" for the tool's default
	// everything that must be equal between a session and a call that resumes it
	Settings  []Setting
	SessionID string // the session that the caller itself names
	// the ID that the caller chose for the session that the call begins, "" if none
	ChosenID string
	Home     string // the directory of the tool's sessions
	NoResume bool   // this version is known not to resume
	Copies   bool   // this version is known to resume in a copy

	// HourCache is the variable, NAME=VALUE, that makes the tool ask the provider to keep a prompt
	// for an hour. It is "" if this version has none, or if the caller has chosen for itself.
	HourCache string

	SettingsFiles []string // files that ResolveWithEnv needs the content of; Dir has relative ones
	Watched       []Watch  // files that shape a session but that ResolveWithEnv does not need
	HookFiles     []Watch  // files that can have hooks, beside SettingsFiles
	// KeepPrompt reports that the prompt must be sent whole: the caller is shown it, or a hook is.
	KeepPrompt bool
	// HookSet reports that a hook would not run, or might not, if a session were resumed.
	HookSet bool
	// NoScout is why the tool must not be started before the prompt is known, "" if it can be.
	NoScout   reason.Code
	Unknown   string // the option that the grammar does not know, if Reason says so
	Unmanaged string // the option that makes the call unmanaged, if Reason says so

	// where in Args options are added: behind the first argument, before the last one if both can
	// stay
	AddAt     int
	FormatArg Span // place of the caller's output format in Args

	// Own is a value for the tool's own package, of a type of that package.
	Own any
}

// A Setting is one option, variable or file that shapes a session. With File, Value names files,
// separated by NUL, and their content counts too. Guard is why a call is fresh if the setting has
// changed, "" for SettingsChanged.
type Setting struct {
	Name  string
	Value string
	File  bool
	Guard reason.Code
}

// Paths returns the files that the setting names.
func (s Setting) Paths() []string { return strings.Split(s.Value, "\x00") }

// A Watch names files that shape a session. An element of Path can contain a *, which
// matches any part of a name, or be **, which matches any directories; Name then is the part of
// the path before it. Above includes the directories above the working directory, for a relative
// path.
type Watch struct {
	Path  string
	Name  string // shown to people, "" for the path itself
	Above bool
	Guard reason.Code // "" for SettingsChanged
}

// A Plan is the real call: the command line without argv[0], the stdin, and conditions that the
// output must show before the run counts as successful.
type Plan struct {
	Args []string
	// Stdin replaces the caller's stdin if HasStdin is set; otherwise the tool gets the caller's
	// own.
	Stdin    string
	HasStdin bool
	// ReadStderr requests that stderr is read as well, line by line.
	ReadStderr bool
	// Follow are files that the tool writes while it runs and that contain facts the output lacks.
	Follow []Follow
	// Env are variables to set for the tool, as NAME=VALUE.
	Env []string
	// Trial reports that no run of the binary has accepted the plan's additions to the call. If it
	// fails before it does, the caller must not see it.
	Trial bool
	// Added are the options of a trial that the caller did not give.
	Added []string
	// ReexecsSelf reports that the tool restarts itself as its own child and does not forward
	// signals to it.
	ReexecsSelf bool
	// ExitsBeforeFlush reports that the tool exits before a full pipe has taken all of its output.
	ExitsBeforeFlush bool
	// Resume is the session that the call continues, "" for a fresh call. With Copy the tool must
	// report another ID, otherwise this one.
	Resume string
	Copy   bool
	// Least is how many tokens the first request of a run has at least if the tool has loaded the
	// session; 0 if that is not known.
	Least int64
	// NewID is the ID that the command line gives the session that the run begins, "" if the tool
	// chooses it. WriteCopy reports that the shim writes the copy under that ID (CopySession),
	// since the tool makes none.
	NewID     string
	WriteCopy bool
	// Started is when the run began, in milliseconds since 1970. The content of a followed file
	// from before was copied from another session.
	Started int64
	// Prompt is the text sent to the model. Whole reports that it is the caller's whole prompt;
	// otherwise Asked is that prompt. WholeReason is why a resume sends it.
	Prompt      string
	Whole       bool
	WholeReason reason.Code
	Asked       string
	// OneStream requests that stdout and stderr are read as one stream, in order, if the caller has
	// both in one file. ErrLine then reads the lines of both.
	OneStream bool
	// CannotWrite is the tool's exit code if the answer cannot be written, where that depends on
	// the version; 0 for the descriptor's.
	CannotWrite int
}

// ID returns the ID of the run's session if the command line gives it, "" if the tool chooses it.
func (p Plan) ID() string {
	if p.Resume != "" && !p.Copy {
		return p.Resume
	}
	return p.NewID
}

// A Follow names files to follow while a tool runs: those below Dir, at any depth, if the base name
// matches Name in path.Match's syntax. With Root it is only the file of that name in Dir itself, or
// below Root if it is not in Dir when the tool has ended. With Lines a file is read line by line as
// it grows, from where it ended before the run; otherwise as a whole when the tool has ended.
type Follow struct {
	Dir, Name string
	Root      string
	Lines     bool
}

// Scratch, in the arguments of a Plan and in Follow.Dir, is replaced by a private directory that
// exists only during the run.
const Scratch = "{reprise-scratch}"

// SessionFiles are a tool's files of one session, with paths relative to the home.
type SessionFiles struct {
	// Paths are the session's own file or directory first, then files that only serve it and need
	// not exist.
	Paths []string
	// Named are the Paths that a session's history can name to the model. A copy has the history,
	// but not these files.
	Named []string
	// Common are path.Match patterns of files that several sessions need. A name stands for the
	// content. They go with a session to other machines, and stay when it is removed.
	Common []string
	// Lock is a path.Match pattern of files. The tool's process holds a lock (flock) on one of them
	// while it has the session open. "" if the tool has none.
	Lock string
	// Running and Forks are path.Match patterns of files; their first line counts. If it names the
	// session, a process has the session open (Running), or another session lacks a copy of it and
	// needs it (Forks).
	Running, Forks []string
}

// CommonFiles begins a pattern of Common in a list of paths. These files are packed and unpacked
// with a session, but never compared, replaced or removed.
const CommonFiles = "common:"

// ForMachines returns the paths of the files that another machine needs to go on with the session.
func (f SessionFiles) ForMachines() []string {
	paths := slices.Clone(f.Paths)
	for _, pattern := range f.Common {
		paths = append(paths, CommonFiles+pattern)
	}
	return paths
}

// Totals are a session's cumulative figures as the tool last reported them, in a form that only the
// tool's own file reads; "" if there are none.
type Totals string

// A Stream reads one run's stdout, line by line, and returns the caller's view of it. It
// is not safe for concurrent use.
type Stream interface {
	// Line reads a line with the newline (the last can lack it) and returns the bytes for the
	// caller. The result is valid until the next call.
	Line(line []byte) []byte
	// ErrLine does the same for a line of stderr, if the plan requests it.
	ErrLine(line []byte) []byte
	// ErrAsIs reports whether ErrLine returns every line that begins so unchanged. The beginning is
	// then shown before the end is there.
	ErrAsIs(part []byte) bool
	// TakeStderr returns the text that the tool would also have written to stderr in the caller's
	// format, since the last call.
	TakeStderr() string
	// File reads a line of a followed file, or the whole content. With the descriptor's
	// SessionQuery it also reads, when the run has ended, the values of the session's row as a JSON
	// array.
	File(path string, data []byte)
	// End is called once, when the output is over, and returns the rest of the output.
	End() []byte
	// MaxLine is the length in bytes beyond which a line of stdout can be passed on unread; 0 means
	// no limit. NoLines means that lines are not collected: Line gets the output in pieces as it
	// comes. Lines of stderr are collected up to LongestLine.
	MaxLine() int
	// PrintsAtEnd reports whether the tool, in the caller's format, prints nothing of a turn before
	// the turn has ended. No caller is reading meanwhile, so a resumed run's output can be held as
	// long.
	PrintsAtEnd() bool
	// HoldsOutput reports whether the tool, in the caller's format, writes only at the end, so that
	// it does not notice earlier that the reader is gone. The line that Line returns can still be
	// shown at once.
	HoldsOutput() bool
	// Seen returns the facts learned so far.
	Seen() *StreamState
}

// NoLines is the MaxLine of a stream that does not read lines.
const NoLines = -1

// StreamState is the facts that a run's output revealed. The JSON, which can outlive the call, has
// no text of the model.
type StreamState struct {
	ID      string // session ID, from the tool's own field, of valid form
	Source  string // where it was read: stdout, stderr, file
	Version string // the tool's version, if it reports one
	Model   string

	Results int  // how many final events were seen
	Content bool // the model's first content has arrived under ID
	WrongID bool // the tool works under another ID than requested
	ToolRan bool // the model has used a tool
	// it has run a command, in this turn or before: that can have changed any file
	Shell      bool
	Final      bool // the final event was seen
	Failed     bool // the final event is marked as an error, or something is Malformed
	Malformed  bool // an event had an unexpected shape
	Background bool // a command that a tool has left running was not seen to end
	// it failed only because of the caller's turn limit: the session is intact
	TurnLimit bool
	Synthetic bool        // the last message is not a model's
	Refusal   reason.Code // why the session could not be continued
	// why it failed, if that says nothing against the session: a limit, a login, the network
	Outside   reason.Code
	Compacted bool   // the tool shortened the history
	Answer    string `json:"-"` // the final answer
	Message   string // ID of the model's last message, if the tool names it
	// everything that the model said, ending with Answer, if the caller is shown it too
	Texts []string `json:"-"`
	// after End: output that must be shown unchanged if the tool exits with 0
	Unshown    []byte `json:"-"`
	Usage      Usage
	First      Usage // of the run's first request, if the tool reports it
	Totals     Totals
	ContextUse Context
	// OwnFigures reports that a copy of the session can tell its own figures from the session's,
	// also if it is made before the run has ended.
	OwnFigures bool

	// Files are the files that the run's tools were given to read or change, at most
	// prompt.MaxThings.
	Files []string `json:"-"`

	textBytes int // of all Texts so far
}

// LongestLine is the longest line that is read although the output does not wait for it. It exceeds
// a result with a model's longest answer and the figures.
const LongestLine = 8 << 20

// MaxTexts bounds, in bytes, the texts kept of a run before the final answer.
const MaxTexts = 1 << 20

// AddText records a text of the model. Beyond the bound only the final answer is kept.
func (s *StreamState) AddText(text string) {
	if s.textBytes += len(text); s.textBytes > MaxTexts {
		s.Texts = nil
		return
	}
	s.Texts = append(s.Texts, text)
}

// fileKeys are the fields where agents name a file to their tools.
var fileKeys = []string{"file_path", "notebook_path", "absolute_path", "path"}

// AddTool records that the model has used a tool, the files that it was given, and whether it ran a
// command. input is the tool's argument, of any shape.
func (s *StreamState) AddTool(input json.RawMessage) {
	s.ToolRan = true
	var fields map[string]json.RawMessage
	if json.Unmarshal(input, &fields) != nil {
		return
	}
	s.Shell = s.Shell || fields["command"] != nil
	for _, key := range fileKeys {
		var name string
		if json.Unmarshal(fields[key], &name) == nil && name != "" &&
			len(s.Files) < prompt.MaxThings {
			s.Files = append(s.Files, name)
		}
	}
}

// EndTurn returns the facts that a turn of the run has revealed, and begins the next turn.
func (s *StreamState) EndTurn() StreamState {
	turn := *s
	s.Answer, s.Texts, s.textBytes, s.Files = "", nil, 0, nil
	return turn
}

// Continue adds facts that came after the end of a turn and belong to it.
func (s *StreamState) Continue(more StreamState) {
	if s.First.Known {
		more.First = s.First
	}
	more.Texts, more.Files = slices.Concat(s.Texts, more.Texts), slices.Concat(s.Files, more.Files)
	more.Shell = more.Shell || s.Shell
	*s = more
}

// Plus returns the sum of two usages.
func (u Usage) Plus(v Usage) Usage {
	u.Known, u.CostKnown = u.Known || v.Known, u.CostKnown || v.CostKnown
	u.Input, u.CacheRead, u.CacheWrite = u.Input+v.Input, u.CacheRead+v.CacheRead,
		u.CacheWrite+v.CacheWrite
	u.Output, u.CostNano = u.Output+v.Output, u.CostNano+v.CostNano
	return u
}

// Since returns the usage since before, which is an earlier value of the same total.
func (u Usage) Since(before Usage) Usage {
	u.Input, u.CacheRead, u.CacheWrite = u.Input-before.Input, u.CacheRead-before.CacheRead,
		u.CacheWrite-before.CacheWrite
	u.Output, u.CostNano = u.Output-before.Output, u.CostNano-before.CostNano
	return u
}

// Usage is the tokens of one call, in disjoint kinds. Known is false if the tool did not report
// them.
type Usage struct {
	Known      bool
	Input      int64 // neither read from nor written to the cache
	CacheRead  int64
	CacheWrite int64
	Output     int64
	// CostNano is the price in nano-dollars as the tool reports it.
	CostNano  int64
	CostKnown bool
}

// Context is how many tokens of a session's window are used. Limit is 0 if the tool does not report
// it.
type Context struct{ Used, Limit int64 }

// CountsRequests reports whether so many tokens of a first request can be a whole request: besides
// the prompt, with a length in bytes, an agent sends a system prompt and tools.
func CountsRequests(first int64, prompt int) bool {
	const bytesPerToken, leastSystem = 4, 1_500
	return first >= int64(prompt/bytesPerToken)+leastSystem
}

// LeastFirstRequest returns how many tokens the first request of a run has at least if it resumes a
// session and sends a prompt of sent bytes. The session's last run had such a first request and
// left a context of held tokens. A claude that works in a repository sends the state of the files
// each time, up to 2 KB; of a long session tools drop old results. The answers after the last run's
// first request count for nothing: most can be thoughts, which are not sent again.
func LeastFirstRequest(first, held int64, sent int) int64 {
	const short, share, kept = 20_000, 32, 40_000 // tools and rules can take as much
	first = min(first, held)                      // it was compacted since
	room := max(fileState, min(first, short)/share) + max(0, first-kept)*2/3
	return max(0, first-room) + int64(sent/mostBytes)
}

// fileState is how many tokens a request has more or less with the state of the files, and
// mostBytes how many bytes of a prompt are a token at most.
const fileState, mostBytes = 200, 6

// IsForgotten reports whether the first request of a resumed run had nothing of the session: no
// more tokens than a fresh run of the same call, without the bytes of the prompt that it left out.
func IsForgotten(resumed, fresh int64, left int) bool {
	return resumed+int64(left/mostBytes) <= fresh+fileState
}

// Prompt returns the tokens that a request has sent.
func (u Usage) Prompt() int64 { return u.Input + u.CacheRead + u.CacheWrite }

// Arity is how many arguments an option takes.
type Arity int

// The arities of all the tools' option parsers.
const (
	NoValue       Arity = iota
	OneValue            // takes any next argument
	OptionalValue       // takes the next argument unless it starts with a dash
	ManyValues          // takes the next argument, and those after it that do not start with a dash
)

// An Option is one option of a tool, under all the names.
type Option struct {
	Names []string // with their dashes; the first names the setting
	Arity Arity
	Kind  OptionKind
}

// OptionKind is the meaning of an option for a resume. Package grammar has the kinds.
type OptionKind int

// A Span is a run of arguments; it is empty if N is 0.
type Span = struct{ At, N int }

// NoAttempt is the number of an attempt that is not known.
const NoAttempt = -1

// Unnamed is the condition for a call without a task name to be resumed.
type Unnamed string

// The conditions.
const (
	UnnamedEvidence Unnamed = "evidence" // evidence that it continues the session's own work
	// a prompt that repeats everything the session was sent and adds something
	UnnamedExtends Unnamed = "extends"
	UnnamedOff     Unnamed = "off" // a name: it is never resumed
)

// A Mode is how a call is handled.
type Mode string

// The modes.
const (
	Passthrough Mode = "passthrough" // the real binary replaces the shim
	Observe     Mode = "observe"     // unchanged, but read for the session ID and usage
	Fresh       Mode = "fresh"       // managed, in a new session
	Resume      Mode = "resume"      // managed, in a session of the chain or in a copy of it
	// managed, in a copy of a session as our last run left it, since another process used the
	// session after that
	Fork Mode = "fork"
)

// Continues reports whether the call continues the earlier prompts of a session.
func (m Mode) Continues() bool { return m == Resume || m == Fork }

// IsHeadless reports whether a call that is passed through for a reason is headless, so that the
// caller can expect it to be managed. Calls from within a tool's own run are not.
func IsHeadless(t Tool, in Input, r reason.Code) bool {
	d := t.Descriptor()
	switch r {
	case reason.AppServer:
		return !in.StdinTTY && !d.IsNested(in.Env)
	case reason.CallerSession, reason.OptedOut, reason.UnknownOption, reason.UnmanagedOption,
		reason.BadUsage, reason.SlashCommand, reason.MessageContent, reason.StdinOpen,
		reason.StdinTooBig, reason.StdoutGone, reason.OpenPipe,
		reason.Wrapper, reason.VerboseSetting, reason.HookSetting, reason.Unreadable,
		reason.NoResume, reason.AddedRefused, reason.ConfigMistake, reason.Fault:
	default:
		return false
	}
	named := func(arg string) bool { return slices.Contains(d.Managed, arg) }
	return !d.IsNested(in.Env) && (len(d.Managed) == 0 || slices.ContainsFunc(in.Args, named))
}

// A Target is the session that a call goes to and the prompt for it. Only ToFresh, ToResume, ToFork
// and ToCopy make one, so a delta never goes to a fresh session.
type Target struct {
	plan   Plan   // as far as it does not depend on the tool and the command line
	ForkAt string // the last message that a copy of the session keeps, "" for all
	// NewID is the ID for the session that the call begins: a fresh one, or a copy. A tool that
	// chooses the IDs of the sessions itself ignores it.
	NewID string
}

// ToFresh sends the whole prompt to a new session.
func ToFresh(prompt string) Target { return Target{plan: Plan{Prompt: prompt, Whole: true}} }

// ToResume sends the prompt, or the new part, to session id. With a reason to do so it sends the
// whole prompt.
func ToResume(id string, p *prompt.Prompt, c prompt.Continuity, why reason.Code) Target {
	delta := ""
	if why == "" {
		delta, why = p.Delta(c)
	}
	t := Target{plan: Plan{Resume: id, Prompt: p.Text, Whole: true, WholeReason: why}}
	if why == "" {
		t.plan.Prompt, t.plan.Whole, t.plan.Asked = delta, false, p.Text
	}
	return t
}

// ToFork sends the prompt, or the new part, to a copy of session id that ends with message. Without
// a message the copy would include the unfinished turn of another process, so the call needs a
// fresh session.
func ToFork(id, message string, p *prompt.Prompt, c prompt.Continuity, why reason.Code) Target {
	if message == "" {
		return ToFresh(p.Text)
	}
	t := ToCopy(id, p, c, why)
	t.ForkAt = message
	return t
}

// ToCopy sends the prompt, or the new part, to a copy of session id, which itself stays unchanged.
func ToCopy(id string, p *prompt.Prompt, c prompt.Continuity, why reason.Code) Target {
	t := ToResume(id, p, c, why)
	t.plan.Copy = true
	return t
}

// Plan returns the plan of a call to the target, with the caller's own command line.
func (t Target) Plan(c CommandLine) Plan {
	plan := t.plan
	plan.Args = slices.Clone(c.Args)
	return plan
}
