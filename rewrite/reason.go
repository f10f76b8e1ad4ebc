package rewrite

// A Mode is what becomes of an invocation.
type Mode string

// The modes.
const (
	Passthrough Mode = "passthrough" // the real binary runs in our place
	Observe     Mode = "observe"     // unchanged, but watched for its id and usage
	Fresh       Mode = "fresh"       // managed, in a session of its own
	Resume      Mode = "resume"      // managed, in a session of the chain, or in a copy of it
	Fork        Mode = "fork"        // managed, in a copy of a session as our last run left it, which somebody else has used since
)

// Continues tells of a call that goes on from what a session was sent before.
func (m Mode) Continues() bool { return m == Resume || m == Fork }

// A Reason says in one word why a call was treated as it was. The words are
// shown to users and kept in the ledger: they are never renamed.
type Reason string

// Why a call is not managed.
const (
	NotManaged      Reason = "not_managed"      // a tool or subcommand we leave alone
	Interactive     Reason = "interactive"      // somebody sits at the terminal
	Admin           Reason = "admin"            // --help, --version, a subcommand
	CallerSession   Reason = "caller_session"   // the caller names a session itself
	OptedOut        Reason = "opted_out"        // the caller wants no session kept
	Nested          Reason = "nested"           // called from inside a tool's own run
	UnknownOption   Reason = "unknown_option"   // an option neither we nor --help know
	UnmanagedOption Reason = "unmanaged_option" // an option that makes the call something else
	BadUsage        Reason = "bad_usage"        // the tool will refuse this command line
	SlashCommand    Reason = "slash_command"
	FrameContent    Reason = "message_content"  // stream-json: the first message is more than a text
	ControlFirst    Reason = "control_request"  // stream-json: the caller changes the session by more than messages
	NoMessage       Reason = "no_message"       // stream-json: there is no message
	StdinOpen       Reason = "stdin_open"       // stdin is open and silent: the prompt is not known
	StdinTooBig     Reason = "stdin_large"      // stdin is larger than we read
	StdoutGone      Reason = "stdout_gone"      // nobody reads stdout: the tool is to find out by itself
	VerboseSetting  Reason = "verbose_set"      // a settings file may change the json format
	HookSetting     Reason = "hook_set"         // a settings file may change what the session keeps
	FileNotRegular  Reason = "file_not_regular" // a file of settings is a pipe or a device: only the tool may read it
	FileTooLarge    Reason = "file_too_large"   // a settings file is larger than what is read
	SwitchedOff     Reason = "switched_off"     // REPRISE_OFF
	NoResume        Reason = "no_resume_support"
	Fault           Reason = "fault" // something in reprise failed; the log says what
)

// NextTurn is why a call is observed that is a later turn of a conversation: the caller goes on with
// its own session.
const NextTurn Reason = "next_turn"

// NoAttempt stands for the number of an attempt that is not known.
const NoAttempt = -1

// Why a managed call is fresh.
const (
	FirstCall           Reason = "first_call"
	ForcedFresh         Reason = "forced_fresh"
	Disabled            Reason = "disabled"
	Ambiguous           Reason = "ambiguous"
	NoEvidence          Reason = "no_evidence" // nothing says that the prompt goes on with the session's own work
	NewRole             Reason = "new_role"    // the prompt gives a role, asks for a judgement or speaks of another's work
	CleanStart          Reason = "clean_start" // the prompt asks for answers that stand alone
	UnnamedOff          Reason = "unnamed_off" // unnamed = "off"
	BaseTooSmall        Reason = "base_too_small"
	BaseChanged         Reason = "base_changed"
	HistoryEdited       Reason = "history_edited"
	ModelChanged        Reason = "model_changed"
	SettingsChanged     Reason = "settings_changed"
	RuntimeChanged      Reason = "runtime_changed"
	AuthChanged         Reason = "auth_changed"
	InstructionsChanged Reason = "instructions_changed" // CLAUDE.md, AGENTS.md, GEMINI.md
	DirectoryReplaced   Reason = "directory_replaced"   // another directory or repository under the same name
	BranchChanged       Reason = "branch_changed"
	CommitGone          Reason = "commit_gone" // the commit at the end of the last run is no ancestor of HEAD
	JobChanged          Reason = "job_changed" // another CI job or tenant, for calls without a name
	UserChanged         Reason = "user_changed"
	PreviousFailed      Reason = "previous_failed"
	PreviousKilled      Reason = "previous_killed"
	PreviousUnknown     Reason = "previous_unknown" // it ended without our seeing how
	SessionDead         Reason = "session_dead"
	SessionGone         Reason = "session_file_gone"
	CallersOwn          Reason = "callers_own"     // the caller has gone on with the session by itself
	SessionMoved        Reason = "session_changed" // somebody else has written to it
	Idle                Reason = "idle"
	TooOld              Reason = "max_age"
	ContextFull         Reason = "context_full"
	ErrorLimit          Reason = "error_limit"
	Leased              Reason = "leased"
	Never               Reason = "never"         // a rule's: calls that stand alone
	AttemptReset        Reason = "attempt_reset" // the caller counts from the start again
	ContextReset        Reason = "context_reset" // a prompt or another role's answer asked for it
	Dearer              Reason = "dearer"        // resumes of its rule have cost more than fresh runs
	HeldOut             Reason = "held_out"      // one of those that are not resumed, to compare with
)

// Why a call that may copy its session is fresh all the same, as the detail of Leased or
// SessionMoved.
const (
	NothingToFork Reason = "nothing_to_fork" // no run of it has ended yet
	NoForkPoint   Reason = "no_fork_point"   // no message is found where our last run ended
)

// How a prompt relates to what the session was sent; each is also the reason of
// the decision it leads to.
const (
	Identical Reason = "identical"
	Extends   Reason = "extends"
	Revises   Reason = "revises"
	Unrelated Reason = "unrelated"
)

// Why a session is dead.
const (
	RefusedUnknown  Reason = "refused_unknown_session"
	RefusedOtherID  Reason = "refused_other_id"
	RefusedBusy     Reason = "refused_busy"
	RefusedNoResume Reason = "refused_no_resume"
	RefusedContext  Reason = "refused_context_exceeded"
	RefusedBroken   Reason = "refused_broken_transcript"
	RefusedSilent   Reason = "refused_without_reason"
	Pruned          Reason = "pruned" // shimctl prune has removed its file
)

// TurnLimit is why a session is alive whose last run failed.
const TurnLimit Reason = "turn_limit"

// Why a call that is resumed sends the whole prompt all the same.
const (
	DeltaOff         Reason = "delta_off"
	Compacted        Reason = "compacted"          // the tool has shortened what the session was sent
	OtherTemplate    Reason = "other_template"     // little of the prompt is known to the session
	NothingNew       Reason = "nothing_new"        // an identical prompt that is to be resumed
	ShortPrompt      Reason = "short_prompt"       // under 2 KB
	SavesTooLittle   Reason = "saves_too_little"   // less than a third
	NoCleanCut       Reason = "no_clean_cut"       // what is new cannot be told apart from what is known
	SentAgain        Reason = "sent_again"         // what is known holds something that the tool acts on each time
	LooksLikeCommand Reason = "looks_like_command" // the tool would take the part for a command
)
