package decide

import (
	"cmp"
	"io/fs"
	"strconv"
	"strings"

	"reprise/rewrite"
	"reprise/rewrite/models"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
)

// A State is the state of a session.
type State string

// The states of a session.
const (
	Running State = "running" // the first or latest run has not ended
	Live    State = "live"    // the latest run ended well
	Failed  State = "failed"  // the latest run ended badly
	Killed  State = "killed"  // the latest run died by a signal
	Dead    State = "dead"    // it can no longer be resumed
)

// A StoredState is the state of a session where the tool stores it.
type StoredState int

// The states of a stored session.
const (
	StoredSame StoredState = iota // as our last run left it
	StoredGone
	StoredChanged // another process has written to it
)

// A Request is the part of a call that decisions depend on.
type Request struct {
	Now      Millis
	Never    bool        // a rule makes each call independent: it belongs to no chain
	Fresh    reason.Code // why the caller or the rule wants a fresh session, "" if not
	NoResume bool        // this version, or this binary, is known not to support it
	HookSet  bool        // a hook would not run, or might not, in a resumed session
	Copies   bool        // a resume continues in a copy and leaves the source unchanged
	// the caller's number of the round, rewrite.NoAttempt if it does not count them
	Attempt      int
	Fingerprints Fingerprints
	Revision     Revision // of the call's directory
	Limits       Limits

	// These functions find facts that take long. They are called only for a session that the call
	// would otherwise continue. All but History can be nil.

	// ForkPoint returns the last message of a session's file when it had that stamp, or why there
	// is none. It is nil if sessions in use must not be copied.
	ForkPoint func(path string, stamp Stamp) (message string, why reason.Code)
	// History fails with a reason.Code if a commit is not known to be an ancestor of Revision.Head.
	History func(commit string) error
	// Checkout reports whether the directory has the content that another book's session has left,
	// given Tree and Directory of ChainFacts.
	Checkout func(tree, directory string) bool
	// WorkGone reports whether files that a session changed have been thrown away since, given how
	// the runs left them and the commit that was checked out then.
	WorkGone func(left, head string) bool
	// Tree returns git's name of the directory's content, "" if it has none.
	Tree func() string
}

// Facts are everything that a decision depends on.
type Facts struct {
	Request
	Named       bool // the task is named; otherwise continuity alone finds the chain
	Strong      bool // no other job has the task, and the role is known
	SameTask    bool // the task is known, but not that the calls belong together
	PromptBytes int
	// Given returns a digest of the text that the call gives a session. It is nil if Tree is.
	Given func(prompt.Continuity) string
	// Past returns the latest runs of a session's chain that ended well, the latest first. Learned
	// returns the runs of another chain of the same rule, tool, version, model and settings. Both
	// can be nil.
	Past    func(*ChainFacts) []Run
	Learned func() []Run
	// Chains are the sessions that the call can continue: the most recently used chain first, and
	// within a chain the newest session first. With Named they are one chain's, otherwise the
	// sessions that begin like the call's prompt.
	Chains []ChainFacts
	More   bool // there are further chains with this beginning that were not read
	// the directory, or the task, has chains that begin otherwise; set only if Chains is empty
	Others bool
	// Unseen is why a session that the call might continue is not among the chains, "" if there is
	// none: another version of reprise has recorded it in another form, or the chain is older than
	// max_age.
	Unseen reason.Code
	// Start are the ends of the role that the call's role begins as a copy of, if it has had no
	// call yet.
	Start []ChainFacts
}

// Lost returns how many copies of a session are lost: their shim was killed with its run, so their
// end was not recorded. The session is as it was, and is continued as after any kill.
func (f *Facts) Lost(session int64) (copies int) {
	for i := range f.Chains {
		if c := &f.Chains[i]; c.Parent == session && c.State == Running && !c.Held {
			copies++
		}
	}
	return copies
}

// A SessionRecord is the part of a session's record in a ledger, or in a store, that decisions
// depend on. The JSON names are the format of stores, and never change. A field that is missing
// there has the zero value, which says that nothing is known.
type SessionRecord struct {
	// The session that it is a copy of, 0 for none.
	Parent   int64  `db:"parent_id INTEGER" json:"parent,omitempty"`
	NativeID string `db:"native_id TEXT" json:"native_id,omitempty"`
	State    State  `db:"state" json:"state"`
	// The reason why it is dead or has failed; of a live one TurnLimit, or why a copy of it has
	// failed if that can lie in it.
	StateWhy reason.Code `db:"state_why" json:"state_why,omitempty"`
	// an answer has ended it
	Reset bool `db:"reset" json:"reset,omitempty"`
	// the caller has gone on with it by its ID
	CallersOwn bool   `db:"callers_own" json:"callers_own,omitempty"`
	Created    Millis `db:"created" json:"created"`
	LastUsed   Millis `db:"last_used" json:"last_used"`
	Attempt    *int   `db:"attempt INTEGER" json:"attempt,omitempty"` // of the latest call
	Errors     int    `db:"errors" json:"errors,omitempty"`
	// the processes above the latest call
	Caller       Caller `db:"caller" json:"caller,omitzero"`
	Fingerprints        // of the runs
	// the model, as the tool named it at first
	FirstModel string `db:"first_model" json:"first_model,omitempty"`
	// the length of the newest prompt
	BaseBytes int `db:"base_bytes" json:"base_bytes"`
	// the tool has shortened the history
	Compacted    bool  `db:"compacted" json:"compacted,omitempty"`
	ContextUsed  int64 `db:"context_used" json:"context_used,omitempty"`
	ContextLimit int64 `db:"context_limit" json:"context_limit,omitempty"`
	// in a store relative to the tool's home
	File  string `db:"file TEXT" json:"file,omitempty"`
	Stamp Stamp  `db:"stamp TEXT" json:"-"` // as our last run left it
	// The files that the runs changed, as they left them.
	LeftFiles string `db:"left_files" json:"left_files,omitempty"`
	// the latest resumed rounds that were given the same
	Rounds   Rounds `db:"rounds" json:"rounds,omitzero"`
	Revision        // of the directory at the end of the latest run
}

// Context returns the used and the whole context.
func (s *SessionRecord) Context() rewrite.Context {
	return rewrite.Context{Used: s.ContextUsed, Limit: s.ContextLimit}
}

// CurrentModel returns the model that the session runs with, as the tool named it or else as it was
// requested, "" if it is not known.
func (s *SessionRecord) CurrentModel() string { return cmp.Or(s.FirstModel, s.Model) }

// Changes reports whether the session's runs change files, as far as is known. A session that only
// reads, as a reviewer's, makes the progress elsewhere.
func (s *SessionRecord) Changes() bool { return strings.Contains(s.LeftFiles, `"path":`) }

// ChainFacts are the facts about a chain and one of its sessions.
type ChainFacts struct {
	Chain      int64
	Newest     int64 // the chain's newest session
	Concurrent bool  // two calls of the chain have run at once
	Session    int64
	SessionRecord
	Held         bool // a live process holds the lease
	Shared       bool // a store decides on it, not this ledger
	Stored       StoredState
	forkAt       string // found by ForkPoint if it has changed
	Continuity   prompt.Continuity
	Share        float64  // the chain's fixed number from 0 to 1
	Evidence     Evidence // that the call continues it
	AnswerShared bool     // another session gave the same answer
	// later prompts have continued the first one differently: that is no job
	Preamble bool
	// Against finds the prompt's words against continuing the session, without others' answers.
	// It takes long; nil finds none.
	Against func() []prompt.Finding
	// Said finds whether the prompt says that the session's last run failed, and whether it adds a
	// rejection. It takes long; nil leaves both to Evidence.
	Said func() (failure, rejected bool)
	Base []prompt.Digest // of the blocks of the newest prompt

	// git's name of the directory's content after the latest run of another book's session, and a
	// digest of that directory on that machine.
	Tree, Directory string
}

// HasFirstPrompt reports whether the prompt has the session's first prompt.
func (c ChainFacts) HasFirstPrompt() bool {
	return c.Continuity.Relation == reason.Extends || c.Continuity.Relation == reason.Revises
}

// Shown returns the evidence with all facts.
func (c *ChainFacts) Shown() Evidence {
	e := c.Evidence
	if c.Said != nil {
		e.Failure, e.Rejected = c.Said()
	}
	return e
}

// QuotesLong reports whether the prompt shows, as the session's own, an answer that identifies it.
func (c *ChainFacts) QuotesLong() bool {
	e := &c.Continuity.Evidence
	return e.Own && e.Answer >= prompt.LongAnswer
}

// Limits are the bounds within which a session is resumed.
type Limits struct {
	TTL          Millis  // longest time idle
	MaxAge       Millis  // longest time since the session began
	ContextShare float64 // share of the context window that can be used up
	MinBase      int     // least bytes of an unnamed job's prompt, to be distinct from others
	MinEvident   int     // the same if there is evidence that the call continues it
	Unnamed      rewrite.Unnamed
	ResumeSame   bool    // an identical prompt resumes
	WholePrompt  bool    // never send a delta
	HoldOut      float64 // share of the chains that are never resumed, for comparison
	ResumeDearer bool    // resume even if it costs more
	Unrelated    bool    // under a name, another template goes on with the session
}

// nearlyFull is the part of the usable context where warnings begin.
const nearlyFull = 0.8

// NearlyFull reports whether the context of a session with a model is at or near the limit beyond
// which it is not resumed.
func (l Limits) NearlyFull(c rewrite.Context, model string) bool {
	return l.filled(c, model) >= nearlyFull
}

// unknownWindow is the context window, in tokens, that is assumed if neither the tool reports one
// nor the model has a known one.
const unknownWindow = 200_000

// Window returns the context window of a session with a model, in tokens. assumed reports that the
// tool did not report it.
func Window(c rewrite.Context, model string) (tokens int64, assumed bool) {
	if c.Limit != 0 {
		return c.Limit, false
	}
	return cmp.Or(models.Window(model), unknownWindow), true
}

// filled returns the used part of a session's usable context. 1 is the limit, 0 means that there is
// none.
func (l Limits) filled(c rewrite.Context, model string) float64 {
	window, _ := Window(c, model)
	if window <= 0 || l.ContextShare <= 0 {
		return 0
	}
	return float64(c.Used) / (l.ContextShare * float64(window))
}

// A Stamp identifies the state of a session after our last run: the file's size or, if the
// tool keeps it in a database, the values of the row. Equal stamps mean that it is unchanged.
type Stamp string

// FileStamp returns the stamp of a session that is a file.
func FileStamp(info fs.FileInfo) Stamp { return Stamp(strconv.FormatInt(info.Size(), 10)) }

// FileSize returns the size that a session's file had. It fails if the session was no file.
func (s Stamp) FileSize() (int64, error) {
	size, err := strconv.ParseUint(string(s), 10, 63)
	return int64(size), err
}
