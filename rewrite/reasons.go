package rewrite

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

// A Group is what reasons are reasons of. docs/reference/reasons.md has a table of each.
type Group string

// The groups.
const (
	GroupRelations    Group = "relation"     // how a prompt relates to the session's
	GroupNameMissing  Group = "unnamed"      // why a call without a name is fresh
	GroupWishes       Group = "asked_for"    // why a call is fresh because that was asked for
	GroupGuards       Group = "guard"        // why a call that continues its chain is fresh all the same, in the order in which they are checked
	GroupDetails      Group = "detail"       // details of other reasons
	GroupBudgets      Group = "budget"       // which limit a job exceeds
	GroupRefusals     Group = "refusal"      // why a resume was given up
	GroupWholePrompts Group = "whole_prompt" // why a resumed call sends the whole prompt
	GroupUnmanaged    Group = "not_managed"  // why a call is not managed
)

// A ReasonText explains a reason. In its command {call} stands for a call of the tool, {chain} for the number of
// the call's chain.
type ReasonText struct {
	Reason  Reason
	Group   Group
	Class   Class
	Meaning string // what it means
	More    string // what docs/reference/reasons.md says besides, in Markdown, "" for nothing
	Advice  string // what would change the decision
	Setting string // a line of the configuration file that does so, "" if none does
	Command string // a command that does so or shows more, "" if there is a setting
}

// Lookup returns the text of a reason. ok is false if there is no such reason.
func (r Reason) Lookup() (text *ReasonText, ok bool) {
	for i := range ReasonTexts {
		if ReasonTexts[i].Reason == r {
			return &ReasonTexts[i], true
		}
	}
	return nil, false
}

// Of returns the reasons of a class.
func (c Class) Of() (all []Reason) {
	for _, t := range ReasonTexts {
		if t.Class == c {
			all = append(all, t.Reason)
		}
	}
	return all
}

// ReasonTexts are all reasons, each once.
var ReasonTexts = []ReasonText{
	{Reason: Extends, Group: GroupRelations, Class: ClassContinues,
		Meaning: "the prompt repeats everything the session was sent, and adds something",
		Advice:  "Such a call can be kept fresh", Command: "REPRISE_FRESH=1 {call}"},
	{Reason: Revises, Group: GroupRelations, Class: ClassContinues,
		Meaning: "the prompt repeats most of what the session was sent; the task is named",
		Advice:  "Such a call can be kept fresh", Command: "REPRISE_FRESH=1 {call}"},
	{Reason: Identical, Group: GroupRelations, Class: ClassNotEnoughEvidence,
		Meaning: "the prompt was repeated",
		Advice:  "Resume repeated prompts, in a rule for this caller only if they belong to a loop", Setting: `identical = "resume"`},
	{Reason: BaseChanged, Group: GroupRelations, Class: ClassNotEnoughEvidence,
		Meaning: "the prompt does not repeat everything the session was sent",
		Advice:  "Repeat the earlier prompt and add to it; or name task and role, then the prompt may replace or remove a part if it also adds something", Command: "REPRISE_TASK=NAME REPRISE_ROLE=ROLE {call}"},
	{Reason: HistoryEdited, Group: GroupRelations, Class: ClassNotEnoughEvidence,
		Meaning: "the transcript's earlier part differs from the session",
		Advice:  "Repeat the conversation with every answer unchanged", Command: "shimctl explain --blocks -- {call}"},
	{Reason: Unrelated, Group: GroupRelations, Class: ClassContinues,
		Meaning: "the prompt is another template; the task is named",
		Advice:  "Such a call can be kept fresh", Command: "REPRISE_FRESH=1 {call}"},

	{Reason: FirstCall, Group: GroupNameMissing, Class: ClassNothingBefore,
		Meaning: "the first call of its chain",
		More:    "of its directory, rule and role, or of its name",
		Advice:  "The next call that continues it is resumed. If it continues earlier calls, name the task, and the role of each", Command: "REPRISE_TASK=NAME REPRISE_ROLE=ROLE {call}"},
	{Reason: NewJob, Group: GroupNameMissing, Class: ClassNothingBefore,
		Meaning: "no earlier prompt in this directory begins like this one",
		Advice:  "The next call that continues it is resumed. If it continues earlier calls, name the task, and the role of each", Command: "REPRISE_TASK=NAME REPRISE_ROLE=ROLE {call}"},
	{Reason: BaseTooSmall, Group: GroupNameMissing, Class: ClassNotEnoughEvidence,
		Meaning: "the prompt is too short to distinguish the job from others",
		More:    "under 24 bytes of text; with `unnamed = \"extends\"` under 200",
		Advice:  "Name the task and the role", Command: "REPRISE_TASK=NAME REPRISE_ROLE=ROLE {call}"},
	{Reason: Ambiguous, Group: GroupNameMissing, Class: ClassNotEnoughEvidence,
		Meaning: "more than one session fits",
		More:    "and the prompt does not show the answer of only one",
		Advice:  "Give each job a task name of its own, each of its roles a role, and make the calls one after the other", Command: "REPRISE_TASK=NAME REPRISE_ROLE=ROLE {call}"},
	{Reason: NoEvidence, Group: GroupNameMissing, Class: ClassNotEnoughEvidence,
		Meaning: "nothing shows that the prompt continues the session's own work; the task has no name",
		Advice:  "Name the task and the role", Setting: `unnamed = "extends"`, Command: "REPRISE_TASK=NAME REPRISE_ROLE=ROLE {call}"},
	{Reason: NewRole, Group: GroupNameMissing, Class: ClassNotEnoughEvidence,
		Meaning: "the prompt begins otherwise than other calls of its task, assigns a role, asks for a judgement or refers to another agent's work",
		Advice:  "If it continues earlier calls of its role, name the task and the role", Setting: `unnamed = "extends"`, Command: "REPRISE_TASK=NAME REPRISE_ROLE=ROLE {call}"},
	{Reason: CleanStart, Group: GroupNameMissing, Class: ClassNotEnoughEvidence,
		Meaning: "the prompt asks for a clean start or for independent answers; the task has no name",
		Advice:  "If it is no new start, name the task and the role", Setting: `unnamed = "extends"`, Command: "REPRISE_TASK=NAME REPRISE_ROLE=ROLE {call}"},
	{Reason: UnnamedOff, Group: GroupNameMissing, Class: ClassYourWish,
		Meaning: "unnamed = \"off\": calls without a name are not resumed",
		Advice:  "Name the task and the role", Setting: `unnamed = "evidence"`, Command: "REPRISE_TASK=NAME REPRISE_ROLE=ROLE {call}"},

	{Reason: Never, Group: GroupWishes, Class: ClassYourWish,
		Meaning: "a rule keeps such calls fresh",
		Advice:  "Leave never = true out of the rule. If the rule is a preset, name it in presets_off", Command: "shimctl config path"},
	{Reason: ForcedFresh, Group: GroupWishes, Class: ClassYourWish,
		Meaning: "the caller asked for a fresh session",
		More:    "`REPRISE_FRESH=1`",
		Advice:  "Leave REPRISE_FRESH=1 out", Command: "REPRISE_FRESH=0 {call}"},
	{Reason: ContextReset, Group: GroupWishes, Class: ClassYourWish,
		Meaning: "a prompt, an answer or shimctl reset ended the session",
		More:    "`fresh_when`, `reset_when`, `CONTEXT_RESET: true`",
		Advice:  "Nothing needs to be done: a new session was asked for", Command: "shimctl show {chain}"},
	{Reason: AttemptReset, Group: GroupWishes, Class: ClassYourWish,
		Meaning: "the caller restarted its count of attempts",
		More:    "the number that a rule captures as `attempt` went down",
		Advice:  "Let the number of the attempt rise within a job", Command: "shimctl show {chain}"},

	{Reason: PreviousFailed, Group: GroupGuards, Class: ClassSessionLost,
		Meaning: "the session's last run failed",
		More:    "or ended without a final event, a session ID or model output",
		Advice:  "A run that ends well is resumed. The calls before this one show what failed", Command: "shimctl show {chain}"},
	{Reason: PreviousKilled, Group: GroupGuards, Class: ClassSessionLost,
		Meaning: "a signal ended the session's last run",
		Advice:  "Give runs enough time to end by themselves", Command: "shimctl show {chain}"},
	{Reason: PreviousUnknown, Group: GroupGuards, Class: ClassSessionLost,
		Meaning: "the end of the session's last run was not recorded",
		Advice:  "Do not kill the shim: it records how a run ends", Command: "shimctl show {chain}"},
	{Reason: SessionDead, Group: GroupGuards, Class: ClassSessionLost,
		Meaning: "the session cannot be resumed any more",
		More:    "the detail says why",
		Advice:  "Nothing needs to be done: the new session replaces it", Command: "shimctl show {chain}"},
	{Reason: NoResume, Group: GroupGuards, Class: ClassToolsLimit,
		Meaning: "this version of the tool cannot resume a session",
		Advice:  "Update the tool", Command: "shimctl doctor"},
	{Reason: ModelChanged, Group: GroupGuards, Class: ClassSettings,
		Meaning: "another model was requested",
		Advice:  "Ask for one model in all calls of a job", Command: "shimctl explain -- {call}"},
	{Reason: UserChanged, Group: GroupGuards, Class: ClassSettings,
		Meaning: "another user makes the call",
		Advice:  "Make all calls of a job as one user", Command: "shimctl explain -- {call}"},
	{Reason: DirectoryReplaced, Group: GroupGuards, Class: ClassCheckout,
		Meaning: "the directory or its repository is another one under the same name",
		Advice:  "Keep the directory and its repository while a job lasts", Command: "shimctl explain -- {call}"},
	{Reason: SettingsChanged, Group: GroupGuards, Class: ClassSettings,
		Meaning: "settings changed: system prompt, tools, permissions, MCP servers, variables",
		Advice:  "Make all calls of a job with the same options, variables and settings files", Command: "shimctl explain -- {call}"},
	{Reason: InstructionsChanged, Group: GroupGuards, Class: ClassSettings,
		Meaning: "an instruction file changed: CLAUDE.md, AGENTS.md, GEMINI.md",
		More:    "or a file that one imports by `@path`",
		Advice:  "Change instruction files between jobs, not within one", Command: "shimctl explain -- {call}"},
	{Reason: JobChanged, Group: GroupGuards, Class: ClassSettings,
		Meaning: "the variables name another CI job, run or tenant; the task has no name",
		Advice:  "Name the task and the role: then these variables do not count", Command: "REPRISE_TASK=NAME REPRISE_ROLE=ROLE {call}"},
	{Reason: RuntimeChanged, Group: GroupGuards, Class: ClassSettings,
		Meaning: "the tool's binary changed",
		More:    "path, inode, size or time",
		Advice:  "Nothing needs to be done: only the first call after an update is fresh", Command: "shimctl doctor"},
	{Reason: AuthChanged, Group: GroupGuards, Class: ClassSettings,
		Meaning: "the account changed, or how it is reached: credentials, cloud project, region, proxy",
		Advice:  "Use one account, and reach it in one way, in all calls of a job", Command: "shimctl explain -- {call}"},
	{Reason: BranchChanged, Group: GroupGuards, Class: ClassCheckout,
		Meaning: "another branch is checked out",
		Advice:  "Make all calls of a job on one branch", Command: "shimctl explain -- {call}"},
	{Reason: CommitGone, Group: GroupGuards, Class: ClassCheckout,
		Meaning: "the commit that the session's last run left is no longer part of the branch",
		Advice:  "Amend, rebase and reset between jobs, not within one", Command: "shimctl explain -- {call}"},
	{Reason: WorkGone, Group: GroupGuards, Class: ClassCheckout,
		Meaning: "files that the session changed were thrown away, by git reset, checkout, stash or clean or by removing them",
		Advice:  "Commit or keep the work of a job while it lasts; commit it before you put the files back", Command: "shimctl explain -- {call}"},
	{Reason: Idle, Group: GroupGuards, Class: ClassAge,
		Meaning: "the session was idle for longer than ttl",
		More:    "30 minutes unless set; or the clock went back",
		Advice:  "Make the next call sooner, or raise ttl", Setting: `ttl = "2h"`},
	{Reason: TooOld, Group: GroupGuards, Class: ClassAge,
		Meaning: "the session was started longer ago than max_age",
		More:    "24 hours unless set; a copy is as old as its source",
		Advice:  "Raise max_age", Setting: `max_age = "48h"`},
	{Reason: ErrorLimit, Group: GroupGuards, Class: ClassAge,
		Meaning: "error_limit runs from this session failed",
		More:    "3 unless set",
		Advice:  "Raise error_limit", Setting: "error_limit = 6"},
	{Reason: ContextFull, Group: GroupGuards, Class: ClassAge,
		Meaning: "the session has used more of the context than context_limit",
		More:    "0.8 unless set, of [200,000 tokens](../internals/figures.md#context-windows) if the window is not known",
		Advice:  "Raise context_limit, or let jobs end sooner", Setting: "context_limit = 0.9"},
	{Reason: Leased, Group: GroupGuards, Class: ClassInUse,
		Meaning: "another process was using the session",
		More:    "the detail says why it was not copied",
		Advice:  "Make the calls one after the other, or let them wait for each other", Setting: `busy = "wait"`},
	{Reason: SessionGone, Group: GroupGuards, Class: ClassSessionLost,
		Meaning: "the tool no longer has the session",
		Advice:  "Keep the tool's sessions for longer than a job lasts", Command: "shimctl show --sessions"},
	{Reason: CallersOwn, Group: GroupGuards, Class: ClassSessionLost,
		Meaning: "the caller resumed the session by its ID, and has owned it since",
		More:    "and the tool makes [no copies](../explanation/when-it-resumes.md#copies)",
		Advice:  "Leave resuming to reprise, or name other sessions than its own", Command: "shimctl show {chain}"},
	{Reason: SessionMoved, Group: GroupGuards, Class: ClassSessionLost,
		Meaning: "another process has written to the session",
		Advice:  "Do not continue the session by hand while the job lasts", Command: "shimctl show {chain}"},
	{Reason: Dearer, Group: GroupGuards, Class: ClassCost,
		Meaning: "resumes of this rule, tool and model have cost more than fresh runs",
		More:    "[why](../explanation/measuring.md#when-resuming-does-not-pay); they are tried again after 6 hours",
		Advice:  "Resume whatever it costs", Setting: `dearer = "resume"`, Command: "shimctl stats --by rule"},
	{Reason: CacheLost, Group: GroupGuards, Class: ClassCost,
		Meaning: "a resume with this tool loses the provider's cache, and no figures show yet that it pays",
		Advice:  "Resume all the same, or wait: some chains are tried until the figures are known", Setting: `dearer = "resume"`, Command: "shimctl stats --by rule"},
	{Reason: CheckoutDiffers, Group: GroupGuards, Class: ClassCheckout,
		Meaning: "the checkout lacks what the session's last run, on another machine, left in its directory",
		More:    "nor do its last 50 commits have it",
		Advice:  "Commit what a run leaves, and check that commit out for the next one, with the commits before it", Command: "shimctl explain -- {call}"},
	{Reason: StoreUnavailable, Group: GroupGuards, Class: ClassOurFault,
		Meaning: "the store that machines share could not be used, now or for an earlier call of the job here",
		More:    "after a failure it is not tried for 30 seconds",
		Advice:  "shimctl status says what is wrong with the store", Command: "shimctl status"},
	{Reason: StoreBusy, Group: GroupGuards, Class: ClassInUse,
		Meaning: "other machines changed what the store has of the job, at the same moment, four times",
		Advice:  "Make the calls one after the other", Command: "shimctl status"},
	{Reason: RegisterDamaged, Group: GroupGuards, Class: ClassOurFault,
		Meaning: "what the store has of the job was damaged, and the call has replaced it",
		Advice:  "Nothing needs to be done unless it happens again: then somebody else writes into the store", Command: "shimctl doctor"},
	{Reason: HeldOut, Group: GroupGuards, Class: ClassYourWish,
		Meaning: "rollout keeps this chain fresh, for comparison",
		Advice:  "Resume all chains", Setting: "rollout = 1"},

	{Reason: TurnLimit, Group: GroupDetails, Class: ClassSessionLost,
		Meaning: "the session's last run reached its limit of turns",
		More:    "a named call, or a prompt that asks to go on, resumes it",
		Advice:  "Raise the tool's limit of turns, or ask it to go on", Command: "shimctl show {chain}"},
	{Reason: NothingToFork, Group: GroupDetails, Class: ClassInUse,
		Meaning: "no run of the session has ended yet",
		Advice:  "Let the calls wait for each other", Setting: `busy = "wait"`},
	{Reason: NoForkPoint, Group: GroupDetails, Class: ClassSessionLost,
		Meaning: "no message was found where the session's last run ended",
		Advice:  "Let the calls wait for each other", Setting: `busy = "wait"`},

	{Reason: TooManyCalls, Group: GroupBudgets, Class: ClassYourWish,
		Meaning: "the job made more calls in an hour than budget.calls_per_hour",
		Advice:  "End the loop, or expect more calls", Setting: "budget.calls_per_hour = 200"},
	{Reason: BudgetSpent, Group: GroupBudgets, Class: ClassYourWish,
		Meaning: "the job cost as much in 24 hours as budget.dollars_per_day",
		Advice:  "End the job, or expect a higher cost", Setting: "budget.dollars_per_day = 100"},

	{Reason: RefusedUnknown, Group: GroupRefusals, Class: ClassSessionLost,
		Meaning: "the tool did not know the session",
		Advice:  "Keep the tool's sessions for longer than a job lasts", Command: "shimctl show --sessions"},
	{Reason: RefusedOtherID, Group: GroupRefusals, Class: ClassSessionLost,
		Meaning: "the tool answered under another ID",
		More:    "or in the session itself instead of a copy",
		Advice:  "Nothing can be done: this version of the tool does not say which session it continues", Command: "shimctl doctor"},
	{Reason: RefusedBusy, Group: GroupRefusals, Class: ClassInUse,
		Meaning: "the tool found the session in use",
		Advice:  "Make the calls one after the other, or let them wait for each other", Setting: `busy = "wait"`},
	{Reason: RefusedNoResume, Group: GroupRefusals, Class: ClassToolsLimit,
		Meaning: "the tool does not resume",
		More:    "this version does not know the option",
		Advice:  "Update the tool", Command: "shimctl doctor"},
	{Reason: RefusedContext, Group: GroupRefusals, Class: ClassAge,
		Meaning: "the session's context was exceeded",
		Advice:  "Lower context_limit: then a session is left before its context is exceeded", Setting: "context_limit = 0.6"},
	{Reason: RefusedBroken, Group: GroupRefusals, Class: ClassSessionLost,
		Meaning: "the tool could not read the session's transcript",
		More:    "or did not find the message where the copy should end",
		Advice:  "Nothing needs to be done: the new session replaces it", Command: "shimctl show --sessions"},
	{Reason: RefusedSilent, Group: GroupRefusals, Class: ClassSessionLost,
		Meaning: "the tool refused the session without a reason",
		More:    "it failed before any model output",
		Advice:  "The tool says more if it is asked to resume the session by hand", Command: "shimctl show {chain}"},
	{Reason: LateStdin, Group: GroupRefusals, Class: ClassSessionLost,
		Meaning: "more of the prompt came on stdin after the tool was started",
		More:    "no refusal; the fresh run gets the data",
		Advice:  "Send the whole prompt at once, and close stdin", Command: "{call}"},
	{Reason: Pruned, Group: GroupRefusals, Class: ClassSessionLost,
		Meaning: "shimctl prune has removed the session",
		Advice:  "Prune later", Setting: `prune.keep_within = "30d"`},

	{Reason: DeltaOff, Group: GroupWholePrompts, Class: ClassYourWish,
		Meaning: "the configuration requires the whole prompt",
		Advice:  "Allow deltas", Setting: `delta = "auto"`},
	{Reason: Compacted, Group: GroupWholePrompts, Class: ClassSessionLost,
		Meaning: "the tool has shortened the session's history",
		Advice:  "Nothing can be done: the session may lack what it was sent", Command: "REPRISE_FRESH=1 {call}"},
	{Reason: OtherTemplate, Group: GroupWholePrompts, Class: ClassNotEnoughEvidence,
		Meaning: "the session knows little of the prompt",
		Advice:  "Repeat the earlier prompt and add to it", Command: "shimctl explain --blocks -- {call}"},
	{Reason: NothingNew, Group: GroupWholePrompts, Class: ClassYourWish,
		Meaning: "the prompt is identical, and the configuration resumes it",
		Advice:  "Leave repeated prompts fresh", Setting: `identical = "fresh"`},
	{Reason: ShortPrompt, Group: GroupWholePrompts, Class: ClassCost,
		Meaning: "the prompt is short",
		More:    "under 2048 bytes",
		Advice:  "Nothing needs to be done: a short prompt costs little", Command: "shimctl explain --blocks -- {call}"},
	{Reason: SavesTooLittle, Group: GroupWholePrompts, Class: ClassCost,
		Meaning: "a delta would save less than a third",
		Advice:  "Repeat the earlier prompt and add to it at its end", Command: "shimctl explain --blocks -- {call}"},
	{Reason: NoCleanCut, Group: GroupWholePrompts, Class: ClassNotEnoughEvidence,
		Meaning: "the new part cannot be separated from the known part",
		Advice:  "Begin the new part with a heading, below an empty line", Command: "shimctl explain --blocks -- {call}"},
	{Reason: SentAgain, Group: GroupWholePrompts, Class: ClassNotEnoughEvidence,
		Meaning: "a rule or the tool requires a part that the session has to be sent in each turn",
		Advice:  "Put what must be sent again under a heading of its own", Command: "shimctl explain --blocks -- {call}"},
	{Reason: LooksLikeCommand, Group: GroupWholePrompts, Class: ClassNotEnoughEvidence,
		Meaning: "the tool would take the new part for a command",
		Advice:  "Begin the new part with a word", Command: "shimctl explain --blocks -- {call}"},

	{Reason: SwitchedOff, Group: GroupUnmanaged, Class: ClassYourWish,
		Meaning: "REPRISE_OFF is set",
		Advice:  "Leave REPRISE_OFF=1 out", Command: "REPRISE_OFF=0 {call}"},
	{Reason: Disabled, Group: GroupUnmanaged, Class: ClassYourWish,
		Meaning: "the configuration switched resuming off",
		Advice:  "Leave enabled = false out, for all tools or for this one", Setting: "enabled = true"},
	{Reason: NotManaged, Group: GroupUnmanaged, Class: ClassNotAJob,
		Meaning: "a tool or a subcommand that is not managed",
		Advice:  "Only headless calls of the tools that have a shim are managed", Command: "{call}"},
	{Reason: Interactive, Group: GroupUnmanaged, Class: ClassNotAJob,
		Meaning: "the call is interactive",
		Advice:  "A headless call is managed", Command: "{call}"},
	{Reason: Admin, Group: GroupUnmanaged, Class: ClassNotAJob,
		Meaning: "a subcommand, or a question about the tool itself",
		Advice:  "Nothing is missed: the call asks no model", Command: "{call}"},
	{Reason: AppServer, Group: GroupUnmanaged, Class: ClassNotAJob,
		Meaning: "an app server (codex app-server, ACP): its client creates and resumes the sessions itself",
		More:    "[the client resumes](../internals/app-servers.md)",
		Advice:  "The server has no prompt of its own to compare: have its client resume sessions by their IDs", Command: "{call}"},
	{Reason: CallerSession, Group: GroupUnmanaged, Class: ClassYourWish,
		Meaning: "the caller chose a session itself",
		More:    "`--resume`, `--continue`, `--session-id`",
		Advice:  "Nothing is missed: the caller resumes its sessions itself", Command: "{call}"},
	{Reason: NextTurn, Group: GroupUnmanaged, Class: ClassYourWish,
		Meaning: "a later message of a conversation that goes on in one process",
		Advice:  "Nothing is missed: the session goes on in its process", Command: "{call}"},
	{Reason: OptedOut, Group: GroupUnmanaged, Class: ClassYourWish,
		Meaning: "the caller wants no session kept",
		Advice:  "Leave --no-session-persistence or --ephemeral out if the calls continue each other", Command: "{call}"},
	{Reason: Nested, Group: GroupUnmanaged, Class: ClassNotAJob,
		Meaning: "the tool was called from inside a run",
		More:    "one of its variables, or `REPRISE_INSIDE`, is set",
		Advice:  "Nothing is missed: the call belongs to the run that made it", Command: "{call}"},
	{Reason: UnknownOption, Group: GroupUnmanaged, Class: ClassOurLimit,
		Meaning: "an option that neither reprise nor the tool's --help knows",
		Advice:  "Leave the option out, or update reprise", Command: "shimctl explain -- {call}"},
	{Reason: UnmanagedOption, Group: GroupUnmanaged, Class: ClassOurLimit,
		Meaning: "an option that makes the call something else",
		Advice:  "Leave the option out", Command: "shimctl explain -- {call}"},
	{Reason: BadUsage, Group: GroupUnmanaged, Class: ClassNotAJob,
		Meaning: "the tool will reject this command line",
		More:    "or there is no prompt",
		Advice:  "Correct the command line: the tool says on stderr what is wrong", Command: "shimctl explain -- {call}"},
	{Reason: SlashCommand, Group: GroupUnmanaged, Class: ClassNotAJob,
		Meaning: "the prompt is a slash command",
		More:    "it starts with `/` (not for codex), or with `?` (gemini)",
		Advice:  "Nothing is missed: the tool itself answers its commands", Command: "{call}"},
	{Reason: MessageContent, Group: GroupUnmanaged, Class: ClassOurLimit,
		Meaning: "the first message of the conversation is not a plain text",
		More:    "it has an image, several parts or an unknown field",
		Advice:  "Only a first message of plain text can be compared", Command: "{call}"},
	{Reason: ControlRequest, Group: GroupUnmanaged, Class: ClassOurLimit,
		Meaning: "the caller changed the session by a request",
		More:    "such as `set_model`, before its first message; as a detail of `session_dead`, after it",
		Advice:  "Set model and permissions by options, not by requests before the first message", Command: "shimctl explain -- {call}"},
	{Reason: NoMessage, Group: GroupUnmanaged, Class: ClassNotAJob,
		Meaning: "the caller sent no message",
		Advice:  "Nothing is missed: nothing was asked", Command: "{call}"},
	{Reason: StdinOpen, Group: GroupUnmanaged, Class: ClassOurLimit,
		Meaning: "stdin is open and silent: the prompt is not known",
		More:    "nothing came for 2 seconds (claude, gemini)",
		Advice:  "Add </dev/null", Command: "{call}"},
	{Reason: StdinTooBig, Group: GroupUnmanaged, Class: ClassOurLimit,
		Meaning: "stdin exceeds the limit",
		Advice:  "Put the data into a file, and name it in the prompt", Command: "{call}"},
	{Reason: StdoutGone, Group: GroupUnmanaged, Class: ClassOurLimit,
		Meaning: "stdout is closed, or its reader is gone",
		Advice:  "Have the caller read the output", Command: "{call}"},
	{Reason: VerboseSetting, Group: GroupUnmanaged, Class: ClassOurLimit,
		Meaning: "a settings file may change the output format",
		Advice:  "Name the output format in the call, or take the setting out of the tool's settings", Command: "gemini -o text <prompt.md"},
	{Reason: HookSetting, Group: GroupUnmanaged, Class: ClassOurLimit,
		Meaning: "a settings file may change what the session stores",
		Advice:  "Take the SessionStart hook out of the tool's settings", Command: "shimctl explain -- {call}"},
	{Reason: FileNotRegular, Group: GroupUnmanaged, Class: ClassOurLimit,
		Meaning: "a settings file is a pipe or a device, which only the tool may read",
		Advice:  "Name a file instead of <(...) or a pipe", Command: "shimctl explain -- {call}"},
	{Reason: FileTooLarge, Group: GroupUnmanaged, Class: ClassOurLimit,
		Meaning: "a settings file exceeds the limit",
		More:    "of 1 MB (`~/.claude.json`: 16 MB)",
		Advice:  "Make the settings file smaller", Command: "shimctl explain -- {call}"},
	{Reason: Fault, Group: GroupUnmanaged, Class: ClassOurFault,
		Meaning: "something in reprise failed; the log says what",
		Advice:  "shimctl doctor finds the cause, and shim.log has it", Command: "shimctl doctor"},
}
