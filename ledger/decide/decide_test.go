package decide

import (
	"slices"
	"testing"

	"reprise/rewrite"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
)

const (
	minute Millis = 60_000
	hour          = 60 * minute
)

// goodFacts is a call that is resumed, unless one fact is changed.
func goodFacts() Facts {
	p := Fingerprints{Settings: "s", Model: "m", Runtime: "r", Auth: "a"}
	return Facts{
		Request: Request{Now: 100 * hour, Fingerprints: p,
			Limits: Limits{TTL: 30 * minute, MaxAge: 24 * hour,
				ContextShare: 0.8, MinBase: 200, MinEvident: 24},
			History: func(string) error { return nil }},
		Chains: []ChainFacts{{
			Chain: 7, Session: 8,
			SessionRecord: SessionRecord{NativeID: "id", State: Live, Fingerprints: p,
				Created: 99 * hour, LastUsed: 100*hour - minute, BaseBytes: 300},
			Continuity: prompt.Continuity{Relation: reason.Extends, BeginsAlike: true},
			Evidence:   Evidence{Transcript: true},
		}},
	}
}

// forkPoint finds the last message of any file.
func forkPoint(string, Stamp) (string, reason.Code) { return "last", "" }

// hit has two resumes find their session in the cache, and cost so much.
func hit(runs []Run, input int64) {
	for i := range 2 {
		runs[i].Missed, runs[i].Usage.Input = false, input
	}
}

// A decision is a row of TestDecide.
type decision struct {
	name   string
	change func(*Facts)
	mode   rewrite.Mode
	reason reason.Code
	chain  int64
}

func TestDecide(t *testing.T) {
	for _, tt := range decisions() {
		f := goodFacts()
		tt.change(&f)
		d := Decide(f)
		if d.Mode != tt.mode || d.Reason != tt.reason || d.Chain != tt.chain {
			t.Errorf("%s: %s (%s) in chain %d, want %s (%s) in chain %d", tt.name, d.Mode, d.Reason,
				d.Chain, tt.mode, tt.reason, tt.chain)
		}
		if d.Mode.Continues() != (d.NativeID != "") ||
			(d.Mode == rewrite.Fork) != (d.ForkAt != "") ||
			d.Copy != (f.Copies && d.Mode.Continues()) {
			t.Errorf("%s: %s with session %q at %q", tt.name, d.Mode, d.NativeID, d.ForkAt)
		}
		if (d.Reason == reason.Dearer) != (d.Prices != Prices{}) {
			t.Errorf("%s: %s with prices %+v", tt.name, d.Reason, d.Prices)
		}
	}
}

func decisions() []decision {
	requested := func(model string, used int64) func(*Facts) {
		return func(f *Facts) {
			f.Fingerprints.Model, f.Chains[0].Fingerprints.Model, f.Chains[0].ContextUsed = model,
				model, used
		}
	}
	related := func(r reason.Code) func(*Facts) {
		return first(func(c *ChainFacts) { c.Continuity.Relation = r })
	}
	attempts := func(call, session int) func(*Facts) {
		return func(f *Facts) { f.Attempt, f.Chains[0].Attempt = call, &session }
	}
	named := func(change func(*Facts)) func(*Facts) {
		return func(f *Facts) { f.Named = true; change(f) }
	}
	copies := func(change func(*ChainFacts)) func(*Facts) {
		return func(f *Facts) { f.Copies, f.ForkPoint = true, forkPoint; change(&f.Chains[0]) }
	}
	moved := func(change func(*Facts)) func(*Facts) {
		return func(f *Facts) {
			copies(func(c *ChainFacts) { c.Stored = StoredChanged })(f)
			change(f)
		}
	}
	changed := func(reasons ...reason.Code) func(*Facts) {
		return func(f *Facts) {
			var list []NamedDigest
			for _, r := range reasons {
				list = append(list, NamedDigest{r, "name", "digest"})
			}
			f.Fingerprints.Settings = NewDigests(list)
			f.Chains[0].Fingerprints.Settings = ""
		}
	}
	stuckOn := func(given, tree string, change func(*ChainFacts)) func(*Facts) {
		return func(f *Facts) {
			f.Given = func(prompt.Continuity) string { return given }
			f.Tree = func() string { return tree }
			c := &f.Chains[0]
			c.Rounds, c.LeftFiles = Rounds{2, "given", "tree"}, `[{"path":"a file"}]`
			change(c)
		}
	}
	stuck := func(change func(*ChainFacts)) func(*Facts) {
		return stuckOn("given", "tree", change)
	}
	since := func(history error) func(*Facts) {
		return func(f *Facts) {
			f.Chains[0].Revision.Head = "before"
			f.History = func(string) error { return history }
		}
	}
	gone := func(f *Facts) {
		f.WorkGone = func(string, string) bool { return true }
		f.Chains[0].LeftFiles = `[{"path":"a file"}]`
	}
	past := func(change func(runs []Run)) func(*Facts) {
		return func(f *Facts) {
			c := &f.Chains[0]
			c.LastUsed, c.ContextUsed = f.Now-BriefIdle, 50
			resume := Run{Side: Resumed, Began: f.Now - BriefIdle, Idle: BriefIdle, HeldTokens: 50,
				Missed: true, Usage: rewrite.Usage{Input: 101}}
			runs := []Run{resume, resume, {Side: FirstRun, Usage: rewrite.Usage{Input: 100}}}
			change(runs)
			f.Past = func(*ChainFacts) []Run { return runs }
		}
	}
	learned := func(change func(runs []Run)) func(*Facts) {
		return func(f *Facts) {
			past(change)(f)
			runs := f.Past(nil)
			f.Learned = func() []Run { return runs }
			f.Past = func(*ChainFacts) []Run { return runs[2:] }
		}
	}
	return []decision{
		{"continued", func(*Facts) {}, rewrite.Resume, reason.Extends, 7},
		{"no chain", func(f *Facts) { f.Chains = nil }, rewrite.Fresh, reason.FirstCall, 0},
		{"recorded by another version", func(f *Facts) { f.Chains, f.Unseen = nil, reason.Updated },
			rewrite.Fresh, reason.Updated, 0},
		{"recorded by another version, named, of another role",
			func(f *Facts) { f.Chains, f.Unseen, f.Named, f.Others = nil, reason.Updated, true, true }, rewrite.Fresh, reason.Updated, 0},
		{"one recorded by another version, and one that goes on",
			func(f *Facts) { f.Unseen = reason.Updated }, rewrite.Resume, reason.Extends, 7},
		{"no chain that begins alike", func(f *Facts) { f.Chains, f.Others = nil, true },
			rewrite.Fresh, reason.NewJob, 0},
		{"asked to be fresh", func(f *Facts) { f.Fresh = reason.ForcedFresh }, rewrite.Fresh,
			reason.ForcedFresh, 7},
		{"binary cannot", func(f *Facts) { f.NoResume = true }, rewrite.Fresh, reason.NoResume, 7},
		{"never", func(f *Facts) { f.Never = true }, rewrite.Fresh, reason.Never, 0},
		{"a hook of the start", func(f *Facts) { f.HookSet = true }, rewrite.Fresh,
			reason.HookSetting, 7},
		{"never, whatever else",
			func(f *Facts) { f.Never, f.Named, f.Fresh = true, true, reason.ForcedFresh },
			rewrite.Fresh, reason.Never, 0},
		{"prompt ends the chain", func(f *Facts) { f.Fresh = reason.ContextReset }, rewrite.Fresh,
			reason.ContextReset, 7},
		{"answer ended the chain", first(func(c *ChainFacts) { c.Reset = true }), rewrite.Fresh,
			reason.ContextReset, 7},
		{"attempt goes up", attempts(2, 1), rewrite.Resume, reason.Extends, 7},
		{"attempt stays", attempts(1, 1), rewrite.Resume, reason.Extends, 7},
		{"attempt goes down", attempts(0, 1), rewrite.Fresh, reason.AttemptReset, 7},
		{"attempt not told", attempts(rewrite.NoAttempt, 1), rewrite.Resume, reason.Extends, 7},
		{"attempt not told before", attempts(0, rewrite.NoAttempt), rewrite.Resume,
			reason.Extends, 7},
		{"held out", func(f *Facts) { f.Limits.HoldOut, f.Chains[0].Share = 0.5, 0.4 },
			rewrite.Fresh, reason.HeldOut, 7},
		{"not held out", func(f *Facts) { f.Limits.HoldOut, f.Chains[0].Share = 0.5, 0.5 },
			rewrite.Resume, reason.Extends, 7},
		{"all held out", func(f *Facts) { f.Limits.HoldOut, f.Chains[0].Share = 1, 0.999 },
			rewrite.Fresh, reason.HeldOut, 7},
		{"held out, but idle", func(f *Facts) { f.Limits.HoldOut, f.Chains[0].LastUsed = 1, 0 },
			rewrite.Fresh, reason.Idle, 7},
		{"its own resumes missed and cost more", past(func([]Run) {}), rewrite.Fresh,
			reason.Dearer, 7},
		{"one of them cost no more", past(func(runs []Run) { runs[1].Usage.Input = 100 }),
			rewrite.Resume, reason.Extends, 7},
		{"one of them hit", past(func(runs []Run) { runs[1].Missed = false }), rewrite.Resume,
			reason.Extends, 7},
		{"both hit and cost markedly more", past(func(runs []Run) { hit(runs, 121) }),
			rewrite.Fresh, reason.Dearer, 7},
		{"both hit and cost hardly more", past(func(runs []Run) { hit(runs, 120) }), rewrite.Resume,
			reason.Extends, 7},
		{"both hit, of sessions that held more", past(func(runs []Run) {
			hit(runs, 121)
			runs[0].HeldTokens, runs[1].HeldTokens = 60, 60
		}), rewrite.Fresh, reason.Dearer, 7},
		{"an hour that was asked for still lasts", past(func(runs []Run) { runs[0].Hour = true }),
			rewrite.Resume, reason.Extends, 7},
		{"one of them came after a longer pause",
			past(func(runs []Run) { runs[1].Idle = HourIdle }), rewrite.Resume, reason.Extends, 7},
		{"both missed without a pause",
			past(func(runs []Run) { runs[0].Idle, runs[1].Idle = 0, 0 }), rewrite.Fresh,
			reason.Dearer, 7},
		{"they held more",
			past(func(runs []Run) { runs[0].HeldTokens, runs[1].HeldTokens = 60, 60 }),
			rewrite.Resume, reason.Extends, 7},
		{"only one of them", past(func(runs []Run) { runs[1].Side = Unmeasured }), rewrite.Resume,
			reason.Extends, 7},
		{"they cost more, of another model", past(func(runs []Run) { runs[0].Model = "n" }),
			rewrite.Resume, reason.Extends, 7},
		{"no fresh run since", past(func(runs []Run) { runs[2].Side = Unmeasured }), rewrite.Resume,
			reason.Extends, 7},
		{"they cost more tokens, but less money", past(func(runs []Run) {
			for i := range runs {
				runs[i].Usage.CostNano, runs[i].Usage.CostKnown = 7, true
			}
		}), rewrite.Resume, reason.Extends, 7},
		{"its own resumes cost more, long ago",
			past(func(runs []Run) { runs[0].Began = 100*hour - DearerPause }), rewrite.Resume,
			reason.Extends, 7},
		{"its own resumes cost more, just before they are tried again",
			past(func(runs []Run) { runs[0].Began = 100*hour - DearerPause + 1 }), rewrite.Fresh,
			reason.Dearer, 7},
		{"its own resumes cost more, by a clock that was ahead",
			past(func(runs []Run) { runs[0].Began = 100*hour + DearerPause }), rewrite.Resume,
			reason.Extends, 7},
		{"its own resumes cost more, and it is held out", func(f *Facts) {
			past(func([]Run) {})(f)
			f.Limits.HoldOut = 1
		}, rewrite.Fresh, reason.Dearer, 7},
		{"its own resumes cost more, and it is idle", func(f *Facts) {
			past(func([]Run) {})(f)
			f.Chains[0].LastUsed = 0
		}, rewrite.Fresh, reason.Idle, 7},
		{"another chain's resumes missed and cost more", learned(func([]Run) {}), rewrite.Fresh,
			reason.Dearer, 7},
		{"another chain's resumes missed and cost no more",
			learned(func(runs []Run) { runs[1].Usage.Input = 100 }), rewrite.Resume, reason.Extends,
			7},
		{"another chain's resumes hit and cost more", learned(func(runs []Run) { hit(runs, 500) }),
			rewrite.Resume, reason.Extends, 7},
		{"another chain's resumes cost more, its own do not", func(f *Facts) {
			past(func([]Run) {})(f)
			runs := slices.Clone(f.Past(nil))
			f.Learned = func() []Run { return runs }
			f.Past(nil)[0].Usage.Input = 1
		}, rewrite.Resume, reason.Extends, 7},
		{"its own resumes cost more, and are wanted", func(f *Facts) {
			past(func([]Run) {})(f)
			f.Limits.ResumeDearer = true
		}, rewrite.Resume, reason.Extends, 7},
		{"other model", func(f *Facts) { f.Fingerprints.Model = "n" }, rewrite.Fresh,
			reason.ModelChanged, 7},
		{"other settings", func(f *Facts) { f.Fingerprints.Settings = "t" }, rewrite.Fresh,
			reason.SettingsChanged, 7},
		{"other binary", func(f *Facts) { f.Fingerprints.Runtime = "q" }, rewrite.Fresh,
			reason.RuntimeChanged, 7},
		{"other login", func(f *Facts) { f.Fingerprints.Auth = "b" }, rewrite.Fresh,
			reason.AuthChanged, 7},
		{"other instructions", changed(reason.InstructionsChanged), rewrite.Fresh,
			reason.InstructionsChanged, 7},
		{"other directory", changed(reason.DirectoryReplaced), rewrite.Fresh,
			reason.DirectoryReplaced, 7},
		{"other user", changed(reason.UserChanged), rewrite.Fresh, reason.UserChanged, 7},
		{"other job", changed(reason.JobChanged), rewrite.Fresh, reason.JobChanged, 7},
		{"other instructions and another directory", changed(reason.InstructionsChanged,
			reason.DirectoryReplaced), rewrite.Fresh, reason.DirectoryReplaced, 7},
		{"other repository", func(f *Facts) { f.Revision.Repository = "x" }, rewrite.Fresh,
			reason.DirectoryReplaced, 7},
		{"other branch", func(f *Facts) { f.Revision.Branch = "x" }, rewrite.Fresh,
			reason.BranchChanged, 7},
		{"more commits", since(nil), rewrite.Resume, reason.Extends, 7},
		{"the first commit", func(f *Facts) { f.Revision.Head = "x" }, rewrite.Resume,
			reason.Extends, 7},
		{"commits taken back", since(reason.CommitGone), rewrite.Fresh, reason.CommitGone, 7},
		{"git is silent", since(reason.CommitUnknown), rewrite.Fresh, reason.CommitUnknown, 7},
		{"a checkout without the work of another machine",
			func(f *Facts) { f.Checkout = func(string, string) bool { return false } },
			rewrite.Fresh, reason.CheckoutDiffers, 7},
		{"a session that only the store has", first(func(c *ChainFacts) { c.Shared = true }),
			rewrite.Fresh, reason.StoreUnavailable, 7},
		{"work thrown away", gone, rewrite.Fresh, reason.WorkGone, 7},
		{"no progress", stuck(func(*ChainFacts) {}), rewrite.Fresh, reason.NoProgress, 7},
		{"no progress, of a named job", named(stuck(func(*ChainFacts) {})), rewrite.Fresh,
			reason.NoProgress, 7},
		{"no progress, in one round", stuck(func(c *ChainFacts) { c.Rounds.Count = 1 }),
			rewrite.Resume, reason.Extends, 7},
		{"no progress, but something else is added",
			stuckOn("more", "tree", func(*ChainFacts) {}), rewrite.Resume, reason.Extends, 7},
		{"no progress, but no run changes files",
			stuck(func(c *ChainFacts) { c.LeftFiles = `[{"run":{}}]` }), rewrite.Resume,
			reason.Extends, 7},
		{"files have changed", stuckOn("given", "other", func(*ChainFacts) {}), rewrite.Resume,
			reason.Extends, 7},
		{"whether files have changed is not known", stuckOn("given", "", func(*ChainFacts) {}),
			rewrite.Resume, reason.Extends, 7},
		{"nor was it before", stuckOn("given", "", func(c *ChainFacts) { c.Rounds.Tree = "" }),
			rewrite.Resume, reason.Extends, 7},
		{"no progress, up to the limit of turns",
			named(stuck(func(c *ChainFacts) { c.StateWhy = reason.TurnLimit })), rewrite.Resume,
			reason.Extends, 7},
		{"no progress, and idle", stuck(func(c *ChainFacts) { c.LastUsed = 0 }), rewrite.Fresh,
			reason.Idle, 7},
		{"no progress, and held out", func(f *Facts) {
			stuck(func(*ChainFacts) {})(f)
			f.Limits.HoldOut = 1
		}, rewrite.Fresh, reason.HeldOut, 7},
		{"work thrown away, of a named job", named(gone), rewrite.Fresh, reason.WorkGone, 7},
		{"copied, and another branch", copies(func(*ChainFacts) {}), rewrite.Resume,
			reason.Extends, 7},
		{"to be copied, but another branch",
			func(f *Facts) { copies(func(*ChainFacts) {})(f); f.Revision.Branch = "x" },
			rewrite.Fresh, reason.BranchChanged, 7},

		{"just in time", first(func(c *ChainFacts) { c.LastUsed = 100*hour - 30*minute }),
			rewrite.Resume, reason.Extends, 7},
		{"idle", first(func(c *ChainFacts) { c.LastUsed = 100*hour - 30*minute - 1 }),
			rewrite.Fresh, reason.Idle, 7},
		{"clock set back", first(func(c *ChainFacts) { c.LastUsed = 101 * hour }), rewrite.Fresh,
			reason.Idle, 7},
		{"used a moment later than now",
			first(func(c *ChainFacts) { c.LastUsed = 100*hour + clockSlack }), rewrite.Resume,
			reason.Extends, 7},
		{"used later than that",
			first(func(c *ChainFacts) { c.LastUsed = 100*hour + clockSlack + 1 }), rewrite.Fresh,
			reason.Idle, 7},
		{"not too old", first(func(c *ChainFacts) { c.Created = 76 * hour }), rewrite.Resume,
			reason.Extends, 7},
		{"too old", first(func(c *ChainFacts) { c.Created = 76*hour - 1 }), rewrite.Fresh,
			reason.TooOld, 7},
		{"errors", first(func(c *ChainFacts) { c.Errors = 3 }), rewrite.Fresh,
			reason.ErrorLimit, 7},
		{"fewer errors", first(func(c *ChainFacts) { c.Errors = 2 }), rewrite.Resume,
			reason.Extends, 7},
		{"a window of one token",
			first(func(c *ChainFacts) { c.ContextUsed, c.ContextLimit = 2, 1 }), rewrite.Fresh,
			reason.ContextFull, 7},
		{"no share of the window",
			func(f *Facts) { f.Limits.ContextShare, f.Chains[0].ContextUsed = 0, 1<<40 },
			rewrite.Resume, reason.Extends, 7},
		{"full", first(func(c *ChainFacts) { c.ContextUsed, c.ContextLimit = 81, 100 }),
			rewrite.Fresh, reason.ContextFull, 7},
		{"nearly full", first(func(c *ChainFacts) { c.ContextUsed, c.ContextLimit = 80, 100 }),
			rewrite.Resume, reason.Extends, 7},
		{"room in the model's window",
			first(func(c *ChainFacts) { c.ContextUsed, c.FirstModel = 800_000, "gemini-2.5-pro" }),
			rewrite.Resume, reason.Extends, 7},
		{"the model's window is full",
			first(func(c *ChainFacts) { c.ContextUsed, c.FirstModel = 900_000, "gemini-2.5-pro" }),
			rewrite.Fresh, reason.ContextFull, 7},
		{"room in the requested model's window", requested("gemini-2.5-pro", 800_000),
			rewrite.Resume, reason.Extends, 7},
		{"another model answers than was requested", func(f *Facts) {
			requested("gemini-2.5-pro", 200_000)(f)
			f.Chains[0].FirstModel = "codestral-2508"
		}, rewrite.Fresh, reason.ContextFull, 7},
		{"the tool reports less than the model has",
			first(func(c *ChainFacts) {
				c.ContextUsed, c.ContextLimit, c.FirstModel = 90, 100, "gemini-2.5-pro"
			}), rewrite.Fresh, reason.ContextFull, 7},
		{"full, as far as is known", first(func(c *ChainFacts) { c.ContextUsed = 170_000 }),
			rewrite.Fresh, reason.ContextFull, 7},
		{"file gone", first(func(c *ChainFacts) { c.Stored = StoredGone }), rewrite.Fresh,
			reason.SessionGone, 7},
		{"file changed", first(func(c *ChainFacts) { c.Stored = StoredChanged }), rewrite.Fresh,
			reason.SessionMoved, 7},
		{"the caller's own", first(func(c *ChainFacts) { c.CallersOwn = true }), rewrite.Fresh,
			reason.CallersOwn, 7},
		{"the caller's own, copied",
			func(f *Facts) { f.Copies, f.Chains[0].CallersOwn = true, true }, rewrite.Resume,
			reason.Extends, 7},
		{"held", first(func(c *ChainFacts) { c.Held = true }), rewrite.Fresh, reason.Leased, 7},
		{"copied", copies(func(*ChainFacts) {}), rewrite.Resume, reason.Extends, 7},
		{"copied, but in its first run",
			copies(func(c *ChainFacts) { c.State, c.Held = Running, true }), rewrite.Fresh,
			reason.Leased, 7},
		{"copied, but it ended unseen", copies(func(c *ChainFacts) { c.State = Running }),
			rewrite.Fresh, reason.PreviousKilled, 7},
		{"used by somebody, and to be cut", moved(func(*Facts) {}), rewrite.Fork,
			reason.Extends, 7},
		{"used by somebody, no message to end with",
			moved(func(f *Facts) {
				f.ForkPoint = func(string, Stamp) (string, reason.Code) { return "", "" }
			}), rewrite.Fresh, reason.SessionMoved, 7},
		{"used by somebody, and left alone", moved(func(f *Facts) { f.ForkPoint = nil }),
			rewrite.Fresh, reason.SessionMoved, 7},
		{"used by somebody, but idle", moved(func(f *Facts) { f.Chains[0].LastUsed = 0 }),
			rewrite.Fresh, reason.Idle, 7},
		{"used by somebody, but full", moved(func(f *Facts) { f.Chains[0].ContextUsed = 170_000 }),
			rewrite.Fresh, reason.ContextFull, 7},
		{"used by somebody, but another model",
			moved(func(f *Facts) { f.Fingerprints.Model = "n" }), rewrite.Fresh,
			reason.ModelChanged, 7},
		{"used by somebody, but held out", moved(func(f *Facts) { f.Limits.HoldOut = 1 }),
			rewrite.Fresh, reason.HeldOut, 7},
		{"used by somebody, but ended", moved(func(f *Facts) { f.Chains[0].Reset = true }),
			rewrite.Fresh, reason.ContextReset, 7},
		{"used by somebody, but identical",
			moved(func(f *Facts) { f.Chains[0].Continuity.Relation = reason.Identical }),
			rewrite.Fresh, reason.Identical, 0},
		{"failed", first(func(c *ChainFacts) { c.State = Failed }), rewrite.Fresh,
			reason.PreviousFailed, 7},
		{"a task was left", first(func(c *ChainFacts) { c.StateWhy = reason.BackgroundLeft }),
			rewrite.Fresh, reason.BackgroundLeft, 7},
		{"its output was not understood",
			first(func(c *ChainFacts) { c.State, c.StateWhy = Failed, reason.Unread }),
			rewrite.Fresh, reason.Unread, 7},
		{"stopped at its turns", limited(Evidence{Trace: true, Caller: "loop"}), rewrite.Fresh,
			reason.NoEvidence, 0},
		{"stopped at its turns, and to go on", limited(Evidence{Work: true, Caller: "loop"}),
			rewrite.Resume, reason.Extends, 7},
		{"stopped at its turns, no evidence", limited(Evidence{}), rewrite.Fresh,
			reason.NoEvidence, 0},
		{"stopped at its turns, no evidence asked for",
			both(unnamed(rewrite.UnnamedExtends), limited(Evidence{})), rewrite.Resume,
			reason.Extends, 7},
		{"stopped at its turns, and again", both(related(reason.Identical), limited(Evidence{})),
			rewrite.Fresh, reason.Identical, 7},
		{"stopped at its turns, named, extends", named(limited(Evidence{})), rewrite.Resume,
			reason.Extends, 7},
		{"stopped at its turns, named", named(both(related(reason.Revises), limited(Evidence{}))),
			rewrite.Resume, reason.Revises, 7},
		{"killed", first(func(c *ChainFacts) { c.State = Killed }), rewrite.Fresh,
			reason.PreviousKilled, 7},
		{"a copy of it failed, perhaps because of it",
			copies(func(c *ChainFacts) { c.StateWhy = reason.Unexplained }), rewrite.Fresh,
			reason.PreviousFailed, 7},
		{"a copy of it was refused",
			copies(func(c *ChainFacts) { c.StateWhy = reason.RefusedContext }), rewrite.Fresh,
			reason.PreviousFailed, 7},
		{"the output of a copy of it was not understood",
			copies(func(c *ChainFacts) { c.StateWhy = reason.Unread }), rewrite.Fresh,
			reason.Unread, 7},
		{"it was busy", copies(func(c *ChainFacts) { c.StateWhy = reason.RefusedBusy }),
			rewrite.Resume, reason.Extends, 7},
		{"more of its prompt came late",
			first(func(c *ChainFacts) { c.StateWhy = reason.LateStdin }), rewrite.Resume,
			reason.Extends, 7},
		{"two copies of it are lost", lostCopies(2, 0), rewrite.Resume, reason.Extends, 7},
		{"three copies of it are lost", lostCopies(3, 0), rewrite.Fresh, reason.ErrorLimit, 7},
		{"a copy of it is lost, two have failed", lostCopies(1, 2), rewrite.Fresh,
			reason.ErrorLimit, 7},
		{"never ended", first(func(c *ChainFacts) { c.State = Running }), rewrite.Fresh,
			reason.PreviousKilled, 7},
		{"dead", first(func(c *ChainFacts) { c.State = Dead }), rewrite.Fresh,
			reason.SessionDead, 7},
		{"without an id", first(func(c *ChainFacts) { c.NativeID = "" }), rewrite.Fresh,
			reason.PreviousKilled, 7},

		{"identical", related(reason.Identical), rewrite.Fresh, reason.Identical, 0},
		{"identical, after a failure", first(func(c *ChainFacts) {
			c.Continuity.Relation, c.State = reason.Identical, Failed
		}), rewrite.Fresh, reason.Identical, 7},
		{"identical, while the first runs", first(func(c *ChainFacts) {
			c.Continuity.Relation, c.State, c.Held = reason.Identical, Running, true
		}), rewrite.Fresh, reason.Identical, 0},
		{"identical is wanted", func(f *Facts) {
			f.Limits.ResumeSame = true
			f.Chains[0].Continuity.Relation = reason.Identical
		}, rewrite.Resume, reason.Identical, 7},
		{"identical is wanted, enough text", func(f *Facts) {
			f.Limits.ResumeSame, f.Chains[0].Continuity.Relation, f.Chains[0].BaseBytes = true,
				reason.Identical, 200
		}, rewrite.Resume, reason.Identical, 7},
		{"identical is wanted, too little text", func(f *Facts) {
			f.Limits.ResumeSame, f.Chains[0].Continuity.Relation, f.Chains[0].BaseBytes = true,
				reason.Identical, 199
		}, rewrite.Fresh, reason.Identical, 0},
		{"the answers of another one, without other evidence", second(Evidence{}, true),
			rewrite.Fresh, reason.Ambiguous, 0},
		{"revised", related(reason.Revises), rewrite.Fresh, reason.BaseChanged, 0},
		{"taken back", related(reason.BaseChanged), rewrite.Fresh, reason.BaseChanged, 0},
		{"unrelated", related(reason.Unrelated), rewrite.Fresh, reason.BaseChanged, 0},
		{"edited", related(reason.HistoryEdited), rewrite.Fresh, reason.HistoryEdited, 0},
		{"too little text", first(func(c *ChainFacts) { c.BaseBytes = 23 }), rewrite.Fresh,
			reason.BaseTooSmall, 0},
		{"little text, with evidence", first(func(c *ChainFacts) { c.BaseBytes = 24 }),
			rewrite.Resume, reason.Extends, 7},
		{"too little text without evidence",
			func(f *Facts) {
				f.Limits.Unnamed, f.Chains[0].BaseBytes = rewrite.UnnamedExtends, 199
			},
			rewrite.Fresh, reason.BaseTooSmall, 0},
		{"no evidence", proven(Evidence{}), rewrite.Fresh, reason.NoEvidence, 0},
		{"a new role", against("judge"), rewrite.Fresh, reason.NewRole, 0},
		{"a clean start", against("clean"), rewrite.Fresh, reason.CleanStart, 0},
		{"an answer that was edited", against("shown"), rewrite.Fresh, reason.HistoryEdited, 0},
		{"no evidence asked for", both(against("judge"), unnamed(rewrite.UnnamedExtends)),
			rewrite.Resume,
			reason.Extends, 7},
		{"an edited answer, no evidence asked for",
			both(shows("Your last report:"), unnamed(rewrite.UnnamedExtends)), rewrite.Fresh,
			reason.HistoryEdited, 0},
		{"switched off", unnamed(rewrite.UnnamedOff), rewrite.Fresh, reason.UnnamedOff, 0},
		{"switched off, named", both(unnamed(rewrite.UnnamedOff), named(related(reason.Extends))),
			rewrite.Resume, reason.Extends, 7},
		{"evidence for one of two", second(Evidence{}, false), rewrite.Resume, reason.Extends, 7},
		{"work for one of two of a caller", both(proven(Evidence{Work: true, Caller: "loop.sh"}),
			second(Evidence{Caller: "loop.sh"}, false)), rewrite.Fresh, reason.Ambiguous, 0},
		{"work for one of two, the other failed", func(f *Facts) {
			both(proven(Evidence{Work: true, Caller: "loop.sh"}),
				second(Evidence{Caller: "loop.sh"}, false))(f)
			f.Chains[1].State = Failed
		}, rewrite.Resume, reason.Extends, 7},
		{"the answer of one of two of a caller",
			both(proven(Evidence{Work: true, Answer: true, Caller: "loop.sh"}),
				second(Evidence{Caller: "loop.sh"}, false)), rewrite.Resume, reason.Extends, 7},
		{"replaced text, and a later session that begins alike", replacedBefore(9), rewrite.Fresh,
			reason.Ambiguous, 0},
		{"replaced text, and an earlier session", replacedBefore(6), rewrite.Resume,
			reason.Revises, 7},
		{"evidence for two", second(Evidence{Transcript: true}, false), rewrite.Fresh,
			reason.Ambiguous, 0},
		{"the answers of one of two", second(Evidence{Transcript: true}, true), rewrite.Resume,
			reason.Extends, 8},
		{"the answers of another one, that begins otherwise",
			both(second(Evidence{Transcript: true}, true), func(f *Facts) {
				// a coder's prompt shows the reviewer's answer
				f.Chains[1].Continuity.BeginsAlike = false
			}), rewrite.Resume, reason.Extends, 7},
		{"two fit", func(f *Facts) { f.Chains = append(f.Chains, f.Chains[0]) }, rewrite.Fresh,
			reason.Ambiguous, 0},
		{"two fit, one is dead", func(f *Facts) {
			f.Chains = append(f.Chains, f.Chains[0])
			f.Chains[1].Chain, f.Chains[1].Session, f.Chains[1].State = 9, 9, Dead
		}, rewrite.Fresh, reason.Ambiguous, 0},
		{"one fits, others are unknown", func(f *Facts) { f.More = true }, rewrite.Fresh,
			reason.Ambiguous, 0},
		{"named: one is enough", named(func(f *Facts) { f.More = true }), rewrite.Resume,
			reason.Extends, 7},
		{"one of two fits", func(f *Facts) {
			f.Chains = append(f.Chains, f.Chains[0])
			f.Chains[0].Chain, f.Chains[0].Continuity.Relation = 9, reason.Unrelated
		}, rewrite.Resume, reason.Extends, 7},
		{"fits one, repeats the other", func(f *Facts) {
			f.Chains = append(f.Chains, f.Chains[0])
			f.Chains[0].Continuity.Relation = reason.Identical
		}, rewrite.Resume, reason.Extends, 7},

		{"named: revised", named(related(reason.Revises)), rewrite.Resume, reason.Revises, 7},
		{"named: unrelated", named(related(reason.Unrelated)), rewrite.Fresh,
			reason.BaseChanged, 7},
		{"named: unrelated is wanted", named(both(related(reason.Unrelated), unrelated)),
			rewrite.Resume, reason.Unrelated, 7},
		{"named: unrelated is wanted, and a clean start", named(both(related(reason.Unrelated),
			both(unrelated, finishes("clean")))), rewrite.Resume, reason.Unrelated, 7},
		{"named: unrelated, but with the whole answer",
			named(both(related(reason.Unrelated), quotes(200, true))), rewrite.Resume,
			reason.Unrelated, 7},
		{"named: unrelated, with an answer that can be another's",
			named(both(related(reason.Unrelated), quotes(200, false))), rewrite.Fresh,
			reason.BaseChanged, 7},
		{"named: unrelated, with a short answer",
			named(both(related(reason.Unrelated), quotes(199, true))), rewrite.Fresh,
			reason.BaseChanged, 7},
		{"named: a clean start", named(finishes("clean")), rewrite.Fresh, reason.CleanStart, 7},
		{"named: a clean start of a conversation",
			named(both(finishes("clean"),
				first(func(c *ChainFacts) { c.Continuity.Evidence.Transcript = true }))),
			rewrite.Resume, reason.Extends, 7},
		{"named: a new role", named(both(related(reason.Revises), finishes("role"))), rewrite.Fresh,
			reason.NewRole, 7},
		{"named by each job: words that count only without such a name",
			named(both(against("judge"), func(f *Facts) { f.Strong = true })), rewrite.Resume,
			reason.Extends, 7},
		{"named: a judge", named(against("judge")), rewrite.Fresh, reason.NewRole, 7},
		{"named: another answer than the session's", named(shows("Your last report:")),
			rewrite.Fresh, reason.HistoryEdited, 7},
		{"named: the session's answer and another",
			named(both(shows("Your last report:"), quotes(40, true))), rewrite.Resume,
			reason.Extends, 7},
		{"named: no role like it", named(func(f *Facts) { f.Chains, f.Others = nil, true }),
			rewrite.Fresh, reason.NewRole, 0},
		{"named: identical", named(related(reason.Identical)), rewrite.Fresh, reason.Identical, 7},
		{"named: edited", named(related(reason.HistoryEdited)), rewrite.Fresh,
			reason.HistoryEdited, 7},
		{"named: taken back", named(related(reason.BaseChanged)), rewrite.Fresh,
			reason.BaseChanged, 7},
		{"named: little text", named(first(func(c *ChainFacts) { c.BaseBytes = 1 })),
			rewrite.Resume, reason.Extends, 7},
		{"named: asked to be fresh", named(func(f *Facts) { f.Fresh = reason.ForcedFresh }),
			rewrite.Fresh, reason.ForcedFresh, 7},
		{"named: attempt goes down", named(attempts(0, 1)), rewrite.Fresh, reason.AttemptReset, 7},
		{"named: attempt goes down, same prompt", named(func(f *Facts) {
			attempts(0, 1)(f)
			f.Chains[0].Continuity.Relation = reason.Identical
		}), rewrite.Fresh, reason.AttemptReset, 7},
		{"named: answer ended the chain", named(first(func(c *ChainFacts) { c.Reset = true })),
			rewrite.Fresh, reason.ContextReset, 7},
		{"named: identical is wanted",
			named(func(f *Facts) { related(reason.Identical)(f); f.Limits.ResumeSame = true }),
			rewrite.Resume, reason.Identical, 7},
		{"named: edited, identical is wanted",
			named(func(f *Facts) { related(reason.HistoryEdited)(f); f.Limits.ResumeSame = true }),
			rewrite.Fresh, reason.HistoryEdited, 7},
		{"named: held, but another model", named(func(f *Facts) {
			f.Fingerprints.Model, f.Chains[0].State, f.Chains[0].Held = "n", Running, true
			f.Chains[0].Continuity.Relation = reason.Revises
		}), rewrite.Fresh, reason.ModelChanged, 7},
		{"named: idle", named(first(func(c *ChainFacts) { c.LastUsed = 0 })), rewrite.Fresh,
			reason.Idle, 7},
	}
}

// limited has the session's last run end at the turns it was allowed, and gives the call that
// proof.
func limited(p Evidence) func(*Facts) {
	return func(f *Facts) { f.Chains[0].StateWhy, f.Chains[0].Evidence = reason.TurnLimit, p }
}

// node is a session of a tree: its number, the number of the session that it was copied from, and
// how the call's prompt relates to the session's, which has so many blocks.
type node struct {
	session, parent int64
	relation        reason.Code
	blocks          int
	change          func(*ChainFacts)
}

// treeFacts are the facts of a chain that has these sessions, the newest first.
func treeFacts(nodes ...node) Facts {
	f := goodFacts()
	one := f.Chains[0]
	f.Copies, f.ForkPoint, f.Chains = true, forkPoint, nil
	for _, n := range nodes {
		c := one
		c.Session, c.Parent, c.Newest, c.Continuity.Relation = n.session, n.parent,
			nodes[0].session, n.relation
		for i := range n.blocks {
			c.Base = append(c.Base, prompt.Digest{byte(i)})
		}
		if n.change != nil {
			n.change(&c)
		}
		f.Chains = append(f.Chains, c)
	}
	return f
}

// A chain is a tree: which of its sessions is gone on from is for the prompt to show.
func TestDecideInATree(t *testing.T) {
	const (
		extends, revises, unrelated = reason.Extends, reason.Revises, reason.Unrelated
		identical, edited, changed  = reason.Identical, reason.HistoryEdited, reason.BaseChanged
	)
	failed := func(c *ChainFacts) { c.State = Failed }
	running := func(c *ChainFacts) { c.State, c.Held = Running, true }
	crashed := func(c *ChainFacts) { c.State = Running }
	dead := func(c *ChainFacts) { c.State = Dead }
	reset := func(c *ChainFacts) { c.Reset = true }
	atOnce := func(c *ChainFacts) { c.Concurrent = true }
	other := func(c *ChainFacts) { c.Base = []prompt.Digest{{9}, {8}} }
	tests := []struct {
		name    string
		nodes   []node
		unnamed reason.Code // "" where session is gone on from
		named   reason.Code
		session int64
		byName  int64 // where that is another one
	}{
		{"the copy", []node{{2, 1, extends, 2, nil}, {1, 0, extends, 1, nil}}, "", "", 2, 0},
		{"what the copy is of", []node{{2, 1, edited, 2, nil}, {1, 0, extends, 1, nil}}, "", "",
			1, 0},
		{"nothing is repeated but by name",
			[]node{{2, 1, unrelated, 2, nil}, {1, 0, unrelated, 1, nil}}, changed, changed, 0, 0},
		{"one is another template", []node{{2, 0, unrelated, 2, nil}, {1, 0, revises, 1, nil}},
			changed, "", 0, 1},
		{"another template runs", []node{{2, 0, unrelated, 2, running}, {1, 0, revises, 1, nil}},
			changed, "", 0, 1},
		{"two at once, one shows its answer",
			[]node{{2, 0, revises, 2, atOnce},
				{1, 0, revises, 2,
					func(c *ChainFacts) { atOnce(c); c.Continuity.Evidence.Answer = 40 }}}, changed,
			"", 0, 1},
		{"round by round another note", []node{{2, 1, revises, 2, nil}, {1, 0, extends, 1, nil}},
			"", "", 1, 2},
		{"taken back", []node{{2, 1, changed, 2, nil}, {1, 0, identical, 1, nil}}, identical,
			identical, 0, 0},
		{"the copy failed", []node{{2, 1, identical, 2, failed}, {1, 0, extends, 1, nil}}, "", "",
			1, 0},
		{"the copy failed, by name", []node{{2, 1, revises, 2, failed}, {1, 0, revises, 1, nil}},
			changed, "", 0, 1},
		{"the copy failed beside another, by name",
			[]node{{2, 1, revises, 2, func(c *ChainFacts) { failed(c); atOnce(c) }}, {1, 0, revises,
				1, nil}}, changed, "", 0, 1},
		{"the copy died unseen", []node{{2, 1, extends, 2, crashed}, {1, 0, extends, 1, nil}}, "",
			"", 1, 0},
		{"the copy was refused", []node{{2, 1, extends, 2, dead}, {1, 0, extends, 1, nil}}, "", "",
			1, 0},
		{"the copy runs", []node{{2, 1, extends, 2, running}, {1, 0, extends, 1, nil}}, "", "",
			1, 0},
		{"the copy runs, by name", []node{{2, 1, revises, 2, running}, {1, 0, revises, 1, nil}},
			changed, reason.Leased, 0, 0},
		{"what failed is no copy", []node{{2, 0, extends, 1, failed}}, reason.PreviousFailed,
			reason.PreviousFailed, 0, 0},
		{"two copies, one of them meant", []node{{3, 1, changed, 2, nil},
			{2, 1, extends, 2, nil}, {1, 0, extends, 1, nil}}, "", "", 2, 0},
		{"two copies, both repeated", []node{{3, 1, extends, 2, other}, {2, 1, extends, 2, nil}, {1,
			0, extends, 1, nil}}, reason.Ambiguous, reason.Ambiguous, 0, 0},
		{"two copies, sent the same", []node{{3, 1, extends, 2, nil}, {2, 1, extends, 2, nil}, {1,
			0, extends, 1, nil}}, reason.Ambiguous, reason.Ambiguous, 0, 0},
		{"two copies, none meant", []node{{3, 1, revises, 2, other},
			{2, 1, revises, 2, nil}, {1, 0, revises, 1, nil}}, changed, reason.Ambiguous, 0, 0},
		{"a copy that was sent the same", []node{{2, 1, extends, 1, nil}, {1, 0, extends, 1, nil}},
			"", "", 2, 0},
		{"two at once, one of them meant",
			[]node{{2, 0, revises, 2, atOnce}, {1, 0, extends, 2, atOnce}}, "", "", 1, 0},
		{"two at once, none meant", []node{{2, 0, revises, 2, atOnce}, {1, 0, revises, 2, atOnce}},
			changed, reason.Ambiguous, 0, 0},
		{"two at once, one is left", []node{{2, 0, revises, 2, atOnce}}, changed, reason.Ambiguous,
			0, 0},
		{"two at once, one failed",
			[]node{{2, 0, extends, 2, func(c *ChainFacts) { failed(c); atOnce(c) }},
				{1, 0, revises, 1, atOnce}}, changed, reason.Ambiguous, 0, 0},
		{"two at once, one is over", []node{{2, 0, extends, 2, atOnce},
			{1, 0, revises, 1, func(c *ChainFacts) { reset(c); atOnce(c) }}}, "", "", 2, 0},
		{"the newest is over", []node{{2, 0, revises, 2, reset}, {1, 0, revises, 1, nil}}, changed,
			"", 0, 1},
		{"the same again", []node{{2, 1, identical, 2, nil}, {1, 0, extends, 1, nil}}, identical,
			identical, 0, 0},
		{"another run is under way", []node{{2, 0, extends, 1, running}, {1, 0, extends, 1, nil}},
			reason.Ambiguous, reason.Ambiguous, 0, 0},
		{"the copy stands behind its source",
			[]node{{1, 0, extends, 1, nil}, {2, 1, extends, 1, nil}}, "", "", 2, 0},
		{"one was sent more than the other", []node{{2, 0, extends, 2, func(c *ChainFacts) {
			c.Base[1] = c.Base[0]
		}}, {1, 0, extends, 1, nil}}, "", "", 2, 0},
		{"one was sent more, but something else", []node{{2, 0, extends, 2, other}, {1, 0, extends,
			1, nil}}, reason.Ambiguous, reason.Ambiguous, 0, 0},
		{"over", []node{{2, 1, extends, 2, reset}, {1, 0, extends, 1, reset}}, reason.ContextReset,
			reason.ContextReset, 0, 0},
	}
	for _, tt := range tests {
		for _, named := range []bool{false, true} {
			f := treeFacts(tt.nodes...)
			f.Named = named
			want, session := tt.unnamed, tt.session
			if named {
				if want = tt.named; tt.byName != 0 {
					session = tt.byName
				}
			}
			d := Decide(f)
			if want != "" && (d.Mode != rewrite.Fresh || d.Reason != want) ||
				want == "" && (d.Mode != rewrite.Resume || d.Session != session || !d.Copy) {
				t.Errorf("%s, named %v: %s (%s) of %d, want %s of %d", tt.name, named, d.Mode,
					d.Reason, d.Session, want, session)
			}
		}
	}
}

// An attempt that goes down begins the job anew, whichever session the prompt repeats.
func TestDecideByTheHighestAttempt(t *testing.T) {
	f := treeFacts(node{2, 1, reason.BaseChanged, 2, func(c *ChainFacts) { c.Attempt = new(2) }},
		node{1, 0, reason.Extends, 1, func(c *ChainFacts) { c.Attempt = new(1) }})
	f.Attempt = 1
	if d := Decide(f); d.Reason != reason.AttemptReset {
		t.Errorf("%s (%s)", d.Mode, d.Reason)
	}
}

// Where a busy session is waited for, or the call is to be fresh, a copy that runs counts.
func TestDecideWaitsForACopy(t *testing.T) {
	f := treeFacts(node{2, 1, reason.Extends, 2, func(c *ChainFacts) {
		c.State, c.Held = Running, true
	}}, node{1, 0, reason.Extends, 1, nil})
	f.ForkPoint = nil
	for _, f.Named = range []bool{false, true} {
		if d := Decide(f); d.Reason != reason.Leased || d.Chain != 7 {
			t.Errorf("named %v: %s (%s)", f.Named, d.Mode, d.Reason)
		}
	}
}

// A name continues with its newest session, also where an identical prompt resumes and the prompt
// of an earlier session is repeated too.
func TestDecideIdenticalByName(t *testing.T) {
	f := treeFacts(node{2, 0, reason.Identical, 1, nil},
		node{1, 0, reason.Extends, 2, func(c *ChainFacts) { c.Reset = true }})
	f.Named, f.Limits.ResumeSame = true, true
	if d := Decide(f); d.Mode != rewrite.Resume || d.Session != 2 {
		t.Errorf("%s (%s) of %d", d.Mode, d.Reason, d.Session)
	}
}

// A name with sessions in use is waited for, though it does not tell them apart.
func TestDecideByABusyName(t *testing.T) {
	atOnce := func(c *ChainFacts) { c.Concurrent = true }
	f := treeFacts(node{2, 0, reason.Revises, 2,
		func(c *ChainFacts) { atOnce(c); c.State, c.Held = Running, true }},
		node{1, 0, reason.Revises, 1, atOnce})
	f.Named = true
	if d := Decide(f); d.Reason != reason.Leased {
		t.Errorf("%s (%s)", d.Mode, d.Reason)
	}
}

func TestNearlyFull(t *testing.T) {
	limits := Limits{ContextShare: 0.5}
	for context, want := range map[rewrite.Context]bool{
		{}: false, {Used: 39, Limit: 100}: false, {Used: 40, Limit: 100}: true,
		{Used: 79_999}: false, {Used: 80_000}: true,
	} {
		if got := limits.NearlyFull(context, "stub"); got != want {
			t.Errorf("%+v: %v", context, got)
		}
	}
	// four fifths of half the model's window
	for used, want := range map[int64]bool{419_430: false, 419_431: true} {
		if got := limits.NearlyFull(rewrite.Context{Used: used},
			"models/gemini-2.5-pro"); got != want {
			t.Errorf("%d tokens of gemini's window: %v", used, got)
		}
	}
	if !limits.NearlyFull(rewrite.Context{Used: 40, Limit: 100}, "gemini-2.5-pro") {
		t.Error("the window that the tool reports does not count")
	}
	if (Limits{}).NearlyFull(rewrite.Context{Used: 1 << 40}, "stub") {
		t.Error("without a limit it is nearly full")
	}
}

func TestDecideSendsTheWholePrompt(t *testing.T) {
	f := goodFacts()
	if Decide(f).Whole != "" {
		t.Error("a plain resume sends the whole prompt")
	}
	f.Chains[0].Compacted = true
	if Decide(f).Whole != reason.Compacted {
		t.Error("a compacted session is sent a delta")
	}
	f = goodFacts()
	f.Limits.WholePrompt = true
	if Decide(f).Whole != reason.DeltaOff {
		t.Error("delta = off sends a delta")
	}
}

// A session without evidence is the nearest one also beside two sessions that begin with a preamble.
// Otherwise these two would be ambiguous.
func TestNoEvidenceBesidePreambles(t *testing.T) {
	preamble := func(n byte) func(*ChainFacts) {
		return func(c *ChainFacts) {
			c.Chain, c.Base = int64(n), []prompt.Digest{{1}, {n}}
			c.Continuity.Root = c.Base[:1]
			c.Evidence, c.Continuity.Evidence.Log = Evidence{Caller: "loop.sh", Work: true}, true
		}
	}
	f := treeFacts(node{3, 0, reason.Extends, 1, func(c *ChainFacts) { c.Evidence = Evidence{} }},
		node{2, 0, reason.Revises, 0, preamble(8)}, node{1, 0, reason.Revises, 0, preamble(9)})
	for i, text := range []byte{5, 6} {
		o := f.Chains[0]
		o.Chain, o.Session = int64(10+i), int64(10+i)
		o.Continuity.Relation, o.Continuity.Root = reason.BaseChanged, []prompt.Digest{{1}, {text}}
		f.Chains = append(f.Chains, o)
	}
	f.Limits.Unnamed = rewrite.UnnamedEvidence
	if d := Decide(f); d.Reason != reason.NoEvidence {
		t.Errorf("%s (%s)", d.Mode, d.Reason)
	}
}

// Objections take long to find: nobody looks for them where the call does not go on anyway.
func TestObjectionsAreFoundOnDemand(t *testing.T) {
	looked := 0
	look := func() []prompt.Finding { looked++; return nil }
	f := treeFacts(node{2, 0, reason.Extends, 2, nil}, node{1, 0, reason.Revises, 1, nil})
	f.Limits.Unnamed = rewrite.UnnamedEvidence
	for i := range f.Chains {
		f.Chains[i].Evidence, f.Chains[i].Against = Evidence{}, look
	}
	if d := Decide(f); d.Reason != reason.NoEvidence || looked != 1 {
		t.Errorf("%s (%s), looked %d times", d.Mode, d.Reason, looked)
	}
}

// first changes the facts about the first session.
func first(change func(*ChainFacts)) func(*Facts) { return func(f *Facts) { change(&f.Chains[0]) } }

// proven has the call so much proof.
func proven(p Evidence) func(*Facts) { return func(f *Facts) { f.Chains[0].Evidence = p } }

// found finds one objection.
func found(kind string) func() []prompt.Finding {
	return func() []prompt.Finding { return []prompt.Finding{{Kind: kind, Words: "words"}} }
}

// against has the prompt's words speak against the session.
func against(kind string) func(*Facts) {
	return func(f *Facts) { f.Chains[0].Against = found(kind) }
}

// finishes has the prompt's words end the conversation.
func finishes(kind string) func(*Facts) {
	return func(f *Facts) {
		f.Strong, f.Chains[0].Against = true, found(kind)
	}
}

// shows has the prompt show another answer than the session's under a name.
func shows(name string) func(*Facts) {
	return func(f *Facts) { f.Chains[0].Continuity.Evidence.Shown = name }
}

// quotes has the prompt show the session's answer of so many bytes.
func quotes(bytes int, own bool) func(*Facts) {
	return func(f *Facts) {
		f.Chains[0].Continuity.Evidence.Answer, f.Chains[0].Continuity.Evidence.Own = bytes, own
	}
}

func unrelated(f *Facts) { f.Limits.Unrelated = true }

// unnamed sets the proof that a call without a name needs.
func unnamed(u rewrite.Unnamed) func(*Facts) { return func(f *Facts) { f.Limits.Unnamed = u } }

func both(change, also func(*Facts)) func(*Facts) {
	return func(f *Facts) { change(f); also(f) }
}

// second adds chain 8, which the prompt extends too, with that proof; shown has it show that one's
// answer.
func second(p Evidence, shown bool) func(*Facts) {
	return func(f *Facts) {
		c := f.Chains[0]
		c.Chain, c.Session, c.Evidence = 8, 8, p
		if shown {
			c.Continuity.Evidence.Newest, c.Continuity.Evidence.Answer = true, 40
		}
		f.Chains = append(f.Chains, c)
	}
}

// replacedBefore has the prompt replace text of session 8, and adds another session that begins
// like it.
func replacedBefore(other int64) func(*Facts) {
	return func(f *Facts) {
		f.Limits.Unnamed = rewrite.UnnamedEvidence
		c := &f.Chains[0]
		c.Continuity.Relation, c.Continuity.Replaced = reason.Revises, true
		c.Evidence = Evidence{Caller: "loop.sh", Work: true, Trace: true}
		f.Chains = append(f.Chains, ChainFacts{Chain: other, Session: other,
			Continuity: prompt.Continuity{Relation: reason.Unrelated, BeginsAlike: true}})
	}
}

// The proof that a call without a name needs, by how its prompt relates to the session's.
func TestVerdict(t *testing.T) {
	const loop = "loop.sh"
	long := quotes(200, true)
	none := func(*Facts) {}
	stopped := first(func(c *ChainFacts) { c.StateWhy = reason.TurnLimit })
	own := first(func(c *ChainFacts) { c.Continuity.Evidence.Own = true })
	logged := first(func(c *ChainFacts) { c.Continuity.Evidence.Log = true })
	talk := first(func(c *ChainFacts) { c.Continuity.Transcript = true })
	shared := first(func(c *ChainFacts) { c.AnswerShared = true })
	preamble := first(func(c *ChainFacts) { c.Preamble = true })
	replaced := first(func(c *ChainFacts) { c.Continuity.Replaced = true })
	reassigned := first(func(c *ChainFacts) {
		c.Continuity.Replaced, c.Continuity.Reassigned = true, true
	})
	for name, tt := range map[string]struct {
		relation reason.Code
		proof    Evidence
		change   func(*Facts)
		want     reason.Code
	}{
		"extends by nothing": {reason.Extends, Evidence{},
			none, reason.NoEvidence},
		"extends, same caller alone": {reason.Extends, Evidence{Caller: loop},
			none, reason.NoEvidence},
		"extends, conversation": {reason.Extends, Evidence{Transcript: true},
			none, ""},
		"extends, work": {reason.Extends,
			Evidence{Work: true, Caller: loop}, none, ""},
		"extends, work of another caller": {reason.Extends, Evidence{Work: true},
			none, reason.NoEvidence},
		"extends, work typed": {reason.Extends,
			Evidence{Work: true, Terminal: true}, none, reason.NoEvidence},
		"extends, work typed, and it failed": {reason.Extends,
			Evidence{Work: true, Terminal: true, Failure: true}, none, ""},
		"extends, work typed, with the answer": {reason.Extends,
			Evidence{Work: true, Terminal: true, Answer: true}, none, ""},
		"extends, work cut short": {reason.Extends,
			Evidence{Work: true, Caller: loop}, stopped, ""},
		"extends, answer": {reason.Extends, Evidence{Answer: true},
			none, reason.NoEvidence},
		"extends, answer of the caller": {reason.Extends,
			Evidence{Answer: true, Caller: loop}, none, reason.NoEvidence},
		"extends, answer called its own": {reason.Extends,
			Evidence{Answer: true, Caller: loop}, own, ""},
		"extends, answer called its own by another": {reason.Extends, Evidence{Answer: true},
			own, reason.NoEvidence},
		"extends, answer and log": {reason.Extends, Evidence{Answer: true},
			logged, ""},
		"extends, answer and work": {reason.Extends,
			Evidence{Answer: true, Work: true}, none, ""},
		"extends, answer and flow": {reason.Extends,
			Evidence{Answer: true, Flow: 3}, none, ""},
		"extends, answer in a conversation": {reason.Extends, Evidence{Answer: true},
			talk, ""},
		"extends, answer and failure": {reason.Extends,
			Evidence{Answer: true, Failure: true, Caller: loop}, none, ""},
		"extends, answer and failure, another caller": {reason.Extends,
			Evidence{Answer: true, Failure: true}, none, reason.NoEvidence},
		"extends, flow": {reason.Extends,
			Evidence{Flow: 3, Caller: loop}, none, ""},
		"extends, flow of another caller": {reason.Extends, Evidence{Flow: 3},
			none, reason.NoEvidence},
		"extends, trace": {reason.Extends,
			Evidence{Trace: true, Caller: loop}, none, ""},
		"extends, trace of another caller": {reason.Extends, Evidence{Trace: true},
			none, reason.NoEvidence},
		"extends, rejected": {reason.Extends,
			Evidence{Rejected: true, Caller: loop}, none, ""},
		"extends, rejected by another": {reason.Extends, Evidence{Rejected: true},
			none, reason.NoEvidence},
		"extends, failure alone": {reason.Extends,
			Evidence{Failure: true, Caller: loop}, none, reason.NoEvidence},
		"extends, log alone": {reason.Extends, Evidence{Caller: loop},
			logged, reason.NoEvidence},
		"extends, a run cut short, flow": {reason.Extends,
			Evidence{Trace: true, Flow: 3, Caller: loop}, stopped, reason.NoEvidence},
		"extends, in a task that is known": {reason.Extends, Evidence{},
			func(f *Facts) { f.SameTask = true }, ""},
		"extends, in a task that is known, a new role": {reason.Extends, Evidence{},
			both(against("role"), func(f *Facts) { f.SameTask = true }), reason.NewRole},
		"revises, in a task that is known": {reason.Revises, Evidence{Caller: loop},
			func(f *Facts) { f.SameTask = true }, reason.BaseChanged},
		"extends, no evidence wanted": {reason.Extends, Evidence{},
			unnamed(rewrite.UnnamedExtends), ""},
		"extends behind other lines, no evidence wanted": {reason.Extends, Evidence{},
			both(unnamed(rewrite.UnnamedExtends),
				first(func(c *ChainFacts) { c.Continuity.BeginsAlike = false })),
			reason.NoEvidence},
		"revises, no evidence wanted": {reason.Revises, Evidence{},
			unnamed(rewrite.UnnamedExtends), reason.BaseChanged},
		"extends, cut short, no evidence wanted": {reason.Extends, Evidence{},
			both(stopped, unnamed(rewrite.UnnamedExtends)), ""},
		"extends, the same answer given twice": {reason.Extends,
			Evidence{Answer: true, Work: true}, shared, reason.Ambiguous},
		"conversation, the same answer twice": {reason.Extends,
			Evidence{Answer: true, Transcript: true}, shared, ""},
		"flow, the same answer given twice": {reason.Extends, Evidence{Flow: 3, Caller: loop},
			shared, ""},
		"extends, everything, but a new role": {reason.Extends, Evidence{Transcript: true,
			Answer: true, Flow: 3, Caller: loop}, against("role"), reason.NewRole},
		"extends by nothing, a sample": {reason.Extends, Evidence{},
			against("sample"), reason.NoEvidence},
		"extends by nothing, a rival": {reason.Extends, Evidence{},
			against("rival"), reason.NewRole},
		"work, a judge": {reason.Extends,
			Evidence{Work: true, Caller: loop}, against("judge"), reason.NewRole},
		"work, a new start": {reason.Extends,
			Evidence{Work: true, Caller: loop}, against("clean"), reason.CleanStart},
		"work, an answer that was edited": {reason.Extends,
			Evidence{Work: true, Caller: loop}, against("shown"), reason.HistoryEdited},
		"work, a rival": {reason.Extends,
			Evidence{Work: true, Caller: loop}, against("rival"), ""},
		"work, a sample": {reason.Extends,
			Evidence{Work: true, Caller: loop}, against("sample"), ""},
		"work, a numbered sample": {reason.Extends,
			Evidence{Work: true, Caller: loop}, against("arm"), reason.NoEvidence},
		"work, it is said to be over": {reason.Extends,
			Evidence{Work: true, Caller: loop}, against("closed"), ""},
		"no work, it is said to be over": {reason.Extends,
			Evidence{Trace: true, Caller: loop}, against("closed"), reason.CleanStart},
		"work of another caller, a rival": {reason.Extends,
			Evidence{Work: true, Transcript: true}, against("rival"), reason.NewRole},
		"revises by nothing": {reason.Revises, Evidence{Caller: loop},
			none, reason.BaseChanged},
		"revises, work alone": {reason.Revises,
			Evidence{Work: true, Caller: loop}, none, reason.BaseChanged},
		"revises, work and answer": {reason.Revises,
			Evidence{Work: true, Answer: true, Caller: loop}, none, ""},
		"revises, answer without work": {reason.Revises,
			Evidence{Answer: true, Caller: loop}, none, reason.BaseChanged},
		"revises, of another caller": {reason.Revises,
			Evidence{Work: true, Answer: true}, none, reason.BaseChanged},
		"revises, work and flow": {reason.Revises,
			Evidence{Work: true, Flow: 3, Caller: loop}, none, ""},
		"revises, work and trace": {reason.Revises,
			Evidence{Work: true, Trace: true, Caller: loop}, none, ""},
		"revises, work and failure": {reason.Revises,
			Evidence{Work: true, Failure: true, Caller: loop}, none, ""},
		"revises, work and a log": {reason.Revises,
			Evidence{Work: true, Caller: loop}, logged, ""},
		"revises, flow without work": {reason.Revises, Evidence{Flow: 3, Caller: loop},
			none, reason.BaseChanged},
		"revises a preamble, failure": {reason.Revises, Evidence{Work: true,
			Failure: true, Flow: 3, Trace: true, Caller: loop}, preamble, reason.BaseChanged},
		"revises a preamble, answer": {reason.Revises,
			Evidence{Work: true, Answer: true, Caller: loop}, preamble, ""},
		"revises, a run cut short": {reason.Revises,
			Evidence{Work: true, Flow: 3, Caller: loop}, stopped, reason.BaseChanged},
		"revises, flow, but a judge": {reason.Revises,
			Evidence{Work: true, Flow: 3, Caller: loop}, against("judge"), reason.NewRole},
		"places replaced, trace": {reason.Revises,
			Evidence{Work: true, Trace: true, Caller: loop}, replaced, ""},
		"places replaced, answer": {reason.Revises, Evidence{Work: true,
			Answer: true, Failure: true, Caller: loop}, replaced, reason.BaseChanged},
		"places replaced, answer called its own": {reason.Revises,
			Evidence{Work: true, Answer: true, Caller: loop}, both(replaced, own), ""},
		"places replaced, no work": {reason.Revises,
			Evidence{Trace: true, Caller: loop}, replaced, reason.BaseChanged},
		"an assignment replaced": {reason.Revises,
			Evidence{Work: true, Trace: true, Caller: loop}, reassigned, reason.BaseChanged},
		"an assignment of a known task replaced": {reason.Revises,
			Evidence{Work: true, Trace: true, Caller: loop}, both(reassigned, func(f *Facts) {
				f.Strong = true
			}), ""},
		"places of a preamble replaced": {reason.Revises, Evidence{Work: true,
			Trace: true, Caller: loop}, both(replaced, preamble), reason.BaseChanged},
		"short, whole answer": {reason.Unrelated,
			Evidence{Answer: true, Caller: loop}, long, reason.BaseChanged},
		"short, whole answer, work": {reason.Unrelated,
			Evidence{Answer: true, Work: true, Caller: loop}, long, ""},
		"short, whole answer, log": {reason.Unrelated,
			Evidence{Answer: true, Caller: loop}, both(long, logged), ""},
		"short, whole answer, another caller": {reason.Unrelated,
			Evidence{Answer: true, Work: true}, long, reason.BaseChanged},
		"short, somebody's answer": {reason.Unrelated,
			Evidence{Work: true, Caller: loop}, quotes(200, false), reason.BaseChanged},
		"short, short answer": {reason.Unrelated, Evidence{Answer: true,
			Work: true, Caller: loop}, quotes(199, true), reason.BaseChanged},
		"long, whole answer": {reason.Unrelated,
			Evidence{Answer: true, Work: true, Caller: loop},
			both(long, func(f *Facts) { f.PromptBytes = 2*200 + 1024 }), reason.BaseChanged},
		"nearly too long, whole answer": {reason.Unrelated,
			Evidence{Answer: true, Work: true, Caller: loop},
			both(long, func(f *Facts) { f.PromptBytes = 2*200 + 1023 }), ""},
		"edited, everything": {reason.HistoryEdited,
			Evidence{Answer: true, Work: true, Flow: 3, Caller: loop}, long, reason.HistoryEdited},
		"taken back, everything": {reason.BaseChanged,
			Evidence{Answer: true, Work: true, Flow: 3, Caller: loop}, long, reason.BaseChanged},
	} {
		f := goodFacts()
		f.Chains[0].Continuity.Relation, f.Chains[0].Evidence = tt.relation, tt.proof
		tt.change(&f)
		if got := f.verdict(&f.Chains[0]); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// Nothing is waited for where the call is fresh in any case.
func TestUnrecordedOfAFreshCall(t *testing.T) {
	held := ChainFacts{Held: true, Continuity: prompt.Continuity{Relation: reason.Extends}}
	for name, change := range map[string]func(*Facts){
		"":          func(*Facts) {},
		"never":     func(f *Facts) { f.Never = true },
		"no resume": func(f *Facts) { f.NoResume = true },
		"a hook":    func(f *Facts) { f.HookSet = true },
		"fresh":     func(f *Facts) { f.Fresh = reason.ForcedFresh },
	} {
		f := Facts{Named: true, Chains: []ChainFacts{held}}
		change(&f)
		if got := f.Unrecorded(); got != (name == "") {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// A role begins as a copy of one session that no two calls have used at once.
func TestStartFromOneSession(t *testing.T) {
	live := SessionRecord{State: Live}
	for name, tt := range map[string]struct {
		start []ChainFacts
		want  reason.Code
	}{
		"two ends": {[]ChainFacts{{SessionRecord: live}, {SessionRecord: live}},
			reason.Ambiguous},
		"two at a time": {[]ChainFacts{{SessionRecord: live, Concurrent: true}}, reason.Ambiguous},
	} {
		d := start(Facts{Request: Request{Copies: true}, Start: tt.start})
		if d.Mode.Continues() || d.Detail != tt.want {
			t.Errorf("%s: %s, %s", name, d.Mode, d.Detail)
		}
	}
}
