package reason

// A Class groups reasons for people.
type Class string

// The classes.
const (
	ClassContinues         Class = "continues"           // it continues a session
	ClassNothingBefore     Class = "nothing_before"      // there was nothing to continue
	ClassNotEnoughEvidence Class = "not_enough_evidence" // what the prompt shows does not suffice
	ClassYourWish          Class = "your_wish"           // the caller or the configuration wants it so
	ClassSettings          Class = "settings"            // what shapes a run is not as it was
	ClassCheckout          Class = "checkout"            // the directory is not as the session left it
	ClassAge               Class = "age"                 // the session is too old or too full
	ClassSessionLost       Class = "session_lost"        // the session is gone or cannot be trusted
	ClassInUse             Class = "in_use"              // another call uses it
	ClassCost              Class = "cost"                // it would not pay
	ClassToolsLimit        Class = "tool_limit"          // the tool cannot do it
	ClassOurLimit          Class = "our_limit"           // the shim cannot read such a call
	ClassOurFault          Class = "our_fault"           // something in reprise, or in its store, failed
	ClassNotAJob           Class = "not_a_job"           // the call is no headless job
)

// Classes are all classes.
var Classes = []Class{ClassContinues, ClassNothingBefore, ClassNotEnoughEvidence, ClassYourWish, ClassSettings, ClassCheckout, ClassAge, ClassSessionLost, ClassInUse, ClassCost, ClassToolsLimit, ClassOurLimit, ClassOurFault, ClassNotAJob}

// MissesNothing reports whether calls with the reason could not have been resumed by anyone: they are no jobs, or continue
// their sessions themselves.
func (c Code) MissesNothing() bool {
	row, known := c.Lookup()
	return known && row.Class == ClassNotAJob || c == CallerSession || c == NextTurn
}

// A Group is what reasons are reasons of. docs/reference/reasons.md has a table of each.
type Group string

// The groups.
const (
	GroupRelations    Group = "relation"     // how a prompt relates to the session's
	GroupNameMissing  Group = "unnamed"      // why a call without a name is fresh
	GroupWishes       Group = "asked_for"    // why a call is fresh because that was asked for
	GroupGuards       Group = "guard"        // why a call that continues its chain is fresh all the same, in the order in which they are checked
	GroupDetails      Group = "detail"       // details of other reasons
	GroupRefusals     Group = "refusal"      // why a resume was given up
	GroupWholePrompts Group = "whole_prompt" // why a resumed call sends the whole prompt
	GroupUnmanaged    Group = "not_managed"  // why a call is not managed
)

// NameTask names a job in one call, or in the line that starts a script of calls. It is never exported: the next job of the same
// shell would have the name too.
const NameTask = `REPRISE_TASK="<name of this job>" yourscript`

// A Row explains a reason. In its command {chain} stands for the number of the call's chain, {before} for that
// of the call that ended the session badly. Typed as it is, a command does what the advice says, which holds for the calls after it.
type Row struct {
	Code    Code
	Group   Group
	Class   Class
	Meaning string // what it means
	More    string // what docs/reference/reasons.md says besides, in Markdown, "" for nothing
	Advice  string // what would change the decision; "" if nothing needs to
	Setting string // a line of the configuration file that does so, "" if none does
	Command string // a command that does so, or shows what the advice names; "" if the setting does, or nothing
}

// Lookup returns the row of a reason. ok is false if there is no such reason.
func (c Code) Lookup() (row *Row, ok bool) {
	for i := range Table {
		if Table[i].Code == c {
			return &Table[i], true
		}
	}
	return nil, false
}

// Of returns the reasons of a class.
func (c Class) Of() (all []Code) {
	for _, row := range Table {
		if row.Class == c {
			all = append(all, row.Code)
		}
	}
	return all
}

// Table has all reasons, each once.
var Table = []Row{
	{Code: Extends, Group: GroupRelations, Class: ClassContinues,
		Meaning: "the prompt repeats everything the session was sent, and adds something"},
	{Code: Revises, Group: GroupRelations, Class: ClassContinues,
		Meaning: "the prompt repeats most of what the session was sent"},
	{Code: Identical, Group: GroupRelations, Class: ClassNotEnoughEvidence,
		Meaning: "the prompt was repeated",
		Advice:  "If repeated prompts are rounds of one loop, a rule for that caller alone can have identical = \"resume\""},
	{Code: BaseChanged, Group: GroupRelations, Class: ClassNotEnoughEvidence,
		Meaning: "the prompt does not repeat everything the session was sent",
		Advice:  "Keep the earlier prompt and add to it. Where a rule captures the task from each prompt, or from the environment of each job, a prompt can replace a part if it also adds something"},
	{Code: HistoryEdited, Group: GroupRelations, Class: ClassNotEnoughEvidence,
		Meaning: "the prompt shows an answer, or a conversation, that is not the session's",
		Advice:  "Show its answers unchanged. What a line such as \"The coder said:\" introduces counts as one, unless that names another role of the task"},
	{Code: Unrelated, Group: GroupRelations, Class: ClassContinues,
		Meaning: "the prompt is another template"},
	{Code: StartedFrom, Group: GroupRelations, Class: ClassContinues,
		Meaning: "the role's first call began as a copy of another role's session, as start_from asks"},

	{Code: FirstCall, Group: GroupNameMissing, Class: ClassNothingBefore,
		Meaning: "the first call of its chain",
		More:    "of its directory, rule and role, or of its name",
		Advice:  "The next call that continues it is resumed"},
	{Code: NewJob, Group: GroupNameMissing, Class: ClassNothingBefore,
		Meaning: "no earlier prompt in this directory begins like this one",
		Advice:  "The next call that continues it is resumed"},
	{Code: Updated, Group: GroupNameMissing, Class: ClassSessionLost,
		Meaning: "reprise was updated: what it compares has changed since the sessions here were recorded",
		More:    "with a name, those of its task",
		Advice:  "Nothing needs to be done: the next call that continues this one is resumed"},
	{Code: BaseTooSmall, Group: GroupNameMissing, Class: ClassNotEnoughEvidence,
		Meaning: "the prompt is too short to distinguish the job from others",
		More:    "under 24 bytes of text; with `unnamed = \"extends\"` under 200",
		Advice:  "Name the task, for this job alone", Command: NameTask},
	{Code: Ambiguous, Group: GroupNameMissing, Class: ClassNotEnoughEvidence,
		Meaning: "more than one session fits",
		More:    "and the prompt does not show the answer of only one",
		Advice:  "Give each job a name of its own and each of its roles a role, and make the calls one after the other. A reset ends the sessions of a chain: the next call is fresh, later ones resume it", Command: NameTask},
	{Code: NoEvidence, Group: GroupNameMissing, Class: ClassNotEnoughEvidence,
		Meaning: "nothing shows that the prompt continues the session's own work",
		Advice:  "Name the task for this job alone, and the role of each call; if a rule has strict = true, leave that out, or have the prompt show the session's answer", Command: NameTask},
	{Code: NewRole, Group: GroupNameMissing, Class: ClassNotEnoughEvidence,
		Meaning: "the prompt begins otherwise than other calls of its task, assigns a role, asks for a judgement or refers to another agent's work",
		Advice:  "If it continues earlier calls of its role, name the task for this job alone, and each role apart", Command: NameTask},
	{Code: CleanStart, Group: GroupNameMissing, Class: ClassNotEnoughEvidence,
		Meaning: "the prompt asks for a clean start or for independent answers",
		Advice:  "If it is no new start, leave the words out that ask for one"},
	{Code: UnnamedOff, Group: GroupNameMissing, Class: ClassYourWish,
		Meaning: "unnamed = \"off\": calls without a name are not resumed",
		Advice:  "Name the task, for this job alone", Setting: `unnamed = "evidence"`, Command: NameTask},

	{Code: Never, Group: GroupWishes, Class: ClassYourWish,
		Meaning: "a rule keeps such calls fresh",
		Advice:  "Leave never = true out of the rule. If it is a preset, name it in presets_off"},
	{Code: ForcedFresh, Group: GroupWishes, Class: ClassYourWish,
		Meaning: "the caller asked for a fresh session",
		More:    "`REPRISE_FRESH=1`",
		Advice:  "Leave REPRISE_FRESH=1 out", Command: "unset REPRISE_FRESH"},
	{Code: ContextReset, Group: GroupWishes, Class: ClassYourWish,
		Meaning: "a prompt, an answer or shimctl reset ended the session",
		More:    "`fresh_when`, `reset_when`, `CONTEXT_RESET: true`",
		Advice:  "Nothing needs to be done: a new session was asked for"},
	{Code: AttemptReset, Group: GroupWishes, Class: ClassYourWish,
		Meaning: "the caller restarted its count of attempts",
		More:    "the number that a rule captures as `attempt` went down",
		Advice:  "Let the number of the attempt rise within a job"},

	{Code: Unread, Group: GroupGuards, Class: ClassOurLimit,
		Meaning: "this version's output is new: the shim could not read how the session's last run ended",
		More:    "its exit status was 0, and its output was shown as it was",
		Advice:  "Use a version that shimctl doctor says was tried, or update reprise"},
	{Code: BackgroundLeft, Group: GroupGuards, Class: ClassSessionLost,
		Meaning: "the session's last run left a command in the background, of whose end a resume would tell the model",
		More:    "claude ends such a command with the run",
		Advice:  "Have the model stop what it starts in the background, or wait for it"},
	{Code: PreviousFailed, Group: GroupGuards, Class: ClassSessionLost,
		Meaning: "the session's last run failed",
		More:    "or ended without model output; [a copy's source](../explanation/when-it-resumes.md#after-a-failure) may be resumed all the same",
		Advice:  "A run that ends well is resumed. The failed call shows what is known of its end", Command: "shimctl show {before}"},
	{Code: PreviousKilled, Group: GroupGuards, Class: ClassSessionLost,
		Meaning: "a signal ended the session's last run",
		Advice:  "Give runs enough time to end by themselves"},
	{Code: PreviousUnknown, Group: GroupGuards, Class: ClassSessionLost,
		Meaning: "the end of the session's last run was not recorded",
		Advice:  "Do not kill the shim: it records how a run ends"},
	{Code: SessionDead, Group: GroupGuards, Class: ClassSessionLost,
		Meaning: "the session cannot be resumed any more",
		More:    "the detail says why",
		Advice:  "Nothing needs to be done: the new session replaces it"},
	{Code: NoResume, Group: GroupGuards, Class: ClassToolsLimit,
		Meaning: "this version of the tool cannot resume a session",
		Advice:  "Update the tool"},
	{Code: HookSetting, Group: GroupGuards, Class: ClassSettings,
		Meaning: "a hook runs when a session starts, and a resume would not run it, or might not",
		More:    "[Hooks](hooks.md) has the list",
		Advice:  "Have the hook run for all starts: leave its matcher out, or take the plugin out if it need not run"},
	{Code: ModelChanged, Group: GroupGuards, Class: ClassSettings,
		Meaning: "another model was requested",
		Advice:  "Ask for one model in all calls of a job"},
	{Code: UserChanged, Group: GroupGuards, Class: ClassSettings,
		Meaning: "another user makes the call",
		Advice:  "Make all calls of a job as one user"},
	{Code: DirectoryReplaced, Group: GroupGuards, Class: ClassCheckout,
		Meaning: "the directory or its repository is another one under the same name",
		Advice:  "Keep the directory and its repository while a job lasts"},
	{Code: SettingsChanged, Group: GroupGuards, Class: ClassSettings,
		Meaning: "settings changed: system prompt, tools, permissions, MCP servers, variables",
		Advice:  "Make all calls of a job with the same options, variables and settings files"},
	{Code: InstructionsChanged, Group: GroupGuards, Class: ClassSettings,
		Meaning: "an instruction file changed: CLAUDE.md, AGENTS.md, GEMINI.md",
		More:    "or a file that one imports by `@path`",
		Advice:  "Change instruction files between jobs, not within one"},
	{Code: JobChanged, Group: GroupGuards, Class: ClassSettings,
		Meaning: "unnamed, and variables name another CI job, run or tenant",
		Advice:  "Name the task, for this job alone: then these variables do not count", Command: NameTask},
	{Code: RuntimeChanged, Group: GroupGuards, Class: ClassSettings,
		Meaning: "the tool's binary changed",
		More:    "path, inode, size or time",
		Advice:  "Nothing needs to be done: only the first call after an update is fresh"},
	{Code: AuthChanged, Group: GroupGuards, Class: ClassSettings,
		Meaning: "the account changed, or how it is reached: credentials, cloud project, region, proxy",
		Advice:  "Use one account, and reach it in one way, in all calls of a job"},
	{Code: BranchChanged, Group: GroupGuards, Class: ClassCheckout,
		Meaning: "another branch is checked out",
		Advice:  "Make all calls of a job on one branch"},
	{Code: CommitGone, Group: GroupGuards, Class: ClassCheckout,
		Meaning: "the commit that the session's last run left is no longer part of the branch",
		Advice:  "Amend, rebase and reset between jobs, not within one"},
	{Code: CommitUnknown, Group: GroupGuards, Class: ClassCheckout,
		Meaning: "git did not say whether the commit that the session's last run left is still part of the branch",
		More:    "git is missing, failed, or took more than half a second",
		Advice:  "See that git is on PATH and answers quickly, also under `git merge-base --is-ancestor`"},
	{Code: WorkGone, Group: GroupGuards, Class: ClassCheckout,
		Meaning: "files that the session changed were thrown away, by git reset, checkout, stash or clean or by removing them",
		Advice:  "Commit or keep the work of a job while it lasts; commit it before you put the files back"},
	{Code: Idle, Group: GroupGuards, Class: ClassAge,
		Meaning: "the session was idle for longer than ttl",
		More:    "or the clock went back",
		Advice:  "Make the next call sooner, or raise ttl", Setting: `ttl = "2h"`},
	{Code: TooOld, Group: GroupGuards, Class: ClassAge,
		Meaning: "the session was started longer ago than max_age",
		More:    "a copy is as old as its source",
		Advice:  "Raise max_age", Setting: `max_age = "48h"`},
	{Code: ErrorLimit, Group: GroupGuards, Class: ClassAge,
		Meaning: "three runs from this session failed",
		Advice:  "Nothing needs to be done: the next call that continues this one is resumed"},
	{Code: ContextFull, Group: GroupGuards, Class: ClassAge,
		Meaning: "the session has used more of the context than context_limit",
		More:    "of [200,000 tokens](../internals/decisions.md#context-windows) if the window is not known",
		Advice:  "Raise context_limit, or let jobs end sooner", Setting: "context_limit = 0.9"},
	{Code: Leased, Group: GroupGuards, Class: ClassInUse,
		Meaning: "another process was using the session",
		More:    "the detail says why it was not copied",
		Advice:  "Let the calls wait for each other", Setting: `busy = "wait"`},
	{Code: SessionGone, Group: GroupGuards, Class: ClassSessionLost,
		Meaning: "the tool no longer has the session",
		Advice:  "Keep the tool's sessions for longer than a job lasts"},
	{Code: CallersOwn, Group: GroupGuards, Class: ClassSessionLost,
		Meaning: "the caller resumed the session by its ID, and has owned it since",
		More:    "and the tool makes [no copies](../explanation/when-it-resumes.md#copies)",
		Advice:  "Leave resuming to reprise, or name other sessions than its own"},
	{Code: SessionMoved, Group: GroupGuards, Class: ClassSessionLost,
		Meaning: "another process has written to the session",
		Advice:  "Do not continue the session by hand while the job lasts"},
	{Code: NoProgress, Group: GroupGuards, Class: ClassCost,
		Meaning: "the session's runs change files, but its last two rounds were given the same as this call, and git sees no change",
		Advice:  "Say what was wrong with the last answer, or let the new session try"},
	{Code: Dearer, Group: GroupGuards, Class: ClassCost,
		Meaning: "resumes of this rule, tool and model have cost more than fresh runs, or this chain's last two missed the cache and cost more",
		More:    "[why](../explanation/measuring.md#when-resuming-does-not-pay); they are tried again after 6 hours",
		Advice:  "Resume whatever it costs", Setting: `dearer = "resume"`},
	{Code: CheckoutDiffers, Group: GroupGuards, Class: ClassCheckout,
		Meaning: "the checkout lacks what the session's last run, on another machine, left in its directory",
		More:    "nor do its last 50 commits have it",
		Advice:  "Commit what a run leaves, and check that commit out for the next one, with the commits before it"},
	{Code: StoreUnavailable, Group: GroupGuards, Class: ClassOurFault,
		Meaning: "the store that machines share could not be used, now or for an earlier call of the job here",
		More:    "after a failure it is not tried for 30 seconds",
		Advice:  "shimctl status says what is wrong with the store", Command: "shimctl status"},
	{Code: StoreBusy, Group: GroupGuards, Class: ClassInUse,
		Meaning: "other machines changed what the store has of the job, at the same moment, four times",
		Advice:  "Make the calls one after the other"},
	{Code: RegisterDamaged, Group: GroupGuards, Class: ClassOurFault,
		Meaning: "what the store has of the job was damaged, and the call has replaced it",
		Advice:  "Nothing needs to be done unless it happens again: then somebody else writes into the store"},
	{Code: HeldOut, Group: GroupGuards, Class: ClassYourWish,
		Meaning: "rollout keeps this chain fresh, for comparison",
		Advice:  "Resume all chains", Setting: "rollout = 1"},

	{Code: TurnLimit, Group: GroupDetails, Class: ClassSessionLost,
		Meaning: "the session's last run reached its limit of turns",
		More:    "a named call, or a prompt that asks to go on, resumes it",
		Advice:  "Raise the tool's limit of turns, or ask it to go on"},
	{Code: RateLimited, Group: GroupDetails, Class: ClassSessionLost,
		Meaning: "a limit of the account ended it",
		Advice:  "Make the call again when the limit allows it"},
	{Code: LoginRefused, Group: GroupDetails, Class: ClassSessionLost,
		Meaning: "the provider did not accept the credentials",
		Advice:  "Log in again"},
	{Code: ServiceFailed, Group: GroupDetails, Class: ClassSessionLost,
		Meaning: "the provider was overloaded or failed",
		Advice:  "Make the call again later"},
	{Code: Unreachable, Group: GroupDetails, Class: ClassSessionLost,
		Meaning: "the provider could not be reached",
		Advice:  "Make the call again when the network is there"},
	{Code: Interrupted, Group: GroupDetails, Class: ClassSessionLost,
		Meaning: "a signal or the caller ended it",
		Advice:  "Give runs enough time to end by themselves"},
	{Code: Unexplained, Group: GroupDetails, Class: ClassSessionLost,
		Meaning: "its cause may lie in the session, of which it was a copy",
		Advice:  "The calls before this one show what failed"},
	{Code: NotCopied, Group: GroupDetails, Class: ClassToolsLimit,
		Meaning: "start_from needs a tool that continues a session in a copy",
		Advice:  "Update the tool, or leave start_from out of the rule"},
	{Code: NothingToFork, Group: GroupDetails, Class: ClassInUse,
		Meaning: "no run of the session has ended yet",
		Advice:  "Let the calls wait for each other", Setting: `busy = "wait"`},
	{Code: NoForkPoint, Group: GroupDetails, Class: ClassSessionLost,
		Meaning: "no message was found where the session's last run ended",
		Advice:  "Do not continue the session by hand while the job lasts"},

	{Code: RefusedUnknown, Group: GroupRefusals, Class: ClassSessionLost,
		Meaning: "the tool did not know the session",
		Advice:  "Keep the tool's sessions for longer than a job lasts"},
	{Code: RefusedOtherID, Group: GroupRefusals, Class: ClassSessionLost,
		Meaning: "the tool answered under another ID",
		More:    "or in the session itself instead of a copy",
		Advice:  "Nothing can be done: this version of the tool does not say which session it continues"},
	{Code: RefusedBusy, Group: GroupRefusals, Class: ClassInUse,
		Meaning: "the tool found the session in use",
		Advice:  "Make the calls one after the other"},
	{Code: RefusedNoResume, Group: GroupRefusals, Class: ClassToolsLimit,
		Meaning: "the tool does not resume",
		More:    "this version does not know the option",
		Advice:  "Update the tool"},
	{Code: RefusedContext, Group: GroupRefusals, Class: ClassAge,
		Meaning: "the session's context was exceeded",
		Advice:  "Lower context_limit: then a session is left before its context is exceeded"},
	{Code: RefusedBroken, Group: GroupRefusals, Class: ClassSessionLost,
		Meaning: "the tool could not read the session's transcript",
		More:    "or did not find the message where the copy should end; or the shim could not copy it",
		Advice:  "Nothing needs to be done: the new session replaces it"},
	{Code: RefusedSilent, Group: GroupRefusals, Class: ClassSessionLost,
		Meaning: "the tool refused the session without a reason",
		More:    "it failed before any model output",
		Advice:  "The tool says more if it is asked to resume the session by hand: the chain has its ID", Command: "shimctl show c{chain}"},
	{Code: NoAnswer, Group: GroupRefusals, Class: ClassSessionLost,
		Meaning: "the run ended without an answer",
		More:    "a hook on prompts can do that",
		Advice:  "Let hooks on prompts pass a prompt that continues a session"},
	{Code: Forgotten, Group: GroupRefusals, Class: ClassToolsLimit,
		Meaning: "the tool accepted the session, but its first request was too short to hold it",
		Advice:  "Use a version that shimctl doctor says was tried"},
	{Code: LateStdin, Group: GroupRefusals, Class: ClassSessionLost,
		Meaning: "more of the prompt came on stdin after the tool was started",
		More:    "no refusal; the fresh run gets the data",
		Advice:  "Send the whole prompt at once, and close stdin"},
	{Code: Pruned, Group: GroupRefusals, Class: ClassSessionLost,
		Meaning: "shimctl prune has removed the session",
		Advice:  "Prune later: prune.keep_within counts unless shimctl prune was given --keep-within, which replaces it", Setting: `prune.keep_within = "30d"`},

	{Code: DeltaOff, Group: GroupWholePrompts, Class: ClassYourWish,
		Meaning: "the configuration requires the whole prompt",
		Advice:  "Allow deltas", Setting: `delta = "auto"`},
	{Code: Compacted, Group: GroupWholePrompts, Class: ClassSessionLost,
		Meaning: "the tool has shortened the session's history",
		Advice:  "Nothing can be done: the session may lack what it was sent"},
	{Code: OtherTemplate, Group: GroupWholePrompts, Class: ClassNotEnoughEvidence,
		Meaning: "the session knows little of the prompt",
		Advice:  "Repeat the earlier prompt and add to it"},
	{Code: NothingNew, Group: GroupWholePrompts, Class: ClassYourWish,
		Meaning: "the prompt is identical, and the configuration resumes it",
		Advice:  "Leave repeated prompts fresh", Setting: `identical = "fresh"`},
	{Code: ShortPrompt, Group: GroupWholePrompts, Class: ClassCost,
		Meaning: "the prompt is short",
		More:    "under 2048 bytes",
		Advice:  "Nothing needs to be done: a short prompt costs little"},
	{Code: SavesTooLittle, Group: GroupWholePrompts, Class: ClassCost,
		Meaning: "a delta would save less than a third",
		Advice:  "Repeat the earlier prompt and add to it at its end"},
	{Code: NoCleanCut, Group: GroupWholePrompts, Class: ClassNotEnoughEvidence,
		Meaning: "the new part cannot be separated from the known part",
		Advice:  "Begin the new part with a heading, below an empty line"},
	{Code: SentAgain, Group: GroupWholePrompts, Class: ClassNotEnoughEvidence,
		Meaning: "a rule or the tool requires a part that the session has to be sent in each turn",
		Advice:  "Put what must be sent again under a heading of its own"},
	{Code: LooksLikeCommand, Group: GroupWholePrompts, Class: ClassNotEnoughEvidence,
		Meaning: "the tool would take the new part for a command",
		Advice:  "Begin the new part with a word"},

	{Code: SwitchedOff, Group: GroupUnmanaged, Class: ClassYourWish,
		Meaning: "REPRISE_OFF is set",
		Advice:  "Leave REPRISE_OFF=1 out", Command: "unset REPRISE_OFF"},
	{Code: Disabled, Group: GroupUnmanaged, Class: ClassYourWish,
		Meaning: "the configuration switched resuming off",
		Advice:  "Leave enabled = false out", Setting: "enabled = true"},
	{Code: NotManaged, Group: GroupUnmanaged, Class: ClassNotAJob,
		Meaning: "a tool or a subcommand that is not managed",
		Advice:  "Only headless calls of the tools that have a shim are managed"},
	{Code: Interactive, Group: GroupUnmanaged, Class: ClassNotAJob,
		Meaning: "the call is interactive",
		Advice:  "A headless call is managed"},
	{Code: Admin, Group: GroupUnmanaged, Class: ClassNotAJob,
		Meaning: "a subcommand, or a question about the tool itself",
		Advice:  "Nothing is missed: the call asks no model"},
	{Code: AppServer, Group: GroupUnmanaged, Class: ClassNotAJob,
		Meaning: "an app server (codex app-server, ACP): its client creates and resumes the sessions itself",
		More:    "[the client resumes](../internals/callers.md#app-servers)",
		Advice:  "The server has no prompt of its own to compare: have its client resume sessions by their IDs"},
	{Code: CallerSession, Group: GroupUnmanaged, Class: ClassYourWish,
		Meaning: "the caller chose a session itself",
		More:    "`--resume`, `--continue`, `--session-id`",
		Advice:  "Nothing is missed: the caller resumes its sessions itself"},
	{Code: NextTurn, Group: GroupUnmanaged, Class: ClassYourWish,
		Meaning: "a later message of a conversation that goes on in one process",
		Advice:  "Nothing is missed: the session goes on in its process"},
	{Code: OptedOut, Group: GroupUnmanaged, Class: ClassYourWish,
		Meaning: "the caller wants no session kept",
		Advice:  "Leave --no-session-persistence or --ephemeral out if the calls continue each other"},
	{Code: Nested, Group: GroupUnmanaged, Class: ClassNotAJob,
		Meaning: "the tool was called from inside a run",
		More:    "one of its variables, or `REPRISE_INSIDE`, is set",
		Advice:  "The call belongs to the run that made it. Started from a shell of its own, a loop is resumed"},
	{Code: UnknownOption, Group: GroupUnmanaged, Class: ClassOurLimit,
		Meaning: "an option that neither reprise nor the tool's --help knows",
		Advice:  "Leave the option out, or update reprise"},
	{Code: UnmanagedOption, Group: GroupUnmanaged, Class: ClassOurLimit,
		Meaning: "an option that makes the call something else",
		Advice:  "Leave the option out"},
	{Code: BadUsage, Group: GroupUnmanaged, Class: ClassNotAJob,
		Meaning: "the tool will reject this command line",
		More:    "or there is no prompt",
		Advice:  "Correct the command line: the tool says on stderr what is wrong"},
	{Code: SlashCommand, Group: GroupUnmanaged, Class: ClassNotAJob,
		Meaning: "the prompt is a slash command",
		More:    "it starts with `/` (not for codex), or with `?` (gemini)",
		Advice:  "Nothing is missed: the tool itself answers its commands"},
	{Code: MessageContent, Group: GroupUnmanaged, Class: ClassOurLimit,
		Meaning: "the first message of the conversation is not a plain text",
		More:    "it has an image, several parts or an unknown field",
		Advice:  "Only a first message of plain text can be compared"},
	{Code: ControlRequest, Group: GroupUnmanaged, Class: ClassOurLimit,
		Meaning: "the caller changed the session by a request",
		More:    "such as `set_model`",
		Advice:  "Set model and permissions by options, not by requests before the first message"},
	{Code: NoMessage, Group: GroupUnmanaged, Class: ClassNotAJob,
		Meaning: "the caller sent no message",
		Advice:  "Nothing is missed: nothing was asked"},
	{Code: StdinOpen, Group: GroupUnmanaged, Class: ClassOurLimit,
		Meaning: "stdin is open and silent: the prompt is not known",
		More:    "nothing came for 2 seconds (claude, gemini)",
		Advice:  "Add </dev/null"},
	{Code: StdinTooBig, Group: GroupUnmanaged, Class: ClassOurLimit,
		Meaning: "stdin exceeds the limit",
		More:    "16 MB, or 32,768 blocks of a prompt",
		Advice:  "Put the data into a file, and name it in the prompt"},
	{Code: StdoutGone, Group: GroupUnmanaged, Class: ClassOurLimit,
		Meaning: "stdout is closed, or its reader is gone",
		Advice:  "Have the caller read the output"},
	{Code: Wrapper, Group: GroupUnmanaged, Class: ClassOurLimit,
		Meaning: "the program behind the shim is a script that minds what is added to its arguments",
		More:    "it looks at their places (`$1`, `$#`, `shift`, `argv[1]`), or may run the tool several times",
		Advice:  "Have the script look for options anywhere and exec the tool, or put it before the shims and have it run the tool by its name"},
	{Code: VerboseSetting, Group: GroupUnmanaged, Class: ClassOurLimit,
		Meaning: "a settings file may change the output format",
		Advice:  "Name the output format in the call, or take the setting out of the tool's settings"},
	{Code: Unreadable, Group: GroupUnmanaged, Class: ClassOurLimit,
		Meaning: "a settings file is a pipe, a device or too large, so only the tool can read it",
		More:    "more than 1 MB (`~/.claude.json`: 16 MB)",
		Advice:  "Name a regular file instead of <(...) or a pipe; make a large one smaller"},
	{Code: AddedRefused, Group: GroupUnmanaged, Class: ClassToolsLimit,
		Meaning: "this version of the tool fails with the options that the shim adds",
		Advice:  "Use a version that shimctl doctor says was tried, or update reprise"},
	{Code: ConfigMistake, Group: GroupUnmanaged, Class: ClassYourWish,
		Meaning: "the configuration file cannot be used",
		Advice:  "Mend it: shimctl doctor names each mistake in it", Command: "shimctl doctor"},
	{Code: Fault, Group: GroupUnmanaged, Class: ClassOurFault,
		Meaning: "something in reprise failed; the log says what",
		Advice:  "shim.log beside the ledger has the cause"},
}
