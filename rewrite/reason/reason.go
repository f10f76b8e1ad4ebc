// Package reason lists why a call was handled as it was: a code, its group and class, what it means and what would change it.
//
// It decides nothing. Guards, shimctl why, completion and docs/reference/reasons.md are made from its table. Its
// invariant: each code has exactly one row.
package reason

// A Code says in one word why a call was handled as it was. Users see the words and the ledger
// stores them: they are never renamed.
type Code string

// Reasons why a call is not managed.
const (
	NotManaged      Code = "not_managed"      // an unmanaged tool or subcommand
	Interactive     Code = "interactive"      // a person uses the terminal
	Admin           Code = "admin"            // --help, --version, a subcommand
	AppServer       Code = "app_server"       // a server whose client creates and resumes sessions itself
	CallerSession   Code = "caller_session"   // the caller names a session itself
	OptedOut        Code = "opted_out"        // the caller wants no session kept
	Nested          Code = "nested"           // called from within a tool's own run
	UnknownOption   Code = "unknown_option"   // an option known neither to the grammar nor to --help
	UnmanagedOption Code = "unmanaged_option" // an option that makes the call unmanaged
	BadUsage        Code = "bad_usage"        // the tool will reject this command line
	SlashCommand    Code = "slash_command"
	MessageContent  Code = "message_content" // stream-json: the first message is not a plain text
	ControlRequest  Code = "control_request" // stream-json: the caller changes the session by a request
	NoMessage       Code = "no_message"      // stream-json: the caller sends no message
	StdinOpen       Code = "stdin_open"      // stdin is open but sends nothing: the prompt is not known
	StdinTooBig     Code = "stdin_large"     // stdin exceeds what the shim reads or compares
	StdoutGone      Code = "stdout_gone"     // stdout has no reader: the tool must find out by itself
	Wrapper         Code = "wrapper"         // a script that minds the places of its arguments stands behind the shim
	VerboseSetting  Code = "verbose_set"     // a settings file may change the output format
	Unreadable      Code = "unreadable"      // a settings file that only the tool can read: a pipe, a device, a large file
	SwitchedOff     Code = "switched_off"    // REPRISE_OFF
	NoResume        Code = "no_resume_support"
	AddedRefused    Code = "additions_refused" // the binary fails with what the shim adds to a call
	ConfigMistake   Code = "config_mistake"    // the user's configuration cannot be used
	Fault           Code = "fault"             // something in reprise failed; the log says what
)

// NextTurn is the reason of a later turn of a conversation: the caller goes on with its own
// session in the same process.
const NextTurn Code = "next_turn"

// Reasons why a managed call is fresh.
const (
	FirstCall           Code = "first_call"
	NewJob              Code = "new_job"         // no earlier prompt begins like this one
	Updated             Code = "reprise_updated" // another version of reprise has recorded the session that it may continue
	ForcedFresh         Code = "forced_fresh"
	HookSetting         Code = "hook_set" // a hook runs when a session starts, and not or otherwise when one is resumed
	Disabled            Code = "disabled"
	Ambiguous           Code = "ambiguous"
	NoEvidence          Code = "no_evidence" // nothing shows that the prompt continues the session's own work
	NewRole             Code = "new_role"    // the prompt assigns a role, asks for a judgement or refers to another agent's work
	CleanStart          Code = "clean_start" // the prompt asks for independent answers
	UnnamedOff          Code = "unnamed_off" // unnamed = "off"
	BaseTooSmall        Code = "base_too_small"
	BaseChanged         Code = "base_changed"
	HistoryEdited       Code = "history_edited"
	ModelChanged        Code = "model_changed"
	SettingsChanged     Code = "settings_changed"
	RuntimeChanged      Code = "runtime_changed"
	AuthChanged         Code = "auth_changed"
	InstructionsChanged Code = "instructions_changed" // CLAUDE.md, AGENTS.md, GEMINI.md
	DirectoryReplaced   Code = "directory_replaced"   // another directory or repository under the same name
	BranchChanged       Code = "branch_changed"
	CommitGone          Code = "commit_gone"    // the commit at the end of the last run is not an ancestor of HEAD
	CommitUnknown       Code = "commit_unknown" // git did not say whether it is one
	WorkGone            Code = "work_gone"      // files that the session changed were thrown away: reset, checkout, stash, clean
	NoProgress          Code = "no_progress"    // rounds that were given the same as this call have changed nothing
	JobChanged          Code = "job_changed"    // another CI job or tenant, for calls without a name
	UserChanged         Code = "user_changed"
	Unread              Code = "unread"          // what the session's last run printed was not understood
	BackgroundLeft      Code = "background_left" // a command in the background was ended with the session's last run
	PreviousFailed      Code = "previous_failed"
	PreviousKilled      Code = "previous_killed"
	PreviousUnknown     Code = "previous_unknown" // it ended, and the shim did not see how
	SessionDead         Code = "session_dead"
	SessionGone         Code = "session_file_gone"
	CallersOwn          Code = "callers_own"     // the caller itself has continued the session
	SessionMoved        Code = "session_changed" // another process has written to it
	Idle                Code = "idle"
	TooOld              Code = "max_age"
	ContextFull         Code = "context_full"
	ErrorLimit          Code = "error_limit"
	Leased              Code = "leased"
	Never               Code = "never"         // a rule says that each call is independent
	AttemptReset        Code = "attempt_reset" // the caller counts from the start again
	ContextReset        Code = "context_reset" // a prompt or another role's answer requested it
	Dearer              Code = "dearer"        // resumes of its rule have cost more than fresh runs
	HeldOut             Code = "held_out"      // kept fresh for comparison
)

// Reasons, with a store that machines share, why a managed call is fresh.
const (
	CheckoutDiffers  Code = "checkout_differs"  // neither the directory nor HEAD's last commits have what the session's last run left
	StoreUnavailable Code = "store_unavailable" // nothing that is shared is resumed without the store
	StoreBusy        Code = "store_busy"        // other calls changed the chain's register each time
	RegisterDamaged  Code = "register_damaged"  // the chain's register cannot be read, and is replaced
)

// Reasons why a call that may copy its session is fresh all the same, as the detail of Leased or
// SessionMoved.
const (
	NothingToFork Code = "nothing_to_fork" // no run of it has ended yet
	NoForkPoint   Code = "no_fork_point"   // no message is found at the end of our last run
)

// StartedFrom is the reason of a role's first call that begins as a copy of another role's session, as its rule asks. NotCopied
// is why it does not, as the detail of FirstCall: the tool continues a session in place.
const (
	StartedFrom Code = "started_from"
	NotCopied   Code = "not_copied"
)

// Why a run failed, as the detail of PreviousFailed. With each but Unexplained the source of a copy is continued again.
const (
	RateLimited   Code = "rate_limited"
	LoginRefused  Code = "login_refused"
	ServiceFailed Code = "service_failed" // the provider is overloaded or fails
	Unreachable   Code = "unreachable"    // the provider
	Interrupted   Code = "interrupted"    // a signal told it to end, or its caller hung up
	Unexplained   Code = "unexplained"    // its cause may lie in the session
)

// How a prompt relates to what the session was sent; each is also the reason of the decision it
// leads to.
const (
	Identical Code = "identical"
	Extends   Code = "extends"
	Revises   Code = "revises"
	Unrelated Code = "unrelated"
)

// Reasons why a session is dead.
const (
	RefusedUnknown  Code = "refused_unknown_session"
	RefusedOtherID  Code = "refused_other_id"
	RefusedBusy     Code = "refused_busy"
	RefusedNoResume Code = "refused_no_resume"
	RefusedContext  Code = "refused_context_exceeded"
	RefusedBroken   Code = "refused_broken_transcript"
	RefusedSilent   Code = "refused_without_reason"
	NoAnswer        Code = "no_answer"  // it was sent only what is new, and the model did not answer
	Forgotten       Code = "forgotten"  // it accepted the session, but its first request did not have it
	LateStdin       Code = "late_stdin" // not a refusal: data came on stdin after the decision to resume
	Pruned          Code = "pruned"     // shimctl prune has removed its file
)

// TurnLimit is why a session stays usable although its last run failed.
const TurnLimit Code = "turn_limit"

// Reasons why a resumed call sends the whole prompt.
const (
	DeltaOff         Code = "delta_off"
	Compacted        Code = "compacted"          // the tool has shortened its history
	OtherTemplate    Code = "other_template"     // the session knows little of the prompt
	NothingNew       Code = "nothing_new"        // an identical prompt that is to be resumed
	ShortPrompt      Code = "short_prompt"       // under 2 KB
	SavesTooLittle   Code = "saves_too_little"   // less than a third
	NoCleanCut       Code = "no_clean_cut"       // new and known text cannot be separated
	SentAgain        Code = "sent_again"         // the known text has something that the tool acts on each time
	LooksLikeCommand Code = "looks_like_command" // the tool would take the part for a command
)
