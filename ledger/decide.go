package ledger

import (
	"slices"

	"reprise/rewrite"
)

// Millis is a point in time or a length of time in milliseconds; points count
// from the Unix epoch.
type Millis int64

// A State is what is known of a session.
type State string

// The states of a session.
const (
	Running State = "running" // its first or latest run has not ended
	Live    State = "live"    // its latest run ended well
	Failed  State = "failed"  // its latest run ended badly
	Killed  State = "killed"  // its latest run died by a signal
	Dead    State = "dead"    // it can not be resumed any more
)

// A FileState is what became of the file that the tool keeps a session in.
type FileState int

// The states of a session's file.
const (
	FileSame FileState = iota // as our last run left it
	FileGone
	FileChanged // somebody else has written to it
)

// Prints are the fingerprints that must be equal between a session and a call
// that resumes it.
type Prints struct {
	Model, Runtime string
	Settings       Digests // of what shapes a run, and of where and for whom it takes place
	Auth           Digests // of whose account it is
}

// Facts are all that a decision depends on.
type Facts struct {
	Now      Millis
	Disabled bool           // configuration switched resuming off
	Never    bool           // a rule has it stand alone
	Fresh    rewrite.Reason // why the caller or its rule wants a fresh session, "" if not
	NoResume bool           // the binary is known not to offer it
	Named    bool           // the task is named; otherwise continuity alone finds the chain
	Attempt  int            // what the caller counts its rounds by, rewrite.NoAttempt where it does not
	Prints   Prints
	Place    Place // where the call's directory is in its history
	Limits   Limits
	Meters   Meters // what runs of its rule, tool and model have cost
	// Chains are those that the call may belong to, the most recently used
	// first: with Named at most one, otherwise those that begin as the call's prompt does.
	Chains []ChainFacts
	More   bool // there are chains besides, beginning likewise, that nobody has looked at
	Others bool // the directory has chains, however they begin; known where Chains are none
}

// chain gives the facts about a chain that a decision names.
func (f *Facts) chain(id int64) *ChainFacts {
	return &f.Chains[slices.IndexFunc(f.Chains, func(c ChainFacts) bool { return c.Chain == id })]
}

// ChainFacts are the facts about one chain and its newest session.
type ChainFacts struct {
	Chain      int64
	Session    int64 // 0 where the chain has none
	NativeID   string
	State      State
	StateWhy   rewrite.Reason // why it is dead
	Held       bool           // a live process holds its lease
	Prints     Prints
	Place      Place  // where its latest run that ended has left the directory
	CommitGone bool   // Place.Head is no ancestor of the call's
	FirstModel string // the model that the tool named when the session began, "" if it is not known
	Version    string // of the tool in its latest run, likewise
	File       FileState
	Created    Millis
	LastUsed   Millis
	Errors     int
	Context    rewrite.Context
	Compacted  bool // the tool has shortened its history
	BaseBytes  int
	Continuity rewrite.Continuity
	Attempt    int     // of its latest call, or rewrite.NoAttempt
	Reset      bool    // another role's answer, or its own, has ended it
	Share      float64 // where the chain stands among all, from 0 to 1
	Source     Source  // of a session that is held, where the call may fork it
}

// A Source is what a session that is held can be forked from: itself, as our last
// run that ended left it, or while its first run is under way the one that it is a
// copy of. What the session was sent and has answered is what the source holds.
type Source struct {
	Session  int64
	NativeID string
	Size     int64          // of its file, as far as it counts
	Message  string         // the last one there, "" where it can not be forked
	Why      rewrite.Reason // it can not be forked; "" where nobody asked for that
	file     string
}

// Unnamed is what a call without a name needs to be resumed.
type Unnamed string

// What it may need.
const (
	UnnamedEvidence Unnamed = "evidence" // evidence that it goes on with the session's own work
	UnnamedExtends  Unnamed = "extends"  // that its prompt repeats all that the session was sent and adds something
	UnnamedOff      Unnamed = "off"      // a name: it is never resumed
)

// Limits are the bounds within which a session is resumed.
type Limits struct {
	TTL           Millis  // longest time idle
	MaxAge        Millis  // longest time since the session began
	ErrorLimit    int     // failed runs a session may have had; 0 for no limit
	ContextShare  float64 // share of the context window that may be used up
	MinBase       int     // bytes that an unnamed job's prompt must have, to be told from others
	MinEvident    int     // the same where there is evidence that the call goes on with it
	Unnamed       Unnamed // what an unnamed call needs to be resumed
	ResumeSame    bool    // an identical prompt resumes
	WholePrompt   bool    // never send a delta
	UnknownWindow int64   // context window assumed where the tool does not tell, in tokens
	HoldOut       float64 // share of the chains that are never resumed, to compare with
	ResumeDearer  bool    // resume also where that costs more
}

// A Decision is what becomes of a call: its mode, and the chain it belongs to.
type Decision struct {
	Mode    rewrite.Mode
	Reason  rewrite.Reason
	Detail  rewrite.Reason // more on the reason: why a session is dead
	Changed []string       // names of what has changed, where Reason says that something has
	Chain   int64          // 0 to begin a new chain
	Session int64          // the session to resume, where Mode is Resume, or to copy, where it is Fork
	// NativeID and Continuity say what to resume or to copy, and what it has been sent.
	NativeID   string
	Model      string // the model that it began with, "" if it is not known
	Version    string // of the tool in its latest run, likewise
	ForkAt     string // the last message that the copy keeps, where Mode is Fork
	Continuity rewrite.Continuity
	Whole      bool // send the whole prompt, whatever could be left out
	// Prices are why the reason is dearer.
	Prices Prices
	// Context is how full the chain's session is, NearlyFull that it is about to be
	// given up for that.
	Context    rewrite.Context
	NearlyFull bool
}

// Decide says whether a call is resumed. It is a pure function: equal facts give
// equal decisions, and time counts only through Limits. Whatever is not provably
// a continuation is fresh.
func Decide(f Facts) Decision {
	if f.Never {
		return Decision{Mode: rewrite.Fresh, Reason: rewrite.Never}
	}
	chain, reason := choose(f)
	d := Decision{Mode: rewrite.Fresh, Reason: reason}
	if chain == nil {
		return d
	}
	d.Chain, d.Context, d.NearlyFull = chain.Chain, chain.Context, f.Limits.NearlyFull(chain.Context)
	if d.Reason != "" {
		return d
	}
	if d.Reason, d.Detail = blocked(f, chain); d.Reason != "" {
		if reason, names := whatChanged(f, chain); reason == d.Reason {
			d.Changed = names
		}
		return d
	}
	if d.Prices, d.Reason = dearer(f); d.Reason != "" {
		return d
	}
	if chain.Share < f.Limits.HoldOut { // late: only what would be resumed can be compared
		d.Reason = rewrite.HeldOut
		return d
	}
	switch source := chain.Source; {
	case !chain.Held:
		d.Mode, d.Session, d.NativeID = rewrite.Resume, chain.Session, chain.NativeID
	case source.Message != "":
		d.Mode, d.Session, d.NativeID, d.ForkAt = rewrite.Fork, source.Session, source.NativeID, source.Message
	default: // after all others: they would not go away with waiting
		d.Reason, d.Detail = rewrite.Leased, source.Why
		return d
	}
	d.Reason, d.Continuity = chain.Continuity.Relation, chain.Continuity
	d.Model, d.Version = chain.FirstModel, chain.Version
	d.Whole = f.Limits.WholePrompt || chain.Compacted
	return d
}

// choose finds the chain of a call. A reason that comes with it is why the call
// is fresh all the same; a nil chain stands for a new one.
func choose(f Facts) (*ChainFacts, rewrite.Reason) {
	chain, reason := chooseNamed(f)
	if !f.Named {
		chain, reason = chooseUnnamed(f)
	}
	switch {
	case f.Disabled:
		reason = rewrite.Disabled
	case f.Fresh != "":
		reason = f.Fresh
	case chain == nil || chain.Session == 0:
	case chain.Reset:
		reason = rewrite.ContextReset
	case f.Attempt != rewrite.NoAttempt && f.Attempt < chain.Attempt:
		reason = rewrite.AttemptReset
	}
	return chain, reason
}

// chooseNamed judges the prompt where the task is known to be the same: then any
// prompt continues it, but one that is repeated, one that shows another history,
// and one that only takes back what was said before.
func chooseNamed(f Facts) (*ChainFacts, rewrite.Reason) {
	if len(f.Chains) == 0 {
		return nil, rewrite.FirstCall
	}
	c := &f.Chains[0]
	switch r := c.Continuity.Relation; {
	case c.Session == 0:
		return c, rewrite.FirstCall
	case r == rewrite.Identical && f.Limits.ResumeSame:
		return c, ""
	case r == rewrite.Identical, r == rewrite.HistoryEdited, r == rewrite.BaseChanged:
		return c, r
	}
	return c, ""
}

// chooseUnnamed finds the chain by continuity alone: the one whose session was sent nothing that this prompt does not
// say again, and whose work it goes on with.
func chooseUnnamed(f Facts) (*ChainFacts, rewrite.Reason) {
	some := func(r rewrite.Reason) bool {
		return slices.ContainsFunc(f.Chains, func(c ChainFacts) bool { return c.Session != 0 && c.Continuity.Relation == r })
	}
	if at := fitting(f.Chains, f.Limits); at >= 0 {
		switch c := &f.Chains[at]; {
		case c.Continuity.Relation == rewrite.Identical:
			return chooseIdentical(f, c)
		case f.Limits.Unnamed == UnnamedOff:
			return nil, rewrite.UnnamedOff
		case f.More:
			return nil, rewrite.Ambiguous
		case c.BaseBytes < f.Limits.minBase():
			return nil, rewrite.BaseTooSmall
		case !f.Limits.goesOn(c):
			return nil, c.Continuity.Evidence.Verdict
		default:
			return c, ""
		}
	}
	switch {
	case some(rewrite.Extends):
		return nil, rewrite.Ambiguous
	case some(rewrite.HistoryEdited):
		return nil, rewrite.HistoryEdited
	case len(f.Chains) > 0, f.Others:
		return nil, rewrite.BaseChanged
	}
	return nil, rewrite.FirstCall
}

func (l Limits) minBase() int {
	if l.Unnamed == UnnamedExtends {
		return l.MinBase
	}
	return l.MinEvident
}

// goesOn reports whether the evidence suffices for a call that extends the chain's prompt. A history that was edited is
// no matter of evidence.
func (l Limits) goesOn(c *ChainFacts) bool {
	verdict := c.Continuity.Evidence.Verdict
	return verdict == "" || l.Unnamed == UnnamedExtends && verdict != rewrite.HistoryEdited
}

// fitting returns the place of the one chain that an unnamed call may belong to, -1 where there is none. Of those that the
// prompt goes on with it is the only one, or the only one whose newest answer it shows; else the newest whose session was sent the
// same prompt; else the newest that the prompt extends without going on with it.
func fitting(chains []ChainFacts, l Limits) int {
	going, shown, identical, extended, rivals := []int{}, []int{}, -1, -1, 0
	for i := range chains {
		c := &chains[i]
		switch {
		case c.Session == 0:
		case c.Continuity.Relation == rewrite.Identical && identical < 0:
			identical = i
		case c.Continuity.Relation == rewrite.Extends && l.goesOn(c):
			going = append(going, i)
			if c.Continuity.Evidence.Answer {
				shown = append(shown, i)
			}
		default:
			if c.Continuity.Evidence.Answer {
				rivals++ // it gave the same answer, and may be the one that is meant
			}
			if c.Continuity.Relation == rewrite.Extends && extended < 0 {
				extended = i
			}
		}
	}
	switch {
	case len(going) > 0 && rivals > 0:
		return -1
	case len(shown) == 1:
		return shown[0]
	case len(going) == 1:
		return going[0]
	case len(going) > 1:
		return -1
	case identical >= 0:
		return identical
	}
	return extended
}

// chooseIdentical: the same prompt again is a loop or a sample and gets a chain
// of its own, unless the earlier run left nothing to go on with: then it is a
// retry, and takes that run's place.
func chooseIdentical(f Facts, c *ChainFacts) (*ChainFacts, rewrite.Reason) {
	switch {
	case f.Fresh != "", c.State != Live && !c.Held:
		return c, rewrite.Identical
	case f.Limits.ResumeSame && c.BaseBytes >= f.Limits.MinBase:
		return c, ""
	}
	return nil, rewrite.Identical
}

// guards are the reasons for which a call that continues its chain is fresh all
// the same.
var guards = map[rewrite.Reason]bool{
	rewrite.Leased: true, rewrite.PreviousFailed: true, rewrite.PreviousKilled: true, rewrite.PreviousUnknown: true,
	rewrite.SessionDead: true, rewrite.NoResume: true, rewrite.ModelChanged: true, rewrite.SettingsChanged: true,
	rewrite.RuntimeChanged: true, rewrite.AuthChanged: true, rewrite.Idle: true, rewrite.TooOld: true,
	rewrite.ErrorLimit: true, rewrite.ContextFull: true, rewrite.SessionGone: true, rewrite.SessionMoved: true,
	rewrite.Dearer: true, rewrite.HeldOut: true, rewrite.InstructionsChanged: true, rewrite.DirectoryReplaced: true,
	rewrite.BranchChanged: true, rewrite.CommitGone: true, rewrite.JobChanged: true, rewrite.UserChanged: true,
}

// dearer says whether resuming has cost more than not to, and by what figures.
func dearer(f Facts) (Prices, rewrite.Reason) {
	p, ok := f.Meters.Prices(f.Now)
	if ok && p.Suspended(f.Now) && !f.Limits.ResumeDearer {
		return p, rewrite.Dearer
	}
	return Prices{}, ""
}

// clockSlack is how much later than now a session may have been used: another call
// can have ended while this one was getting there.
const clockSlack Millis = 2000

// blocked says what speaks against resuming the chain's session.
func blocked(f Facts, c *ChainFacts) (reason, detail rewrite.Reason) {
	if reason = stateReason(c); reason != "" && !c.Held {
		return reason, c.StateWhy
	}
	idle, age := f.Now-c.LastUsed, f.Now-c.Created
	if f.NoResume {
		return rewrite.NoResume, ""
	}
	if reason, _ := whatChanged(f, c); reason != "" {
		return reason, ""
	}
	switch {
	case min(idle, age) < -clockSlack || idle > f.Limits.TTL: // a clock that was set back proves nothing
		return rewrite.Idle, ""
	case age > f.Limits.MaxAge:
		return rewrite.TooOld, ""
	case f.Limits.ErrorLimit > 0 && c.Errors >= f.Limits.ErrorLimit:
		return rewrite.ErrorLimit, ""
	case contextFull(c.Context, f.Limits):
		return rewrite.ContextFull, ""
	case c.Held: // its file is not as we left it
	case c.File == FileGone:
		return rewrite.SessionGone, ""
	case c.File == FileChanged:
		return rewrite.SessionMoved, ""
	}
	return "", ""
}

func stateReason(c *ChainFacts) rewrite.Reason {
	switch {
	case c.State == Live && c.NativeID != "":
		return ""
	case c.State == Failed:
		return rewrite.PreviousFailed
	case c.State == Killed:
		return rewrite.PreviousKilled
	case c.State == Dead:
		return rewrite.SessionDead
	}
	return rewrite.PreviousUnknown
}

func contextFull(c rewrite.Context, l Limits) bool { return l.filled(c) > 1 }

// nearlyFull is the part of what a session may use of its context from which on
// people are warned.
const nearlyFull = 0.8

// NearlyFull tells whether a session is soon not resumed any more because of its
// context, or already is not.
func (l Limits) NearlyFull(c rewrite.Context) bool { return l.filled(c) >= nearlyFull }

// filled is how much a session has used of what it may use of its context: 1 is
// the limit, 0 stands for none.
func (l Limits) filled(c rewrite.Context) float64 {
	window := c.Limit
	if window == 0 {
		window = l.UnknownWindow
	}
	if window <= 0 || l.ContextShare <= 0 {
		return 0
	}
	return float64(c.Used) / (l.ContextShare * float64(window))
}
