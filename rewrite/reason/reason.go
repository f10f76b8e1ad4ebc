// Package reason lists why a call was handled as it was: a code, a class, the meaning and a remedy.
//
// It decides nothing. Guards, shimctl why, completion and docs/reference/reasons.md are made from
// the table. The invariant: each code has exactly one row.
package reason

// A Code says in one word why a call was handled as it was. The ledger stores the words.
//
// As an error it is why a step was not taken.
type Code string

func (c Code) Error() string { return string(c) }

// Reasons why a call is not managed.
const (
	NotManaged      Code = "not_managed" // also --help, --version, a conversation without a message
	Interactive     Code = "interactive"
	AppServer       Code = "app_server"
	CallerSession   Code = "caller_session" // also a later turn of the conversation
	OptedOut        Code = "opted_out"
	Nested          Code = "nested"
	UnknownOption   Code = "unknown_option"
	UnmanagedOption Code = "unmanaged_option"
	BadUsage        Code = "bad_usage"
	SlashCommand    Code = "slash_command"
	MessageContent  Code = "message_content" // stream-json only
	StdinOpen       Code = "stdin_open"
	StdinTooBig     Code = "stdin_large"
	StdoutGone      Code = "stdout_gone"
	OpenPipe        Code = "open_pipe"
	Wrapper         Code = "wrapper"
	VerboseSetting  Code = "verbose_set"
	Unreadable      Code = "unreadable"
	SwitchedOff     Code = "switched_off"
	Disabled        Code = "disabled"
	NoResume        Code = "no_resume_support"
	AddedRefused    Code = "additions_refused"
	ConfigMistake   Code = "config_mistake"
	Fault           Code = "fault"
)

// How a prompt relates to the session's prompts; each is also the reason of the decision it leads
// to.
const (
	Identical Code = "identical"
	Extends   Code = "extends"
	Revises   Code = "revises"
	Unrelated Code = "unrelated"
)

// StartedFrom is the reason of a role's first call that begins as a copy of another role's session,
// as the rule asks.
const StartedFrom Code = "started_from"

// Reasons why a managed call is fresh.
const (
	FirstCall           Code = "first_call"
	NewJob              Code = "new_job"
	Updated             Code = "reprise_updated"
	ForcedFresh         Code = "forced_fresh"
	HookSetting         Code = "hook_set"
	Ambiguous           Code = "ambiguous"
	NoEvidence          Code = "no_evidence"
	NewRole             Code = "new_role"
	CleanStart          Code = "clean_start"
	UnnamedOff          Code = "unnamed_off"
	BaseTooSmall        Code = "base_too_small"
	BaseChanged         Code = "base_changed"
	HistoryEdited       Code = "history_edited"
	ModelChanged        Code = "model_changed"
	SettingsChanged     Code = "settings_changed"
	RuntimeChanged      Code = "runtime_changed"
	AuthChanged         Code = "auth_changed"
	InstructionsChanged Code = "instructions_changed"
	DirectoryReplaced   Code = "directory_replaced"
	BranchChanged       Code = "branch_changed"
	CommitGone          Code = "commit_gone"
	CommitUnknown       Code = "commit_unknown"
	WorkGone            Code = "work_gone"
	CheckoutDiffers     Code = "checkout_differs" // with a store only
	NoProgress          Code = "no_progress"
	JobChanged          Code = "job_changed"
	UserChanged         Code = "user_changed"
	PreviousFailed      Code = "previous_failed"
	PreviousKilled      Code = "previous_killed"
	Unread              Code = "unread"
	BackgroundLeft      Code = "background_left"
	SessionDead         Code = "session_dead"
	SessionGone         Code = "session_file_gone"
	CallersOwn          Code = "callers_own"
	SessionMoved        Code = "session_changed"
	Idle                Code = "idle"
	TooOld              Code = "max_age"
	ContextFull         Code = "context_full"
	ErrorLimit          Code = "error_limit"
	Leased              Code = "leased"
	Never               Code = "never"
	AttemptReset        Code = "attempt_reset"
	ContextReset        Code = "context_reset"
	Dearer              Code = "dearer"
	HeldOut             Code = "held_out"
	StoreUnavailable    Code = "store_unavailable"
)

// Why a resume was given up, and a session is dead.
const (
	RefusedUnknown  Code = "refused_unknown_session"
	RefusedOtherID  Code = "refused_other_id"
	RefusedBusy     Code = "refused_busy"
	RefusedNoResume Code = "refused_no_resume"
	RefusedContext  Code = "refused_context_exceeded"
	RefusedBroken   Code = "refused_broken_transcript"
	RefusedSilent   Code = "refused_without_reason"
	NoAnswer        Code = "no_answer"
	Forgotten       Code = "forgotten"
	LateStdin       Code = "late_stdin"
	ControlRequest  Code = "control_request"
	Pruned          Code = "pruned"
)

// The reasons for a run to fail, after which the source of a copy is continued unless it is
// Unexplained, and why a session is not copied.
const (
	TurnLimit     Code = "turn_limit" // the session stays usable
	RateLimited   Code = "rate_limited"
	LoginRefused  Code = "login_refused"
	ServiceFailed Code = "service_failed"
	Unreachable   Code = "unreachable"
	Interrupted   Code = "interrupted"
	Unexplained   Code = "unexplained"
	NotCopied     Code = "not_copied"
	NothingToFork Code = "nothing_to_fork"
	NoForkPoint   Code = "no_fork_point"
)

// Why a resumed call sends the whole prompt.
const (
	DeltaOff         Code = "delta_off"
	Compacted        Code = "compacted"
	OtherTemplate    Code = "other_template"
	NothingNew       Code = "nothing_new"
	ShortPrompt      Code = "short_prompt"
	SavesTooLittle   Code = "saves_too_little"
	NoCleanCut       Code = "no_clean_cut"
	SentAgain        Code = "sent_again"
	LooksLikeCommand Code = "looks_like_command"
)
