package reason

import (
	"cmp"
	"strings"
)

// A Class groups reasons for people: status and log show it.
type Class string

// The classes.
const (
	ClassContinues         Class = "continues"           // it continues a session
	ClassNothingBefore     Class = "nothing_before"      // there was nothing to continue
	ClassNotEnoughEvidence Class = "not_enough_evidence" // what the prompt shows does not suffice
	// the caller or the configuration wants it so
	ClassYourWish Class = "your_wish"
	ClassSettings Class = "settings" // what shapes a run is not as it was
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

// Classes are all classes.
var Classes = []Class{ClassContinues, ClassNothingBefore, ClassNotEnoughEvidence, ClassYourWish,
	ClassSettings, ClassCheckout, ClassAge,
	ClassSessionLost, ClassInUse, ClassCost, ClassToolsLimit, ClassOurLimit, ClassOurFault,
	ClassNotAJob}

// MissesNothing reports whether calls with the reason could not have been resumed by anyone: they
// are no jobs, or continue their sessions themselves.
func (c Code) MissesNothing() bool { return c.Class() == ClassNotAJob || c == CallerSession }

// NameTask names a job in one call, or in the line that starts a script of calls. It is never
// exported: the next job of the same shell would have the name too.
const NameTask = `REPRISE_TASK="<name of this job>" yourscript`

// An Explanation explains a reason. In the command {chain} stands for the number of the call's
// chain, {before} for that of the call that ended the session badly. Typed as it is, a command does
// what the advice says, which holds for the calls after it.
type Explanation struct {
	Code    Code
	Class   Class
	Meaning string
	Advice  string // what would change the decision; "" if nothing needs to
	Setting string // a line of the configuration file that does so, "" if none does
	// a command that does so, or shows the subject of the advice; "" if the setting does, or
	// nothing
	Command string
}

// Lookup returns the row of a reason, or of a code that says more on a run. ok is false if there is
// no such code.
func (c Code) Lookup() (row *Explanation, ok bool) {
	for _, list := range [][]Explanation{Table, Refusals, Failures, WholePrompts} {
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
var Table = []Explanation{
	{Code: Extends, Class: ClassContinues,
		Meaning: "the prompt repeats everything the session was sent, and adds something"},
	{Code: Revises, Class: ClassContinues,
		Meaning: "the prompt repeats most of what the session was sent"},
	{Code: Unrelated, Class: ClassContinues,
		Meaning: "the prompt is another template"},
	{Code: StartedFrom, Class: ClassContinues,
		Meaning: "the role's first call began as a copy of another role's session, as " +
			"start_from asks"},

	{Code: FirstCall, Class: ClassNothingBefore,
		Meaning: "the first call of its chain",
		Advice:  "The next call that continues it is resumed"},
	{Code: NewJob, Class: ClassNothingBefore,
		Meaning: "no earlier prompt in this directory begins like this one",
		Advice:  "The next call that continues it is resumed"},

	{Code: Identical, Class: ClassNotEnoughEvidence,
		Meaning: "the prompt was repeated",
		Advice: "If repeated prompts are rounds of one loop, a rule for that caller alone can " +
			"have identical = \"resume\""},
	{Code: BaseChanged, Class: ClassNotEnoughEvidence,
		Meaning: "the prompt does not repeat everything the session was sent",
		Advice: "Keep the earlier prompt and add to it. Where a rule captures the task from " +
			"each prompt, or from the environment of each job, " +
			"a prompt can replace a part if it also adds something"},
	{Code: HistoryEdited, Class: ClassNotEnoughEvidence,
		Meaning: "the prompt shows an answer, or a conversation, that is not the session's",
		Advice: "Show its answers unchanged. What a line such as \"The coder said:\" introduces " +
			"counts as one, unless that names another role " +
			"of the task"},
	{Code: BaseTooSmall, Class: ClassNotEnoughEvidence,
		Meaning: "the prompt is too short to distinguish the job from others",
		Advice:  "Name the task, for this job alone", Command: NameTask},
	{Code: Ambiguous, Class: ClassNotEnoughEvidence,
		Meaning: "more than one session fits",
		Advice: "Give each job a name of its own and each of its roles a role, and make the " +
			"calls one after the other. A reset ends the sessions " +
			"of a chain: the next call is fresh, later ones resume it", Command: NameTask},
	{Code: NoEvidence, Class: ClassNotEnoughEvidence,
		Meaning: "nothing shows that the prompt continues the session's own work",
		Advice: "Name the task for this job alone, and the role of each call; if a rule has " +
			"strict = true, leave that out, or have the prompt " +
			"show the session's answer", Command: NameTask},
	{Code: NewRole, Class: ClassNotEnoughEvidence,
		Meaning: "the prompt begins otherwise than other calls of its task, assigns a role, " +
			"asks for a judgement or refers to another agent's work",
		Advice: "If it continues earlier calls of its role, name the task for this job alone, " +
			"and each role apart", Command: NameTask},
	{Code: CleanStart, Class: ClassNotEnoughEvidence,
		Meaning: "the prompt asks for a clean start or for independent answers",
		Advice:  "If it is no new start, leave the words out that ask for one"},

	{Code: UnnamedOff, Class: ClassYourWish,
		Meaning: "unnamed = \"off\": calls without a name are not resumed",
		Advice:  "Name the task, for this job alone", Setting: `unnamed = "evidence"`,
		Command: NameTask},
	{Code: Never, Class: ClassYourWish,
		Meaning: "a rule keeps such calls fresh",
		Advice:  "Leave never = true out of the rule. If it is a preset, name it in presets_off"},
	{Code: ForcedFresh, Class: ClassYourWish,
		Meaning: "the caller asked for a fresh session",
		Advice:  "Leave REPRISE_FRESH=1 out", Command: "unset REPRISE_FRESH"},
	{Code: ContextReset, Class: ClassYourWish,
		Meaning: "a prompt, an answer or shimctl reset ended the session"},
	{Code: AttemptReset, Class: ClassYourWish,
		Meaning: "the caller restarted its count of attempts",
		Advice:  "Let the number of the attempt rise within a job"},
	{Code: HeldOut, Class: ClassYourWish,
		Meaning: "rollout keeps this chain fresh, for comparison",
		Advice:  "Resume all chains", Setting: "rollout = 1"},
	{Code: SwitchedOff, Class: ClassYourWish,
		Meaning: "REPRISE_OFF is set",
		Advice:  "Leave REPRISE_OFF=1 out", Command: "unset REPRISE_OFF"},
	{Code: Disabled, Class: ClassYourWish,
		Meaning: "the configuration switched resuming off",
		Advice:  "Leave enabled = false out", Setting: "enabled = true"},
	{Code: CallerSession, Class: ClassYourWish,
		Meaning: "the caller chose a session itself, or goes on with its own in the same process"},
	{Code: OptedOut, Class: ClassYourWish,
		Meaning: "the caller wants no session kept",
		Advice: "Leave --no-session-persistence or --ephemeral out if the calls continue each " +
			"other"},
	{Code: ConfigMistake, Class: ClassYourWish,
		Meaning: "the configuration file cannot be used",
		Advice:  "Mend it: shimctl doctor names each mistake in it", Command: "shimctl doctor"},

	{Code: HookSetting, Class: ClassSettings,
		Meaning: "a hook runs when a session starts, and a resume would not run it, or might not",
		Advice: "Have the hook run for all starts: leave its matcher out, or take the plugin " +
			"out if it need not run"},
	{Code: ModelChanged, Class: ClassSettings,
		Meaning: "another model was requested",
		Advice:  "Ask for one model in all calls of a job"},
	{Code: UserChanged, Class: ClassSettings,
		Meaning: "another user makes the call",
		Advice:  "Make all calls of a job as one user"},
	{Code: SettingsChanged, Class: ClassSettings,
		Meaning: "settings changed: system prompt, tools, permissions, MCP servers, variables",
		Advice:  "Make all calls of a job with the same options, variables and settings files"},
	{Code: InstructionsChanged, Class: ClassSettings,
		Meaning: "an instruction file, or a file that it imports, changed: CLAUDE.md, " +
			"AGENTS.md, GEMINI.md",
		Advice: "Change instruction files between jobs, not within one"},
	{Code: JobChanged, Class: ClassSettings,
		Meaning: "unnamed, and variables name another CI job, run or tenant",
		Advice:  "Name the task, for this job alone: then these variables do not count",
		Command: NameTask},
	{Code: RuntimeChanged, Class: ClassSettings,
		Meaning: "the tool's binary changed"},
	{Code: AuthChanged, Class: ClassSettings,
		Meaning: "the account changed, or how it is reached: credentials, cloud project, " +
			"region, proxy",
		Advice: "Use one account, and reach it in one way, in all calls of a job"},

	{Code: DirectoryReplaced, Class: ClassCheckout,
		Meaning: "the directory or its repository is another one under the same name",
		Advice:  "Keep the directory and its repository while a job lasts"},
	{Code: BranchChanged, Class: ClassCheckout,
		Meaning: "another branch is checked out",
		Advice:  "Make all calls of a job on one branch"},
	{Code: CommitGone, Class: ClassCheckout,
		Meaning: "the commit that the session's last run left is no longer part of the branch",
		Advice:  "Amend, rebase and reset between jobs, not within one"},
	{Code: CommitUnknown, Class: ClassCheckout,
		Meaning: "git did not say in half a second whether the commit that the session's last " +
			"run left is still part of the branch",
		Advice: "See that git is on PATH and answers quickly, also under `git merge-base " +
			"--is-ancestor`"},
	{Code: WorkGone, Class: ClassCheckout,
		Meaning: "files that the session changed were thrown away, by git reset, checkout, " +
			"stash or clean or by removing them",
		Advice: "Commit or keep the work of a job while it lasts; commit it before you put the " +
			"files back"},
	{Code: CheckoutDiffers, Class: ClassCheckout,
		Meaning: "the checkout and its last 50 commits lack what the session's last run, on " +
			"another machine, left in its directory",
		Advice: "Commit what a run leaves, and check that commit out for the next one, with " +
			"the commits before it"},

	{Code: Idle, Class: ClassAge,
		Meaning: "the session was idle for longer than ttl",
		Advice:  "Make the next call sooner, or raise ttl", Setting: `ttl = "2h"`},
	{Code: TooOld, Class: ClassAge,
		Meaning: "the session, or the source that it was copied from, was started longer ago " +
			"than max_age",
		Advice: "Raise max_age", Setting: `max_age = "48h"`},
	{Code: ErrorLimit, Class: ClassAge,
		Meaning: "three runs from this session failed"},
	{Code: ContextFull, Class: ClassAge,
		Meaning: "the session has used more of the context than context_limit",
		Advice:  "Raise context_limit, or let jobs end sooner", Setting: "context_limit = 0.9"},

	{Code: Updated, Class: ClassSessionLost,
		Meaning: "reprise was updated: what it compares has changed since the sessions here " +
			"were recorded"},
	{Code: PreviousFailed, Class: ClassSessionLost,
		Meaning: "the session's last run failed, or ended without model output",
		Advice:  "A run that ends well is resumed. The failed call shows what is known of its end",
		Command: "shimctl show {before}"},
	{Code: PreviousKilled, Class: ClassSessionLost,
		Meaning: "a signal ended the session's last run, or its end was not recorded",
		Advice: "Give runs enough time to end by themselves, and do not kill the shim: it " +
			"records how a run ends"},
	{Code: BackgroundLeft, Class: ClassSessionLost,
		Meaning: "the session's last run left a command in the background, of whose end a " +
			"resume would tell the model",
		Advice: "Have the model stop what it starts in the background, or wait for it"},
	{Code: SessionDead, Class: ClassSessionLost,
		Meaning: "the session cannot be resumed any more"},
	{Code: SessionGone, Class: ClassSessionLost,
		Meaning: "the tool no longer has the session",
		Advice:  "Keep the tool's sessions for longer than a job lasts"},
	{Code: CallersOwn, Class: ClassSessionLost,
		Meaning: "the caller resumed the session by its ID, and has owned it since",
		Advice:  "Leave resuming to reprise, or name other sessions than its own"},
	{Code: SessionMoved, Class: ClassSessionLost,
		Meaning: "another process has written to the session",
		Advice:  "Do not continue the session by hand while the job lasts"},

	{Code: Leased, Class: ClassInUse,
		Meaning: "another process was using the session",
		Advice:  "Let the calls wait for each other", Setting: `busy = "wait"`},

	{Code: NoProgress, Class: ClassCost,
		Meaning: "the session's runs change files, but its last two rounds were given the same " +
			"as this call, and git sees no change",
		Advice: "Say what was wrong with the last answer, or let the new session try"},
	{Code: Dearer, Class: ClassCost,
		Meaning: "the chain's last two resumes cost more than its last fresh run, or missed the " +
			"cache as those of another chain did",
		Advice: "Resume whatever it costs", Setting: `dearer = "resume"`},

	{Code: NoResume, Class: ClassToolsLimit,
		Meaning: "this version of the tool cannot resume a session",
		Advice:  "Update the tool"},
	{Code: AddedRefused, Class: ClassToolsLimit,
		Meaning: "this version of the tool fails with the options that the shim adds",
		Advice:  "Use a version that shimctl doctor says was tried, or update reprise"},

	{Code: UnknownOption, Class: ClassOurLimit,
		Meaning: "an option that neither reprise nor the tool's --help knows",
		Advice:  "Leave the option out, or update reprise"},
	{Code: UnmanagedOption, Class: ClassOurLimit,
		Meaning: "an option that makes the call something else",
		Advice:  "Leave the option out"},
	{Code: MessageContent, Class: ClassOurLimit,
		Meaning: "a conversation begins with a request such as set_model, or with a message " +
			"that is no plain text",
		Advice: "Begin with a message of plain text, and set model and permissions by options"},
	{Code: StdinOpen, Class: ClassOurLimit,
		Meaning: "stdin is open and silent: the prompt is not known",
		Advice:  "Add </dev/null"},
	{Code: StdinTooBig, Class: ClassOurLimit,
		Meaning: "stdin exceeds the limit: 16 MB, or 32,768 blocks of a prompt",
		Advice:  "Put the data into a file, and name it in the prompt"},
	{Code: StdoutGone, Class: ClassOurLimit,
		Meaning: "stdout is closed, or its reader is gone",
		Advice:  "Have the caller read the output"},
	{Code: OpenPipe, Class: ClassOurLimit,
		Meaning: "the tool is told of a pipe besides stdin, and a second run after a refused " +
			"resume would find it empty",
		Advice: "Close the descriptor for the call, as in claude -p ... 3<&-, if the tool does " +
			"not need it; pass a key in a variable or a file"},
	{Code: Wrapper, Class: ClassOurLimit,
		Meaning: "the program behind the shim is a script that minds the number or places of " +
			"its arguments, or can run the tool several times",
		Advice: "Have the script look for options anywhere and exec the tool, or put it before " +
			"the shims and have it run the tool " +
			"by its name"},
	{Code: VerboseSetting, Class: ClassOurLimit,
		Meaning: "a settings file can change the output format",
		Advice: "Name the output format in the call, or take the setting out of the tool's " +
			"settings"},
	{Code: Unreadable, Class: ClassOurLimit,
		Meaning: "a settings file is a pipe, a device or too large, so only the tool can read it",
		Advice:  "Name a regular file instead of <(...) or a pipe; make a large one smaller"},

	{Code: Unread, Class: ClassOurLimit,
		Meaning: "this version's output is new: the shim could not read how the session's last " +
			"run ended",
		Advice: "Use a version that shimctl doctor says was tried, or update reprise"},

	{Code: StoreUnavailable, Class: ClassOurFault,
		Meaning: "the store that machines share could not be used: it did not answer, other " +
			"machines kept changing the job, or its part was damaged",
		Advice:  "shimctl doctor says how the store failed, and reprise-store check tries it",
		Command: "shimctl doctor"},
	{Code: Fault, Class: ClassOurFault,
		Meaning: "something in reprise failed; the log says what",
		Advice:  "shim.log beside the ledger has the cause"},

	{Code: NotManaged, Class: ClassNotAJob,
		Meaning: "a tool or a subcommand that is not managed, or a call that asks no model"},
	{Code: Interactive, Class: ClassNotAJob,
		Meaning: "the call is interactive",
		Advice:  "A headless call is managed"},
	{Code: AppServer, Class: ClassNotAJob,
		Meaning: "an app server (codex app-server, ACP): its client creates and resumes the " +
			"sessions itself",
		Advice: "The server has no prompt of its own to compare: have its client resume " +
			"sessions by their IDs"},
	{Code: Nested, Class: ClassNotAJob,
		Meaning: "the tool was called from inside a run",
		Advice: "The call belongs to the run that made it. Started from a shell of its own, a " +
			"loop is resumed"},
	{Code: BadUsage, Class: ClassNotAJob,
		Meaning: "the tool will reject this command line",
		Advice:  "Correct the command line: the tool says on stderr what is wrong"},
	{Code: SlashCommand, Class: ClassNotAJob,
		Meaning: "the prompt is a slash command"},
}

// Refusals say why a resume was given up, and why a session is dead.
var Refusals = []Explanation{
	{Code: RefusedUnknown, Class: ClassSessionLost,
		Meaning: "the tool did not know the session",
		Advice:  "Keep the tool's sessions for longer than a job lasts"},
	{Code: RefusedOtherID, Class: ClassSessionLost,
		Meaning: "the tool answered under another ID, or in the session itself instead of a copy"},
	{Code: RefusedBusy, Class: ClassInUse,
		Meaning: "the tool found the session in use",
		Advice:  "Make the calls one after the other"},
	{Code: RefusedNoResume, Class: ClassToolsLimit,
		Meaning: "the tool does not resume",
		Advice:  "Update the tool"},
	{Code: RefusedContext, Class: ClassAge,
		Meaning: "the session's context was exceeded",
		Advice:  "Lower context_limit: then a session is left before its context is exceeded"},
	{Code: RefusedBroken, Class: ClassSessionLost,
		Meaning: "the session's transcript could not be read or copied"},
	{Code: RefusedSilent, Class: ClassSessionLost,
		Meaning: "the tool refused the session without a reason",
		Advice: "The tool says more if it is asked to resume the session by hand: the chain " +
			"has its ID", Command: "shimctl show c{chain}"},
	{Code: NoAnswer, Class: ClassSessionLost,
		Meaning: "the run ended without an answer, as a hook on prompts can make it",
		Advice:  "Let hooks on prompts pass a prompt that continues a session"},
	{Code: Forgotten, Class: ClassToolsLimit,
		Meaning: "the tool accepted the session, but its first request was too short to hold it",
		Advice:  "Use a version that shimctl doctor says was tried"},
	{Code: LateStdin, Class: ClassSessionLost,
		Meaning: "more of the prompt came on stdin after the tool was started",
		Advice:  "Send the whole prompt at once, and close stdin"},
	{Code: ControlRequest, Class: ClassSessionLost,
		Meaning: "the caller changed the session by a request, such as set_model"},
	{Code: Pruned, Class: ClassSessionLost,
		Meaning: "shimctl prune has removed the session",
		Advice: "Prune later: prune.keep_within counts unless shimctl prune was given " +
			"--keep-within, which replaces it",
		Setting: `prune.keep_within = "30d"`},
}

// Failures say what made a run fail, or kept a session from being copied.
var Failures = []Explanation{
	{Code: TurnLimit, Meaning: "the session's last run reached its limit of turns; a named " +
		"call, or a prompt that asks to go on, resumes it"},
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
var WholePrompts = []Explanation{
	{Code: DeltaOff, Meaning: "the configuration requires the whole prompt"},
	{Code: Compacted, Meaning: "the tool has shortened the session's history"},
	{Code: OtherTemplate, Meaning: "the session knows little of the prompt"},
	{Code: NothingNew, Meaning: "the prompt is identical, and the configuration resumes it"},
	{Code: ShortPrompt, Meaning: "the prompt is short: under 2048 bytes"},
	{Code: SavesTooLittle, Meaning: "a delta would save less than a third"},
	{Code: NoCleanCut, Meaning: "the new part cannot be separated from the known part"},
	{Code: SentAgain, Meaning: "a rule or the tool requires a part that the session has to be " +
		"sent in each turn"},
	{Code: LooksLikeCommand, Meaning: "the tool would take the new part for a command"},
}
