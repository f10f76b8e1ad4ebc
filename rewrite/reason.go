package rewrite

// A Reason says in one word why a call was handled as it was. Users see the words and the ledger
// stores them: they are never renamed.
type Reason string

// Reasons why a call is not managed.
const (
	NotManaged      Reason = "not_managed"      // an unmanaged tool or subcommand
	Interactive     Reason = "interactive"      // a person uses the terminal
	Admin           Reason = "admin"            // --help, --version, a subcommand
	AppServer       Reason = "app_server"       // a server whose client creates and resumes sessions itself
	CallerSession   Reason = "caller_session"   // the caller names a session itself
	OptedOut        Reason = "opted_out"        // the caller wants no session kept
	Nested          Reason = "nested"           // called from within a tool's own run
	UnknownOption   Reason = "unknown_option"   // an option known neither to the grammar nor to --help
	UnmanagedOption Reason = "unmanaged_option" // an option that makes the call unmanaged
	BadUsage        Reason = "bad_usage"        // the tool will reject this command line
	SlashCommand    Reason = "slash_command"
	MessageContent  Reason = "message_content"  // stream-json: the first message is not a plain text
	ControlRequest  Reason = "control_request"  // stream-json: the caller changes the session by a request
	NoMessage       Reason = "no_message"       // stream-json: the caller sends no message
	StdinOpen       Reason = "stdin_open"       // stdin is open but sends nothing: the prompt is not known
	StdinTooBig     Reason = "stdin_large"      // stdin exceeds what the shim reads
	StdoutGone      Reason = "stdout_gone"      // stdout has no reader: the tool must find out by itself
	VerboseSetting  Reason = "verbose_set"      // a settings file may change the output format
	HookSetting     Reason = "hook_set"         // a settings file may change what the session stores
	FileNotRegular  Reason = "file_not_regular" // a settings file is a pipe or a device: only the tool may read it
	FileTooLarge    Reason = "file_too_large"   // a settings file exceeds what the shim reads
	SwitchedOff     Reason = "switched_off"     // REPRISE_OFF
	NoResume        Reason = "no_resume_support"
	Fault           Reason = "fault" // something in reprise failed; the log says what
)

// NextTurn is the reason of a later turn of a conversation: the caller goes on with its own
// session in the same process.
const NextTurn Reason = "next_turn"

// NoAttempt is the number of an attempt that is not known.
const NoAttempt = -1

// Reasons why a managed call is fresh.
const (
	FirstCall           Reason = "first_call"
	NewJob              Reason = "new_job" // no earlier prompt begins like this one
	ForcedFresh         Reason = "forced_fresh"
	Disabled            Reason = "disabled"
	Ambiguous           Reason = "ambiguous"
	NoEvidence          Reason = "no_evidence" // nothing shows that the prompt continues the session's own work
	NewRole             Reason = "new_role"    // the prompt assigns a role, asks for a judgement or refers to another agent's work
	CleanStart          Reason = "clean_start" // the prompt asks for independent answers
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
	CommitGone          Reason = "commit_gone" // the commit at the end of the last run is not an ancestor of HEAD
	WorkGone            Reason = "work_gone"   // files that the session changed were thrown away: reset, checkout, stash, clean
	JobChanged          Reason = "job_changed" // another CI job or tenant, for calls without a name
	UserChanged         Reason = "user_changed"
	PreviousFailed      Reason = "previous_failed"
	PreviousKilled      Reason = "previous_killed"
	PreviousUnknown     Reason = "previous_unknown" // it ended, and the shim did not see how
	SessionDead         Reason = "session_dead"
	SessionGone         Reason = "session_file_gone"
	CallersOwn          Reason = "callers_own"     // the caller itself has continued the session
	SessionMoved        Reason = "session_changed" // another process has written to it
	Idle                Reason = "idle"
	TooOld              Reason = "max_age"
	ContextFull         Reason = "context_full"
	ErrorLimit          Reason = "error_limit"
	Leased              Reason = "leased"
	Never               Reason = "never"         // a rule says that each call is independent
	AttemptReset        Reason = "attempt_reset" // the caller counts from the start again
	ContextReset        Reason = "context_reset" // a prompt or another role's answer requested it
	Dearer              Reason = "dearer"        // resumes of its rule have cost more than fresh runs
	CacheLost           Reason = "cache_lost"    // a resume with this tool loses the provider's cache, and no figures show that it pays
	HeldOut             Reason = "held_out"      // kept fresh for comparison
)

// Reasons, with a store that machines share, why a managed call is fresh.
const (
	CheckoutDiffers  Reason = "checkout_differs"  // neither the directory nor HEAD's last commits have what the session's last run left
	StoreUnavailable Reason = "store_unavailable" // nothing that is shared is resumed without the store
	StoreBusy        Reason = "store_busy"        // other calls changed the chain's register each time
	RegisterDamaged  Reason = "register_damaged"  // the chain's register cannot be read, and is replaced
)

// Reasons why a job is over its budget.
const (
	TooManyCalls Reason = "too_many_calls" // in the last hour
	BudgetSpent  Reason = "budget_spent"   // in the last 24 hours
)

// Reasons why a call that may copy its session is fresh all the same, as the detail of Leased or
// SessionMoved.
const (
	NothingToFork Reason = "nothing_to_fork" // no run of it has ended yet
	NoForkPoint   Reason = "no_fork_point"   // no message is found at the end of our last run
)

// How a prompt relates to what the session was sent; each is also the reason of the decision it
// leads to.
const (
	Identical Reason = "identical"
	Extends   Reason = "extends"
	Revises   Reason = "revises"
	Unrelated Reason = "unrelated"
)

// Reasons why a session is dead.
const (
	RefusedUnknown  Reason = "refused_unknown_session"
	RefusedOtherID  Reason = "refused_other_id"
	RefusedBusy     Reason = "refused_busy"
	RefusedNoResume Reason = "refused_no_resume"
	RefusedContext  Reason = "refused_context_exceeded"
	RefusedBroken   Reason = "refused_broken_transcript"
	RefusedSilent   Reason = "refused_without_reason"
	LateStdin       Reason = "late_stdin" // not a refusal: data came on stdin after the decision to resume
	Pruned          Reason = "pruned"     // shimctl prune has removed its file
)

// TurnLimit is why a session stays usable although its last run failed.
const TurnLimit Reason = "turn_limit"

// Reasons why a resumed call sends the whole prompt.
const (
	DeltaOff         Reason = "delta_off"
	Compacted        Reason = "compacted"          // the tool has shortened its history
	OtherTemplate    Reason = "other_template"     // the session knows little of the prompt
	NothingNew       Reason = "nothing_new"        // an identical prompt that is to be resumed
	ShortPrompt      Reason = "short_prompt"       // under 2 KB
	SavesTooLittle   Reason = "saves_too_little"   // less than a third
	NoCleanCut       Reason = "no_clean_cut"       // new and known text cannot be separated
	SentAgain        Reason = "sent_again"         // the known text has something that the tool acts on each time
	LooksLikeCommand Reason = "looks_like_command" // the tool would take the part for a command
)
