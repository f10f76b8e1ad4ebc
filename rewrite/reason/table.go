package reason

import (
	"cmp"
	"slices"
	"strings"
)

// A Class groups reasons for people: status and log show it.
type Class string

// The classes.
const (
	ClassContinues         Class = "continues"           // it continues a session
	ClassNothingBefore     Class = "nothing_before"      // there was nothing to continue
	ClassNotEnoughEvidence Class = "not_enough_evidence" // the prompt shows too little
	// the caller or the configuration wants it so
	ClassYourWish Class = "your_wish"
	ClassSettings Class = "settings" // a setting or file that shapes a run has changed
	// the directory is not as the session left it
	ClassCheckout    Class = "checkout"
	ClassAge         Class = "age"          // the session is too old or too full
	ClassSessionLost Class = "session_lost" // the session is gone or cannot be trusted
	ClassInUse       Class = "in_use"       // another call uses it
	ClassCost        Class = "cost"         // it would not pay
	ClassToolsLimit  Class = "tool_limit"   // the tool cannot do it
	ClassOurLimit    Class = "our_limit"    // the shim cannot read such a call
	// something in reprise, or in the store, failed
	ClassOurFault Class = "our_fault"
	ClassNotAJob  Class = "not_a_job" // the call is no headless job
)

// MissesNothing reports whether calls with the reason could not have been resumed by anyone: they
// are no jobs, or continue their sessions themselves.
func (c Code) MissesNothing() bool { return c.Class() == ClassNotAJob || c == CallerSession }

// NameTask names a job in one call, or in the line that starts a script of calls. It is never
// exported: the next job of the same shell would have the name too.
const NameTask = `REPRISE_TASK="<name of this job>" yourscript`

// A Row explains a reason. In the command {chain} stands for the number of the call's
// chain, {before} for the number of the call that ended the session badly. Typed as it is, a
// command follows the advice, which holds for the calls after it.
type Row struct {
	Code    Code
	Class   Class
	Meaning string
	Advice  string // a way to another decision; "" if none is needed
	Setting string // a line of the configuration file that does so, "" if none does
	// a command that does so, or shows the subject of the advice; "" if the setting does, or
	// nothing
	Command string
}

// Lookup returns the row of a reason, or of a code that says more on a run. ok is false if there is
// no such code.
func (c Code) Lookup() (row *Row, ok bool) {
	for _, list := range [][]Row{Table, Refusals, Failures, WholePrompts} {
		for i := range list {
			if list[i].Code == c {
				return &list[i], true
			}
		}
	}
	return nil, false
}

// Class returns the class of a reason. A refused resume has lost the session.
func (c Code) Class() Class {
	if row, known := c.Lookup(); known {
		return row.Class
	}
	return ""
}

// Words are the class in a sentence.
func (c Class) Words() string { return strings.ReplaceAll(cmp.Or(string(c), "other"), "_", " ") }

// Table has the reasons of decisions, each once, in the order of the classes.
var Table = slices.Concat(
	of(ClassContinues, []Row{
		{Code: Extends, Meaning: "the prompt repeats the session's prompts, and adds to them"},
		{Code: Revises, Meaning: "the prompt repeats most of the session's prompts"},
		{Code: Unrelated, Meaning: "the prompt is another template"},
		{Code: StartedFrom,
			Meaning: "start_from began the role in a copy of another role's session"},
	}),
	of(ClassNothingBefore, []Row{
		{Code: FirstCall, Meaning: "the first call of its chain",
			Advice: "The next call that continues it is resumed"},
		{Code: NewJob, Meaning: "no earlier prompt in this directory begins like this one",
			Advice: "The next call that continues it is resumed"},
	}),
	of(ClassNotEnoughEvidence, []Row{
		{Code: Identical, Meaning: "the prompt was repeated",
			Advice: "A rule for this caller alone can resume repeats: identical = \"resume\""},
		{Code: BaseChanged, Meaning: "the prompt does not repeat all of the session's prompts",
			Advice: "Keep the old prompt, or capture the task by a rule, not REPRISE_TASK"},
		{Code: HistoryEdited, Meaning: "the prompt shows an answer that is not the session's",
			Advice: "Show its answers unchanged; text after \"The coder said:\" counts as an " +
				"answer"},
		{Code: BaseTooSmall, Meaning: "the prompt is too short to tell the job from others",
			Advice: "Name the task, for this job alone", Command: NameTask},
		{Code: Ambiguous, Meaning: "more than one session fits",
			Advice: "Name job and role; call one by one", Command: NameTask},
		{Code: NoEvidence, Meaning: "nothing shows that the prompt continues the session's work",
			Advice: "Name the task, for this job alone", Command: NameTask},
		{Code: NewRole, Meaning: "the prompt begins or reads like one of another role",
			Advice: "If it is no new role, name the job", Command: NameTask},
		{Code: CleanStart, Meaning: "the prompt asks for a clean start or independent answers",
			Advice: "If it is no new start, leave the words out that ask for one"},
	}),
	of(ClassYourWish, []Row{
		{Code: UnnamedOff, Meaning: "unnamed = \"off\": calls without a name are not resumed",
			Advice: "Name the task, for this job alone", Setting: `unnamed = "evidence"`,
			Command: NameTask},
		{Code: Never, Meaning: "a rule keeps such calls fresh",
			Advice: "Leave never = true out of the rule. If it is a preset, name it in " +
				"presets_off"},
		{Code: ForcedFresh, Meaning: "the caller asked for a fresh session",
			Advice: "Leave REPRISE_FRESH=1 out", Command: "unset REPRISE_FRESH"},
		{Code: ContextReset, Meaning: "a prompt, an answer or shimctl reset ended the session"},
		{Code: AttemptReset, Meaning: "the caller restarted its count of attempts",
			Advice: "Let the number of the attempt rise within a job"},
		{Code: HeldOut, Meaning: "rollout keeps this chain fresh, for comparison",
			Advice: "Resume all chains", Setting: "rollout = 1"},
		{Code: SwitchedOff, Meaning: "REPRISE_OFF is set", Advice: "Leave REPRISE_OFF=1 out",
			Command: "unset REPRISE_OFF"},
		{Code: Disabled, Meaning: "the configuration switched resuming off",
			Advice: "Leave enabled = false out", Setting: "enabled = true"},
		{Code: CallerSession, Meaning: "the caller chose a session, or keeps one process open"},
		{Code: OptedOut, Meaning: "the caller wants no session kept",
			Advice: "If calls continue each other, drop --no-session-persistence and --ephemeral"},
		{Code: ConfigMistake, Meaning: "the configuration file cannot be used",
			Advice: "Mend it: shimctl doctor names each mistake in it", Command: "shimctl doctor"},
	}),
	of(ClassSettings, []Row{
		{Code: HookSetting, Meaning: "a hook runs at a session's start: a resume might not run it",
			Advice: "Leave the hook's matcher out, so that it runs at all starts, or drop the " +
				"plugin"},
		{Code: ModelChanged, Meaning: "another model was requested",
			Advice: "Ask for one model in all calls of a job"},
		{Code: UserChanged, Meaning: "another user makes the call",
			Advice: "Make all calls of a job as one user"},
		{Code: SettingsChanged, Meaning: "system prompt, tools, permissions or variables changed",
			Advice: "Make all calls of a job with the same options, variables and settings files"},
		{Code: InstructionsChanged, Meaning: "an instruction file or an import of it changed",
			Advice: "Change instruction files between jobs, not within one"},
		{Code: JobChanged, Meaning: "unnamed, and variables name another CI job, run or tenant",
			Advice: "Name the task to ignore them", Command: NameTask},
		{Code: RuntimeChanged, Meaning: "the tool's binary changed"},
		{Code: AuthChanged, Meaning: "another account, or way to it: key, project, region, proxy",
			Advice: "Use one account, and reach it in one way, in all calls of a job"},
	}),
	of(ClassCheckout, []Row{
		{Code: DirectoryReplaced, Meaning: "another directory or repository stands in its place",
			Advice: "Keep the directory and its repository while a job lasts"},
		{Code: BranchChanged, Meaning: "another branch is checked out",
			Advice: "Make all calls of a job on one branch"},
		{Code: CommitGone, Meaning: "the branch lost the commit of the session's last run",
			Advice: "Amend, rebase and reset between jobs, not within one"},
		{Code: CommitUnknown, Meaning: "in 0.5 s git did not confirm the commit of the last run",
			Advice: "See that git is on PATH, and that `git merge-base --is-ancestor` is quick"},
		{Code: WorkGone, Meaning: "the session's edits were thrown away, as by git reset or rm",
			Advice: "Keep a job's work, or commit it before you put the files back"},
		{Code: CheckoutDiffers, Meaning: "another machine's last run left work that is not here",
			Advice: "Commit the work of each run, and check it out, with its history, for the " +
				"next"},
	}),
	of(ClassAge, []Row{
		{Code: Idle, Meaning: "the session was idle for longer than ttl",
			Advice: "Make the next call sooner, or raise ttl", Setting: `ttl = "2h"`},
		{Code: TooOld, Meaning: "the session or its source was started longer ago than max_age",
			Advice: "Raise max_age", Setting: `max_age = "48h"`},
		{Code: ErrorLimit, Meaning: "three runs from this session failed"},
		{Code: ContextFull, Meaning: "the session uses more context than context_limit",
			Advice: "Raise context_limit, or end jobs sooner", Setting: "context_limit = 0.9"},
	}),
	of(ClassSessionLost, []Row{
		{Code: Updated, Meaning: "an update of reprise changed the compared fingerprints"},
		{Code: PreviousFailed, Meaning: "the session's last run failed or had no model output",
			Advice:  "A run that ends well is resumed; see how this one ended",
			Command: "shimctl show {before}"},
		{Code: PreviousKilled, Meaning: "the last run was killed, or left no record of its end",
			Advice: "Let runs end by themselves, and do not kill the shim, which records the end"},
		{Code: BackgroundLeft, Meaning: "the last run left a command in the background",
			Advice: "Have the model wait for its background commands, or stop them"},
		{Code: SessionDead, Meaning: "the session cannot be resumed any more"},
		{Code: SessionGone, Meaning: "the tool no longer has the session",
			Advice: "Keep the tool's sessions for longer than a job lasts"},
		{Code: CallersOwn, Meaning: "the caller resumed the session by its ID, and owns it now",
			Advice: "Leave resuming to reprise, or name other sessions than its own"},
		{Code: SessionMoved, Meaning: "another process has written to the session",
			Advice: "Do not continue the session by hand while the job lasts"},
	}),
	of(ClassInUse, []Row{
		{Code: Leased, Meaning: "another process was using the session",
			Advice: "Let the calls wait for each other", Setting: `busy = "wait"`},
	}),
	of(ClassCost, []Row{
		{Code: NoProgress, Meaning: "two rounds got the same prompt, and changed no file",
			Advice: "Say what was wrong with the last answer, or let the new session try"},
		{Code: Dearer, Meaning: "two resumes cost more than a fresh run, or missed the cache",
			Advice: "Resume whatever it costs", Setting: `dearer = "resume"`},
	}),
	of(ClassToolsLimit, []Row{
		{Code: NoResume, Meaning: "this version of the tool cannot resume a session",
			Advice: "Update the tool"},
		{Code: AddedRefused, Meaning: "this version fails with options that the shim adds",
			Advice: "Use a version that shimctl doctor says was tried, or update reprise"},
	}),
	of(ClassOurLimit, []Row{
		{Code: UnknownOption, Meaning: "neither reprise nor the tool's --help knows an option",
			Advice: "Leave the option out, or update reprise"},
		{Code: UnmanagedOption, Meaning: "an option that makes the call something else",
			Advice: "Leave the option out"},
		{Code: MessageContent, Meaning: "the input is a file, a request, or not plain text",
			Advice: "Pipe a message of plain text first, and set model and permissions by options"},
		{Code: StdinOpen, Meaning: "stdin is open and silent: the prompt is not known",
			Advice: "Add </dev/null"},
		{Code: StdinTooBig, Meaning: "stdin exceeds 16 MB, or 32,768 blocks of a prompt",
			Advice: "Put the data into a file, and name it in the prompt"},
		{Code: StdoutGone, Meaning: "stdout is closed, or its reader is gone",
			Advice: "Have the caller read the output"},
		{Code: OpenPipe, Meaning: "a pipe besides stdin would be empty if the call ran again",
			Advice: "Close the descriptor if it is not needed (3<&-), or use a variable or file"},
		{Code: Wrapper, Meaning: "a script behind the shim counts arguments, or repeats calls",
			Advice: "Have it accept options anywhere and exec the tool, or put it before the " +
				"shims"},
		{Code: VerboseSetting, Meaning: "a settings file can change the output format",
			Advice: "Name the output format in the call, or take it out of the tool's settings"},
		{Code: Unreadable, Meaning: "a settings file is a pipe, a device or too large",
			Advice: "Name a regular file instead of <(...) or a pipe; make a large one smaller"},
		{Code: Unread, Meaning: "this version's output is new, so the last run's end is unknown",
			Advice: "Use a version that shimctl doctor says was tried, or update reprise"},
	}),
	of(ClassOurFault, []Row{
		{Code: StoreUnavailable, Meaning: "the shared store was silent, busy or damaged",
			Advice:  "Try the store with reprise-store check; see the failure",
			Command: "shimctl doctor"},
		{Code: Fault, Meaning: "something in reprise failed",
			Advice: "shim.log beside the ledger has the cause"},
	}),
	of(ClassNotAJob, []Row{
		{Code: NotManaged, Meaning: "the tool or subcommand is not managed, or asks no model"},
		{Code: Interactive, Meaning: "the call is interactive",
			Advice: "A headless call is managed"},
		{Code: AppServer, Meaning: "clients of app servers (codex, ACP) resume by themselves",
			Advice: "Have the client resume its sessions by their IDs"},
		{Code: Nested, Meaning: "the tool was called from inside a run",
			Advice: "Start the loop from a shell of its own: a call inside a run belongs to it"},
		{Code: BadUsage, Meaning: "the tool will reject this command line",
			Advice: "Correct the command line: the tool says on stderr what is wrong"},
		{Code: SlashCommand, Meaning: "the prompt is a slash command"},
	}),
)

// of returns rows that are of a class unless they name another.
func of(class Class, rows []Row) []Row {
	for i := range rows {
		rows[i].Class = cmp.Or(rows[i].Class, class)
	}
	return rows
}

// Refusals say why a resume was given up, and why a session is dead.
var Refusals = of(ClassSessionLost, []Row{
	{Code: RefusedUnknown, Meaning: "the tool did not know the session",
		Advice: "Keep the tool's sessions for longer than a job lasts"},
	{Code: RefusedOtherID, Meaning: "the tool answered under another ID, or not in a copy"},
	{Code: RefusedBusy, Class: ClassInUse, Meaning: "the tool found the session in use",
		Advice: "Make the calls one after the other"},
	{Code: RefusedNoResume, Class: ClassToolsLimit, Meaning: "the tool does not resume",
		Advice: "Update the tool"},
	{Code: RefusedContext, Class: ClassAge, Meaning: "the session's context was exceeded",
		Advice: "Lower context_limit: then a session is left before its context is exceeded"},
	{Code: RefusedBroken, Meaning: "the transcript could not be read or copied"},
	{Code: RefusedSilent, Meaning: "the tool refused the session without a reason",
		Advice:  "Resume it by hand to see why; the chain has its ID",
		Command: "shimctl show c{chain}"},
	{Code: NoAnswer, Meaning: "the run ended without an answer, as a prompt hook can make it",
		Advice: "Let hooks on prompts pass a prompt that continues a session"},
	{Code: Forgotten, Class: ClassToolsLimit,
		Meaning: "the tool accepted the session, but did not send it",
		Advice:  "Use a version that shimctl doctor says was tried"},
	{Code: LateStdin, Meaning: "more of the prompt came on stdin after the tool was started",
		Advice: "Send the whole prompt at once, and close stdin"},
	{Code: ControlRequest, Meaning: "a request such as set_model changed the session"},
	{Code: Pruned, Meaning: "shimctl prune has removed the session",
		Advice: "Keep sessions longer", Setting: `prune.keep_within = "30d"`},
})

// Failures are the reasons for a run to fail, or for a session not to be copied.
var Failures = []Row{
	{Code: TurnLimit, Meaning: "the last run reached the limit of turns; a named call resumes it"},
	{Code: RateLimited, Meaning: "a limit of the account ended it"},
	{Code: LoginRefused, Meaning: "the provider did not accept the credentials"},
	{Code: ServiceFailed, Meaning: "the provider was overloaded or failed"},
	{Code: Unreachable, Meaning: "the provider could not be reached"},
	{Code: Interrupted, Meaning: "a signal or the caller ended it"},
	{Code: Unexplained, Meaning: "the cause can lie in the session that it copied"},
	{Code: NotCopied, Meaning: "start_from needs a tool that continues a session in a copy"},
	{Code: NothingToFork, Meaning: "no run of the session has ended yet"},
	{Code: NoForkPoint, Meaning: "no message was found where the session's last run ended"},
}

// WholePrompts say why a resumed call sends the whole prompt.
var WholePrompts = []Row{
	{Code: DeltaOff, Meaning: "the configuration requires the whole prompt"},
	{Code: Compacted, Meaning: "the tool has shortened the session's history"},
	{Code: OtherTemplate, Meaning: "the session knows little of the prompt"},
	{Code: NothingNew, Meaning: "the prompt is identical, and the configuration resumes it"},
	{Code: ShortPrompt, Meaning: "the prompt is short: under 2048 bytes"},
	{Code: SavesTooLittle, Meaning: "a delta would save less than a third"},
	{Code: NoCleanCut, Meaning: "the new part cannot be separated from the known part"},
	{Code: SentAgain, Meaning: "a rule or the tool requires a known part in each turn"},
	{Code: LooksLikeCommand, Meaning: "the tool would take the new part for a command"},
}
