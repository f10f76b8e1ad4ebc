package ledger

import (
	"testing"

	"reprise/rewrite"
)

const (
	minute Millis = 60_000
	hour          = 60 * minute
)

// goodFacts is a call that is resumed, unless one fact is changed.
func goodFacts() Facts {
	p := Fingerprints{Settings: "s", Model: "m", Runtime: "r", Auth: "a"}
	return Facts{
		Now: 100 * hour, Fingerprints: p,
		Limits: Limits{TTL: 30 * minute, MaxAge: 24 * hour, ErrorLimit: 3, ContextShare: 0.8, MinBase: 200, MinEvident: 24, UnknownWindow: 1000},
		Chains: []ChainFacts{{
			Chain: 7, Session: 8, NativeID: "id", State: Live, Fingerprints: p,
			Created: 99 * hour, LastUsed: 100*hour - minute, BaseBytes: 300,
			Continuity: rewrite.Continuity{Relation: rewrite.Extends, BeginsAlike: true}, Proof: Proof{Transcript: true},
		}},
	}
}

// costs are the meters of runs that took so many tokens of input on average.
func costs(resumed, followUp, first float64) Meters {
	m := func(input float64) Meter { return Meter{Runs: minRuns, Input: input, Last: 100*hour - minute} }
	return Meters{Resumed: m(resumed), FollowUp: m(followUp), First: m(first)}
}

// A decision is a row of TestDecide.
type decision struct {
	name   string
	change func(*Facts)
	mode   rewrite.Mode
	reason rewrite.Reason
	chain  int64
}

func TestDecide(t *testing.T) {
	for _, tt := range decisions() {
		f := goodFacts()
		tt.change(&f)
		d := Decide(f)
		if d.Mode != tt.mode || d.Reason != tt.reason || d.Chain != tt.chain {
			t.Errorf("%s: %s (%s) in chain %d, want %s (%s) in chain %d", tt.name, d.Mode, d.Reason, d.Chain, tt.mode, tt.reason, tt.chain)
		}
		if d.Mode.Continues() != (d.NativeID != "") || (d.Mode == rewrite.Fork) != (d.ForkAt != "") ||
			d.Copy != (f.Copies && d.Mode.Continues()) {
			t.Errorf("%s: %s with session %q at %q", tt.name, d.Mode, d.NativeID, d.ForkAt)
		}
		if (d.Reason == rewrite.Dearer) != (d.Prices != Prices{}) {
			t.Errorf("%s: %s with prices %+v", tt.name, d.Reason, d.Prices)
		}
	}
}

func decisions() []decision {
	requested := func(model string, used int64) func(*Facts) {
		return func(f *Facts) {
			f.Fingerprints.Model, f.Chains[0].Fingerprints.Model, f.Chains[0].Context.Used = model, model, used
		}
	}
	related := func(r rewrite.Reason) func(*Facts) {
		return first(func(c *ChainFacts) { c.Continuity.Relation = r })
	}
	attempts := func(call, session int) func(*Facts) {
		return func(f *Facts) { f.Attempt, f.Chains[0].Attempt = call, session }
	}
	named := func(change func(*Facts)) func(*Facts) {
		return func(f *Facts) { f.Named = true; change(f) }
	}
	copies := func(change func(*ChainFacts)) func(*Facts) {
		return func(f *Facts) { f.Copies, f.Fork = true, true; change(&f.Chains[0]) }
	}
	moved := func(change func(*Facts)) func(*Facts) {
		return func(f *Facts) {
			copies(func(c *ChainFacts) { c.Stored, c.ForkAt = StoredChanged, "last" })(f)
			change(f)
		}
	}
	changed := func(reasons ...rewrite.Reason) func(*Facts) {
		return func(f *Facts) {
			var list []Digest
			for _, r := range reasons {
				list = append(list, Digest{r, "name", "digest"})
			}
			f.Fingerprints.Settings = NewDigests(list)
			f.Chains[0].Fingerprints.Settings = ""
		}
	}
	metered := func(m Meters) func(*Facts) { return func(f *Facts) { f.Meters = m } }
	loses := func(change func(*Facts)) func(*Facts) {
		return func(f *Facts) { f.Limits.LosesCache = true; change(f) }
	}
	return []decision{
		{"continued", func(*Facts) {}, rewrite.Resume, rewrite.Extends, 7},
		{"no chain", func(f *Facts) { f.Chains = nil }, rewrite.Fresh, rewrite.FirstCall, 0},
		{"no chain that begins alike", func(f *Facts) { f.Chains, f.Others = nil, true }, rewrite.Fresh, rewrite.NewJob, 0},
		{"asked to be fresh", func(f *Facts) { f.Fresh = rewrite.ForcedFresh }, rewrite.Fresh, rewrite.ForcedFresh, 7},
		{"switched off", func(f *Facts) { f.Disabled = true }, rewrite.Fresh, rewrite.Disabled, 7},
		{"binary can not", func(f *Facts) { f.NoResume = true }, rewrite.Fresh, rewrite.NoResume, 7},
		{"never", func(f *Facts) { f.Never = true }, rewrite.Fresh, rewrite.Never, 0},
		{"never, whatever else", func(f *Facts) { f.Never, f.Named, f.Fresh = true, true, rewrite.ForcedFresh }, rewrite.Fresh, rewrite.Never, 0},
		{"prompt ends the chain", func(f *Facts) { f.Fresh = rewrite.ContextReset }, rewrite.Fresh, rewrite.ContextReset, 7},
		{"answer ended the chain", first(func(c *ChainFacts) { c.Reset = true }), rewrite.Fresh, rewrite.ContextReset, 7},
		{"attempt goes up", attempts(2, 1), rewrite.Resume, rewrite.Extends, 7},
		{"attempt stays", attempts(1, 1), rewrite.Resume, rewrite.Extends, 7},
		{"attempt goes down", attempts(0, 1), rewrite.Fresh, rewrite.AttemptReset, 7},
		{"attempt not told", attempts(rewrite.NoAttempt, 1), rewrite.Resume, rewrite.Extends, 7},
		{"attempt not told before", attempts(0, rewrite.NoAttempt), rewrite.Resume, rewrite.Extends, 7},
		{"held out", func(f *Facts) { f.Limits.HoldOut, f.Chains[0].Share = 0.5, 0.4 }, rewrite.Fresh, rewrite.HeldOut, 7},
		{"not held out", func(f *Facts) { f.Limits.HoldOut, f.Chains[0].Share = 0.5, 0.5 }, rewrite.Resume, rewrite.Extends, 7},
		{"all held out", func(f *Facts) { f.Limits.HoldOut, f.Chains[0].Share = 1, 0.999 }, rewrite.Fresh, rewrite.HeldOut, 7},
		{"held out, but idle", func(f *Facts) { f.Limits.HoldOut, f.Chains[0].LastUsed = 1, 0 }, rewrite.Fresh, rewrite.Idle, 7},
		{"dearer", metered(costs(121, 100, 0)), rewrite.Fresh, rewrite.Dearer, 7},
		{"hardly dearer", metered(costs(120, 100, 0)), rewrite.Resume, rewrite.Extends, 7},
		{"dearer than first runs only", metered(costs(121, 200, 100)), rewrite.Resume, rewrite.Extends, 7},
		{"dearer than first runs, nothing else to go by", func(f *Facts) {
			f.Meters = costs(121, 100, 100)
			f.Meters.FollowUp.Runs = minRuns - 1
		}, rewrite.Fresh, rewrite.Dearer, 7},
		{"dearer, by too few resumes", func(f *Facts) {
			f.Meters = costs(500, 100, 100)
			f.Meters.Resumed.Runs = minRuns - 1
		}, rewrite.Resume, rewrite.Extends, 7},
		{"dearer than anybody remembers", func(f *Facts) {
			f.Meters = costs(500, 100, 100)
			f.Meters.FollowUp.Last, f.Meters.First.Last = 100*hour-meterForgets-1, 100*hour-meterForgets-1
		}, rewrite.Resume, rewrite.Extends, 7},
		{"dearer, just before it is tried again", func(f *Facts) {
			f.Meters = costs(500, 100, 0)
			f.Meters.Resumed.Last = 100*hour - dearerPause + 1
		}, rewrite.Fresh, rewrite.Dearer, 7},
		{"dearer, but time to try again", func(f *Facts) {
			f.Meters = costs(500, 100, 0)
			f.Meters.Resumed.Last = 100*hour - dearerPause
		}, rewrite.Resume, rewrite.Extends, 7},
		{"dearer, measured by a clock that was ahead", func(f *Facts) {
			f.Meters = costs(500, 100, 0)
			f.Meters.Resumed.Last = 100*hour + dearerPause
		}, rewrite.Resume, rewrite.Extends, 7},
		{"dearer, and wanted", func(f *Facts) {
			f.Meters, f.Limits.ResumeDearer = costs(500, 100, 0), true
		}, rewrite.Resume, rewrite.Extends, 7},
		{"dearer and held out", func(f *Facts) {
			f.Meters, f.Limits.HoldOut = costs(500, 100, 0), 1
		}, rewrite.Fresh, rewrite.Dearer, 7},
		{"dearer and idle", func(f *Facts) {
			f.Meters, f.Chains[0].LastUsed = costs(500, 100, 0), 0
		}, rewrite.Fresh, rewrite.Idle, 7},
		{"cache lost", loses(func(*Facts) {}), rewrite.Fresh, rewrite.CacheLost, 7},
		{"cache lost, named", loses(named(func(*Facts) {})), rewrite.Fresh, rewrite.CacheLost, 7},
		{"cache lost, just not tried", loses(func(f *Facts) { f.Chains[0].Share = 0.8999 }), rewrite.Fresh, rewrite.CacheLost, 7},
		{"cache lost, and tried", loses(func(f *Facts) { f.Chains[0].Share = 0.9 }), rewrite.Resume, rewrite.Extends, 7},
		{"cache lost, tried often enough", loses(func(f *Facts) {
			f.Chains[0].Share, f.Meters.Resumed = 0.9, costs(100, 0, 0).Resumed
		}), rewrite.Fresh, rewrite.CacheLost, 7},
		{"cache lost, tried too long ago", loses(func(f *Facts) {
			f.Chains[0].Share, f.Meters = 0.9, costs(100, 100, 100)
			f.Meters.Resumed.Last = 100*hour - meterForgets - 1
		}), rewrite.Resume, rewrite.Extends, 7},
		{"cache lost, too few figures", loses(func(f *Facts) {
			f.Meters = costs(50, 100, 100)
			f.Meters.Resumed.Runs = minRuns - 1
		}), rewrite.Fresh, rewrite.CacheLost, 7},
		{"cache lost, and it pays", loses(metered(costs(99, 100, 0))), rewrite.Resume, rewrite.Extends, 7},
		{"cache lost, and it costs the same", loses(metered(costs(100, 100, 0))), rewrite.Fresh, rewrite.CacheLost, 7},
		{"cache lost, tried, and it does not pay", loses(func(f *Facts) {
			f.Meters, f.Chains[0].Share = costs(100, 100, 0), 0.9
		}), rewrite.Fresh, rewrite.CacheLost, 7},
		{"cache lost, and dearer", loses(metered(costs(121, 100, 0))), rewrite.Fresh, rewrite.Dearer, 7},
		{"cache lost, and wanted", loses(func(f *Facts) {
			f.Meters, f.Limits.ResumeDearer = costs(500, 100, 0), true
		}), rewrite.Resume, rewrite.Extends, 7},
		{"cache lost, and held out", loses(func(f *Facts) { f.Limits.HoldOut = 1 }), rewrite.Fresh, rewrite.CacheLost, 7},
		{"cache lost, tried, and held out", loses(func(f *Facts) {
			f.Chains[0].Share, f.Limits.HoldOut = 0.9, 1
		}), rewrite.Fresh, rewrite.HeldOut, 7},
		{"cache lost, and idle", loses(func(f *Facts) { f.Chains[0].LastUsed = 0 }), rewrite.Fresh, rewrite.Idle, 7},
		{"cache lost, and held", loses(func(f *Facts) { f.Chains[0].Held = true }), rewrite.Fresh, rewrite.CacheLost, 7},
		{"other model", func(f *Facts) { f.Fingerprints.Model = "n" }, rewrite.Fresh, rewrite.ModelChanged, 7},
		{"other settings", func(f *Facts) { f.Fingerprints.Settings = "t" }, rewrite.Fresh, rewrite.SettingsChanged, 7},
		{"other binary", func(f *Facts) { f.Fingerprints.Runtime = "q" }, rewrite.Fresh, rewrite.RuntimeChanged, 7},
		{"other login", func(f *Facts) { f.Fingerprints.Auth = "b" }, rewrite.Fresh, rewrite.AuthChanged, 7},
		{"other instructions", changed(rewrite.InstructionsChanged), rewrite.Fresh, rewrite.InstructionsChanged, 7},
		{"other directory", changed(rewrite.DirectoryReplaced), rewrite.Fresh, rewrite.DirectoryReplaced, 7},
		{"other user", changed(rewrite.UserChanged), rewrite.Fresh, rewrite.UserChanged, 7},
		{"other job", changed(rewrite.JobChanged), rewrite.Fresh, rewrite.JobChanged, 7},
		{"other instructions and another directory", changed(rewrite.InstructionsChanged, rewrite.DirectoryReplaced), rewrite.Fresh, rewrite.DirectoryReplaced, 7},
		{"other repository", func(f *Facts) { f.Place.Repository = "x" }, rewrite.Fresh, rewrite.DirectoryReplaced, 7},
		{"other branch", func(f *Facts) { f.Place.Branch = "x" }, rewrite.Fresh, rewrite.BranchChanged, 7},
		{"more commits", func(f *Facts) { f.Place.Head = "x" }, rewrite.Resume, rewrite.Extends, 7},
		{"commits taken back", first(func(c *ChainFacts) { c.CommitGone = true }), rewrite.Fresh, rewrite.CommitGone, 7},
		{"work thrown away", first(func(c *ChainFacts) { c.WorkGone = true }), rewrite.Fresh, rewrite.WorkGone, 7},
		{"work thrown away, of a named job", func(f *Facts) { f.Named, f.Chains[0].WorkGone = true, true }, rewrite.Fresh, rewrite.WorkGone, 7},
		{"copied, and another branch", copies(func(*ChainFacts) {}), rewrite.Resume, rewrite.Extends, 7},
		{"to be copied, but another branch", func(f *Facts) { copies(func(*ChainFacts) {})(f); f.Place.Branch = "x" }, rewrite.Fresh, rewrite.BranchChanged, 7},

		{"just in time", first(func(c *ChainFacts) { c.LastUsed = 100*hour - 30*minute }), rewrite.Resume, rewrite.Extends, 7},
		{"idle", first(func(c *ChainFacts) { c.LastUsed = 100*hour - 30*minute - 1 }), rewrite.Fresh, rewrite.Idle, 7},
		{"clock set back", first(func(c *ChainFacts) { c.LastUsed = 101 * hour }), rewrite.Fresh, rewrite.Idle, 7},
		{"used a moment later than now", first(func(c *ChainFacts) { c.LastUsed = 100*hour + clockSlack }), rewrite.Resume, rewrite.Extends, 7},
		{"used later than that", first(func(c *ChainFacts) { c.LastUsed = 100*hour + clockSlack + 1 }), rewrite.Fresh, rewrite.Idle, 7},
		{"not too old", first(func(c *ChainFacts) { c.Created = 76 * hour }), rewrite.Resume, rewrite.Extends, 7},
		{"too old", first(func(c *ChainFacts) { c.Created = 76*hour - 1 }), rewrite.Fresh, rewrite.TooOld, 7},
		{"errors", first(func(c *ChainFacts) { c.Errors = 3 }), rewrite.Fresh, rewrite.ErrorLimit, 7},
		{"fewer errors", first(func(c *ChainFacts) { c.Errors = 2 }), rewrite.Resume, rewrite.Extends, 7},
		{"one error, none allowed", func(f *Facts) { f.Limits.ErrorLimit, f.Chains[0].Errors = 1, 1 }, rewrite.Fresh, rewrite.ErrorLimit, 7},
		{"errors, without a limit", func(f *Facts) { f.Limits.ErrorLimit, f.Chains[0].Errors = 0, 99 }, rewrite.Resume, rewrite.Extends, 7},
		{"a window that nobody knows", func(f *Facts) { f.Limits.UnknownWindow, f.Chains[0].Context.Used = 0, 900 }, rewrite.Resume, rewrite.Extends, 7},
		{"a window of one token", first(func(c *ChainFacts) { c.Context = rewrite.Context{Used: 2, Limit: 1} }), rewrite.Fresh, rewrite.ContextFull, 7},
		{"no share of the window", func(f *Facts) { f.Limits.ContextShare, f.Chains[0].Context.Used = 0, 900 }, rewrite.Resume, rewrite.Extends, 7},
		{"full", first(func(c *ChainFacts) { c.Context = rewrite.Context{Used: 81, Limit: 100} }), rewrite.Fresh, rewrite.ContextFull, 7},
		{"nearly full", first(func(c *ChainFacts) { c.Context = rewrite.Context{Used: 80, Limit: 100} }), rewrite.Resume, rewrite.Extends, 7},
		{"room in the model's window", first(func(c *ChainFacts) { c.Context.Used, c.FirstModel = 800_000, "gemini-2.5-pro" }), rewrite.Resume, rewrite.Extends, 7},
		{"the model's window is full", first(func(c *ChainFacts) { c.Context.Used, c.FirstModel = 900_000, "gemini-2.5-pro" }), rewrite.Fresh, rewrite.ContextFull, 7},
		{"room in the requested model's window", requested("gemini-2.5-pro", 800_000), rewrite.Resume, rewrite.Extends, 7},
		{"another model answers than was requested", func(f *Facts) {
			requested("gemini-2.5-pro", 200_000)(f)
			f.Chains[0].FirstModel = "codestral-2508"
		}, rewrite.Fresh, rewrite.ContextFull, 7},
		{"the tool reports less than the model has", first(func(c *ChainFacts) { c.Context, c.FirstModel = rewrite.Context{Used: 90, Limit: 100}, "gemini-2.5-pro" }), rewrite.Fresh, rewrite.ContextFull, 7},
		{"full, as far as is known", first(func(c *ChainFacts) { c.Context.Used = 900 }), rewrite.Fresh, rewrite.ContextFull, 7},
		{"file gone", first(func(c *ChainFacts) { c.Stored = StoredGone }), rewrite.Fresh, rewrite.SessionGone, 7},
		{"file changed", first(func(c *ChainFacts) { c.Stored = StoredChanged }), rewrite.Fresh, rewrite.SessionMoved, 7},
		{"the caller's own", first(func(c *ChainFacts) { c.CallersOwn = true }), rewrite.Fresh, rewrite.CallersOwn, 7},
		{"the caller's own, copied", func(f *Facts) { f.Copies, f.Chains[0].CallersOwn = true, true }, rewrite.Resume, rewrite.Extends, 7},
		{"held", first(func(c *ChainFacts) { c.Held = true }), rewrite.Fresh, rewrite.Leased, 7},
		{"copied", copies(func(*ChainFacts) {}), rewrite.Resume, rewrite.Extends, 7},
		{"copied, but in its first run", copies(func(c *ChainFacts) { c.State, c.Held = Running, true }), rewrite.Fresh, rewrite.Leased, 7},
		{"copied, but it ended unseen", copies(func(c *ChainFacts) { c.State = Running }), rewrite.Fresh, rewrite.PreviousUnknown, 7},
		{"used by somebody, and to be cut", moved(func(*Facts) {}), rewrite.Fork, rewrite.Extends, 7},
		{"used by somebody, no message to end with", moved(func(f *Facts) { f.Chains[0].ForkAt = "" }), rewrite.Fresh, rewrite.SessionMoved, 7},
		{"used by somebody, and left alone", moved(func(f *Facts) { f.Fork = false }), rewrite.Fresh, rewrite.SessionMoved, 7},
		{"used by somebody, but idle", moved(func(f *Facts) { f.Chains[0].LastUsed = 0 }), rewrite.Fresh, rewrite.Idle, 7},
		{"used by somebody, but full", moved(func(f *Facts) { f.Chains[0].Context.Used = 900 }), rewrite.Fresh, rewrite.ContextFull, 7},
		{"used by somebody, but another model", moved(func(f *Facts) { f.Fingerprints.Model = "n" }), rewrite.Fresh, rewrite.ModelChanged, 7},
		{"used by somebody, but held out", moved(func(f *Facts) { f.Limits.HoldOut = 1 }), rewrite.Fresh, rewrite.HeldOut, 7},
		{"used by somebody, but ended", moved(func(f *Facts) { f.Chains[0].Reset = true }), rewrite.Fresh, rewrite.ContextReset, 7},
		{"used by somebody, but identical", moved(func(f *Facts) { f.Chains[0].Continuity.Relation = rewrite.Identical }), rewrite.Fresh, rewrite.Identical, 0},
		{"failed", first(func(c *ChainFacts) { c.State = Failed }), rewrite.Fresh, rewrite.PreviousFailed, 7},
		{"stopped at its turns", limited(Proof{Trace: true, Caller: "loop"}), rewrite.Fresh, rewrite.NoEvidence, 0},
		{"stopped at its turns, and to go on", limited(Proof{Past: true, Caller: "loop"}), rewrite.Resume, rewrite.Extends, 7},
		{"stopped at its turns, no evidence", limited(Proof{}), rewrite.Fresh, rewrite.NoEvidence, 0},
		{"stopped at its turns, no evidence asked for", both(unnamed(UnnamedExtends), limited(Proof{})), rewrite.Resume, rewrite.Extends, 7},
		{"stopped at its turns, and again", both(related(rewrite.Identical), limited(Proof{})), rewrite.Fresh, rewrite.Identical, 7},
		{"stopped at its turns, named, extends", named(limited(Proof{})), rewrite.Resume, rewrite.Extends, 7},
		{"stopped at its turns, named", named(both(related(rewrite.Revises), limited(Proof{}))), rewrite.Resume, rewrite.Revises, 7},
		{"killed", first(func(c *ChainFacts) { c.State = Killed }), rewrite.Fresh, rewrite.PreviousKilled, 7},
		{"never ended", first(func(c *ChainFacts) { c.State = Running }), rewrite.Fresh, rewrite.PreviousUnknown, 7},
		{"dead", first(func(c *ChainFacts) { c.State = Dead }), rewrite.Fresh, rewrite.SessionDead, 7},
		{"without an id", first(func(c *ChainFacts) { c.NativeID = "" }), rewrite.Fresh, rewrite.PreviousUnknown, 7},

		{"identical", related(rewrite.Identical), rewrite.Fresh, rewrite.Identical, 0},
		{"identical, after a failure", first(func(c *ChainFacts) {
			c.Continuity.Relation, c.State = rewrite.Identical, Failed
		}), rewrite.Fresh, rewrite.Identical, 7},
		{"identical, while the first runs", first(func(c *ChainFacts) {
			c.Continuity.Relation, c.State, c.Held = rewrite.Identical, Running, true
		}), rewrite.Fresh, rewrite.Identical, 0},
		{"identical is wanted", func(f *Facts) {
			f.Limits.ResumeSame = true
			f.Chains[0].Continuity.Relation = rewrite.Identical
		}, rewrite.Resume, rewrite.Identical, 7},
		{"identical is wanted, enough text", func(f *Facts) {
			f.Limits.ResumeSame, f.Chains[0].Continuity.Relation, f.Chains[0].BaseBytes = true, rewrite.Identical, 200
		}, rewrite.Resume, rewrite.Identical, 7},
		{"identical is wanted, too little text", func(f *Facts) {
			f.Limits.ResumeSame, f.Chains[0].Continuity.Relation, f.Chains[0].BaseBytes = true, rewrite.Identical, 199
		}, rewrite.Fresh, rewrite.Identical, 0},
		{"the answers of another one, without other evidence", second(Proof{}, true), rewrite.Fresh, rewrite.Ambiguous, 0},
		{"revised", related(rewrite.Revises), rewrite.Fresh, rewrite.BaseChanged, 0},
		{"taken back", related(rewrite.BaseChanged), rewrite.Fresh, rewrite.BaseChanged, 0},
		{"unrelated", related(rewrite.Unrelated), rewrite.Fresh, rewrite.BaseChanged, 0},
		{"edited", related(rewrite.HistoryEdited), rewrite.Fresh, rewrite.HistoryEdited, 0},
		{"too little text", first(func(c *ChainFacts) { c.BaseBytes = 23 }), rewrite.Fresh, rewrite.BaseTooSmall, 0},
		{"little text, with evidence", first(func(c *ChainFacts) { c.BaseBytes = 24 }), rewrite.Resume, rewrite.Extends, 7},
		{"too little text without evidence", func(f *Facts) { f.Limits.Unnamed, f.Chains[0].BaseBytes = UnnamedExtends, 199 }, rewrite.Fresh, rewrite.BaseTooSmall, 0},
		{"no evidence", proven(Proof{}), rewrite.Fresh, rewrite.NoEvidence, 0},
		{"a new role", against("judge"), rewrite.Fresh, rewrite.NewRole, 0},
		{"a clean start", against("clean"), rewrite.Fresh, rewrite.CleanStart, 0},
		{"an answer that was edited", against("shown"), rewrite.Fresh, rewrite.HistoryEdited, 0},
		{"no evidence asked for", both(against("judge"), unnamed(UnnamedExtends)), rewrite.Resume, rewrite.Extends, 7},
		{"an edited answer, no evidence asked for", both(shows("Your last report:"), unnamed(UnnamedExtends)), rewrite.Fresh, rewrite.HistoryEdited, 0},
		{"switched off", unnamed(UnnamedOff), rewrite.Fresh, rewrite.UnnamedOff, 0},
		{"switched off, named", both(unnamed(UnnamedOff), named(related(rewrite.Extends))), rewrite.Resume, rewrite.Extends, 7},
		{"evidence for one of two", second(Proof{}, false), rewrite.Resume, rewrite.Extends, 7},
		{"evidence for two", second(Proof{Transcript: true}, false), rewrite.Fresh, rewrite.Ambiguous, 0},
		{"the answers of one of two", second(Proof{Transcript: true}, true), rewrite.Resume, rewrite.Extends, 8},
		{"two fit", func(f *Facts) { f.Chains = append(f.Chains, f.Chains[0]) }, rewrite.Fresh, rewrite.Ambiguous, 0},
		{"two fit, one is dead", func(f *Facts) {
			f.Chains = append(f.Chains, f.Chains[0])
			f.Chains[1].Chain, f.Chains[1].Session, f.Chains[1].State = 9, 9, Dead
		}, rewrite.Fresh, rewrite.Ambiguous, 0},
		{"one fits, others are unknown", func(f *Facts) { f.More = true }, rewrite.Fresh, rewrite.Ambiguous, 0},
		{"named: one is enough", named(func(f *Facts) { f.More = true }), rewrite.Resume, rewrite.Extends, 7},
		{"one of two fits", func(f *Facts) {
			f.Chains = append(f.Chains, f.Chains[0])
			f.Chains[0].Chain, f.Chains[0].Continuity.Relation = 9, rewrite.Unrelated
		}, rewrite.Resume, rewrite.Extends, 7},
		{"fits one, repeats the other", func(f *Facts) {
			f.Chains = append(f.Chains, f.Chains[0])
			f.Chains[0].Continuity.Relation = rewrite.Identical
		}, rewrite.Resume, rewrite.Extends, 7},

		{"named: revised", named(related(rewrite.Revises)), rewrite.Resume, rewrite.Revises, 7},
		{"named: unrelated", named(related(rewrite.Unrelated)), rewrite.Fresh, rewrite.BaseChanged, 7},
		{"named: unrelated is wanted", named(both(related(rewrite.Unrelated), unrelated)), rewrite.Resume, rewrite.Unrelated, 7},
		{"named: unrelated is wanted, and a clean start", named(both(related(rewrite.Unrelated), both(unrelated, finishes("clean")))), rewrite.Resume, rewrite.Unrelated, 7},
		{"named: unrelated, but with the whole answer", named(both(related(rewrite.Unrelated), quotes(200, true))), rewrite.Resume, rewrite.Unrelated, 7},
		{"named: unrelated, with an answer that may be another's", named(both(related(rewrite.Unrelated), quotes(200, false))), rewrite.Fresh, rewrite.BaseChanged, 7},
		{"named: unrelated, with a short answer", named(both(related(rewrite.Unrelated), quotes(199, true))), rewrite.Fresh, rewrite.BaseChanged, 7},
		{"named: a clean start", named(finishes("clean")), rewrite.Fresh, rewrite.CleanStart, 7},
		{"named: a clean start of a conversation", named(both(finishes("clean"), first(func(c *ChainFacts) { c.Continuity.Evidence.Transcript = true }))), rewrite.Resume, rewrite.Extends, 7},
		{"named: a new role", named(both(related(rewrite.Revises), finishes("role"))), rewrite.Fresh, rewrite.NewRole, 7},
		{"named: words that count only without a name", named(against("judge")), rewrite.Resume, rewrite.Extends, 7},
		{"named: another answer than the session's", named(shows("Your last report:")), rewrite.Fresh, rewrite.HistoryEdited, 7},
		{"named: the session's answer and another", named(both(shows("Your last report:"), quotes(40, true))), rewrite.Resume, rewrite.Extends, 7},
		{"named: no role like it", named(func(f *Facts) { f.Chains, f.Others = nil, true }), rewrite.Fresh, rewrite.NewRole, 0},
		{"named: identical", named(related(rewrite.Identical)), rewrite.Fresh, rewrite.Identical, 7},
		{"named: edited", named(related(rewrite.HistoryEdited)), rewrite.Fresh, rewrite.HistoryEdited, 7},
		{"named: taken back", named(related(rewrite.BaseChanged)), rewrite.Fresh, rewrite.BaseChanged, 7},
		{"named: little text", named(first(func(c *ChainFacts) { c.BaseBytes = 1 })), rewrite.Resume, rewrite.Extends, 7},
		{"named: asked to be fresh", named(func(f *Facts) { f.Fresh = rewrite.ForcedFresh }), rewrite.Fresh, rewrite.ForcedFresh, 7},
		{"named: attempt goes down", named(attempts(0, 1)), rewrite.Fresh, rewrite.AttemptReset, 7},
		{"named: attempt goes down, same prompt", named(func(f *Facts) {
			attempts(0, 1)(f)
			f.Chains[0].Continuity.Relation = rewrite.Identical
		}), rewrite.Fresh, rewrite.AttemptReset, 7},
		{"named: answer ended the chain", named(first(func(c *ChainFacts) { c.Reset = true })), rewrite.Fresh, rewrite.ContextReset, 7},
		{"named: identical is wanted", named(func(f *Facts) { related(rewrite.Identical)(f); f.Limits.ResumeSame = true }), rewrite.Resume, rewrite.Identical, 7},
		{"named: edited, identical is wanted", named(func(f *Facts) { related(rewrite.HistoryEdited)(f); f.Limits.ResumeSame = true }), rewrite.Fresh, rewrite.HistoryEdited, 7},
		{"named: held, but another model", named(func(f *Facts) {
			f.Fingerprints.Model, f.Chains[0].State, f.Chains[0].Held = "n", Running, true
			f.Chains[0].Continuity.Relation = rewrite.Revises
		}), rewrite.Fresh, rewrite.ModelChanged, 7},
		{"named: idle", named(first(func(c *ChainFacts) { c.LastUsed = 0 })), rewrite.Fresh, rewrite.Idle, 7},
	}
}

// limited has the session's last run end at the turns it was allowed, and gives the call that proof.
func limited(p Proof) func(*Facts) {
	return func(f *Facts) { f.Chains[0].StateWhy, f.Chains[0].Proof = rewrite.TurnLimit, p }
}

// node is a session of a tree: its number, what it is a copy of, and how the prompt relates
// to what it was sent, which is so many blocks.
type node struct {
	session, parent int64
	relation        rewrite.Reason
	blocks          int
	change          func(*ChainFacts)
}

// treeFacts are those of a chain that has these sessions, the newest first.
func treeFacts(nodes ...node) Facts {
	f := goodFacts()
	one := f.Chains[0]
	f.Copies, f.Fork, f.Chains = true, true, nil
	for _, n := range nodes {
		c := one
		c.Session, c.Parent, c.Newest, c.Continuity.Relation = n.session, n.parent, nodes[0].session, n.relation
		for i := range n.blocks {
			c.base = append(c.base, rewrite.Digest{byte(i)})
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
		extends, revises, unrelated = rewrite.Extends, rewrite.Revises, rewrite.Unrelated
		identical, edited, changed  = rewrite.Identical, rewrite.HistoryEdited, rewrite.BaseChanged
	)
	failed := func(c *ChainFacts) { c.State = Failed }
	running := func(c *ChainFacts) { c.State, c.Held = Running, true }
	crashed := func(c *ChainFacts) { c.State = Running }
	dead := func(c *ChainFacts) { c.State = Dead }
	reset := func(c *ChainFacts) { c.Reset = true }
	atOnce := func(c *ChainFacts) { c.Concurrent = true }
	other := func(c *ChainFacts) { c.base = []rewrite.Digest{{9}, {8}} }
	tests := []struct {
		name    string
		nodes   []node
		unnamed rewrite.Reason // "" where session is gone on from
		named   rewrite.Reason
		session int64
		byName  int64 // where that is another one
	}{
		{"the copy", []node{{2, 1, extends, 2, nil}, {1, 0, extends, 1, nil}}, "", "", 2, 0},
		{"what the copy is of", []node{{2, 1, edited, 2, nil}, {1, 0, extends, 1, nil}}, "", "", 1, 0},
		{"nothing is repeated but by name", []node{{2, 1, unrelated, 2, nil}, {1, 0, unrelated, 1, nil}}, changed, changed, 0, 0},
		{"one is another template", []node{{2, 0, unrelated, 2, nil}, {1, 0, revises, 1, nil}}, changed, "", 0, 1},
		{"another template runs", []node{{2, 0, unrelated, 2, running}, {1, 0, revises, 1, nil}}, changed, "", 0, 1},
		{"two at once, one shows its answer", []node{{2, 0, revises, 2, atOnce}, {1, 0, revises, 2, func(c *ChainFacts) { atOnce(c); c.Continuity.Evidence.Answer = 40 }}}, changed, "", 0, 1},
		{"round by round another note", []node{{2, 1, revises, 2, nil}, {1, 0, extends, 1, nil}}, "", "", 1, 2},
		{"taken back", []node{{2, 1, changed, 2, nil}, {1, 0, identical, 1, nil}}, identical, identical, 0, 0},
		{"the copy failed", []node{{2, 1, identical, 2, failed}, {1, 0, extends, 1, nil}}, "", "", 1, 0},
		{"the copy failed, by name", []node{{2, 1, revises, 2, failed}, {1, 0, revises, 1, nil}}, changed, "", 0, 1},
		{"the copy failed beside another, by name", []node{{2, 1, revises, 2, func(c *ChainFacts) { failed(c); atOnce(c) }}, {1, 0, revises, 1, nil}}, changed, "", 0, 1},
		{"the copy died unseen", []node{{2, 1, extends, 2, crashed}, {1, 0, extends, 1, nil}}, "", "", 1, 0},
		{"the copy was refused", []node{{2, 1, extends, 2, dead}, {1, 0, extends, 1, nil}}, "", "", 1, 0},
		{"the copy runs", []node{{2, 1, extends, 2, running}, {1, 0, extends, 1, nil}}, "", "", 1, 0},
		{"the copy runs, by name", []node{{2, 1, revises, 2, running}, {1, 0, revises, 1, nil}}, changed, rewrite.Leased, 0, 0},
		{"what failed is no copy", []node{{2, 0, extends, 1, failed}}, rewrite.PreviousFailed, rewrite.PreviousFailed, 0, 0},
		{"two copies, one of them meant", []node{{3, 1, changed, 2, nil}, {2, 1, extends, 2, nil}, {1, 0, extends, 1, nil}}, "", "", 2, 0},
		{"two copies, both repeated", []node{{3, 1, extends, 2, other}, {2, 1, extends, 2, nil}, {1, 0, extends, 1, nil}}, rewrite.Ambiguous, rewrite.Ambiguous, 0, 0},
		{"two copies, sent the same", []node{{3, 1, extends, 2, nil}, {2, 1, extends, 2, nil}, {1, 0, extends, 1, nil}}, rewrite.Ambiguous, rewrite.Ambiguous, 0, 0},
		{"two copies, none meant", []node{{3, 1, revises, 2, other}, {2, 1, revises, 2, nil}, {1, 0, revises, 1, nil}}, changed, rewrite.Ambiguous, 0, 0},
		{"a copy that was sent the same", []node{{2, 1, extends, 1, nil}, {1, 0, extends, 1, nil}}, "", "", 2, 0},
		{"two at once, one of them meant", []node{{2, 0, revises, 2, atOnce}, {1, 0, extends, 2, atOnce}}, "", "", 1, 0},
		{"two at once, none meant", []node{{2, 0, revises, 2, atOnce}, {1, 0, revises, 2, atOnce}}, changed, rewrite.Ambiguous, 0, 0},
		{"two at once, one is left", []node{{2, 0, revises, 2, atOnce}}, changed, rewrite.Ambiguous, 0, 0},
		{"two at once, one failed", []node{{2, 0, extends, 2, func(c *ChainFacts) { failed(c); atOnce(c) }}, {1, 0, revises, 1, atOnce}}, changed, rewrite.Ambiguous, 0, 0},
		{"two at once, one is over", []node{{2, 0, extends, 2, atOnce}, {1, 0, revises, 1, func(c *ChainFacts) { reset(c); atOnce(c) }}}, "", "", 2, 0},
		{"the newest is over", []node{{2, 0, revises, 2, reset}, {1, 0, revises, 1, nil}}, changed, "", 0, 1},
		{"the same again", []node{{2, 1, identical, 2, nil}, {1, 0, extends, 1, nil}}, identical, identical, 0, 0},
		{"another run is under way", []node{{2, 0, extends, 1, running}, {1, 0, extends, 1, nil}}, rewrite.Ambiguous, rewrite.Ambiguous, 0, 0},
		{"the copy stands behind its source", []node{{1, 0, extends, 1, nil}, {2, 1, extends, 1, nil}}, "", "", 2, 0},
		{"one was sent more than the other", []node{{2, 0, extends, 2, func(c *ChainFacts) { c.base[1] = c.base[0] }}, {1, 0, extends, 1, nil}}, "", "", 2, 0},
		{"one was sent more, but something else", []node{{2, 0, extends, 2, other}, {1, 0, extends, 1, nil}}, rewrite.Ambiguous, rewrite.Ambiguous, 0, 0},
		{"over", []node{{2, 1, extends, 2, reset}, {1, 0, extends, 1, reset}}, rewrite.ContextReset, rewrite.ContextReset, 0, 0},
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
			if want != "" && (d.Mode != rewrite.Fresh || d.Reason != want) || want == "" && (d.Mode != rewrite.Resume || d.Session != session || !d.Copy) {
				t.Errorf("%s, named %v: %s (%s) of %d, want %s of %d", tt.name, named, d.Mode, d.Reason, d.Session, want, session)
			}
		}
	}
}

// An attempt that goes down begins the job anew, whichever session the prompt repeats.
func TestDecideByTheHighestAttempt(t *testing.T) {
	f := treeFacts(node{2, 1, rewrite.BaseChanged, 2, func(c *ChainFacts) { c.Attempt = 2 }}, node{1, 0, rewrite.Extends, 1, func(c *ChainFacts) { c.Attempt = 1 }})
	f.Attempt = 1
	if d := Decide(f); d.Reason != rewrite.AttemptReset {
		t.Errorf("%s (%s)", d.Mode, d.Reason)
	}
}

// Where a busy session is waited for, or the call is to be fresh, a copy that runs counts.
func TestDecideWaitsForACopy(t *testing.T) {
	f := treeFacts(node{2, 1, rewrite.Extends, 2, func(c *ChainFacts) { c.State, c.Held = Running, true }}, node{1, 0, rewrite.Extends, 1, nil})
	f.Fork = false
	for _, f.Named = range []bool{false, true} {
		if d := Decide(f); d.Reason != rewrite.Leased || d.Chain != 7 {
			t.Errorf("named %v: %s (%s)", f.Named, d.Mode, d.Reason)
		}
	}
}

// A name goes on with its end, also where an identical prompt resumes and one that is over is repeated too.
func TestDecideIdenticalByName(t *testing.T) {
	f := treeFacts(node{2, 0, rewrite.Identical, 1, nil}, node{1, 0, rewrite.Extends, 2, func(c *ChainFacts) { c.Reset = true }})
	f.Named, f.Limits.ResumeSame = true, true
	if d := Decide(f); d.Mode != rewrite.Resume || d.Session != 2 {
		t.Errorf("%s (%s) of %d", d.Mode, d.Reason, d.Session)
	}
}

// A name whose sessions are in use is waited for, though it does not tell them apart.
func TestDecideByABusyName(t *testing.T) {
	atOnce := func(c *ChainFacts) { c.Concurrent = true }
	f := treeFacts(node{2, 0, rewrite.Revises, 2, func(c *ChainFacts) { atOnce(c); c.State, c.Held = Running, true }}, node{1, 0, rewrite.Revises, 1, atOnce})
	f.Named = true
	if d := Decide(f); d.Reason != rewrite.Leased {
		t.Errorf("%s (%s)", d.Mode, d.Reason)
	}
}

func TestNearlyFull(t *testing.T) {
	limits := Limits{ContextShare: 0.5, UnknownWindow: 1000}
	for context, want := range map[rewrite.Context]bool{
		{}: false, {Used: 39, Limit: 100}: false, {Used: 40, Limit: 100}: true, {Used: 399}: false, {Used: 400}: true,
	} {
		if got := limits.NearlyFull(context, "stub"); got != want {
			t.Errorf("%+v: %v", context, got)
		}
	}
	for used, want := range map[int64]bool{419_430: false, 419_431: true} { // four fifths of half the model's window
		if got := limits.NearlyFull(rewrite.Context{Used: used}, "models/gemini-2.5-pro"); got != want {
			t.Errorf("%d tokens of gemini's window: %v", used, got)
		}
	}
	if !limits.NearlyFull(rewrite.Context{Used: 40, Limit: 100}, "gemini-2.5-pro") {
		t.Error("the window that the tool reports does not count")
	}
	if (Limits{ContextShare: 0.5}).NearlyFull(rewrite.Context{Used: 1 << 40}, "stub") {
		t.Error("a window that nobody knows is nearly full")
	}
}

func TestDecideSendsTheWholePrompt(t *testing.T) {
	f := goodFacts()
	if Decide(f).Whole {
		t.Error("a plain resume sends the whole prompt")
	}
	f.Chains[0].Compacted = true
	if !Decide(f).Whole {
		t.Error("a compacted session is sent a delta")
	}
	f = goodFacts()
	f.Limits.WholePrompt = true
	if !Decide(f).Whole {
		t.Error("delta = off sends a delta")
	}
}

// first changes the facts about the first session.
func first(change func(*ChainFacts)) func(*Facts) { return func(f *Facts) { change(&f.Chains[0]) } }

// proven has the call so much proof.
func proven(p Proof) func(*Facts) { return func(f *Facts) { f.Chains[0].Proof = p } }

// against has the prompt's words speak against the session.
func against(kind string) func(*Facts) {
	return func(f *Facts) { f.Chains[0].Against = []rewrite.Finding{{Kind: kind, Words: "words"}} }
}

// finishes has the prompt's words end the conversation.
func finishes(kind string) func(*Facts) {
	return func(f *Facts) { f.Chains[0].Ends = []rewrite.Finding{{Kind: kind, Words: "words"}} }
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

// unnamed sets what a call without a name needs.
func unnamed(u Unnamed) func(*Facts) { return func(f *Facts) { f.Limits.Unnamed = u } }

func both(change, also func(*Facts)) func(*Facts) {
	return func(f *Facts) { change(f); also(f) }
}

// second adds chain 8, which the prompt extends too, with that proof; shown has it show that one's answer.
func second(p Proof, shown bool) func(*Facts) {
	return func(f *Facts) {
		c := f.Chains[0]
		c.Chain, c.Session, c.Proof = 8, 8, p
		if shown {
			c.Continuity.Evidence.Newest, c.Continuity.Evidence.Answer = true, 40
		}
		f.Chains = append(f.Chains, c)
	}
}

// What a call without a name needs, by how its prompt relates to what the session was sent.
func TestVerdict(t *testing.T) {
	const loop = "loop.sh"
	long := quotes(200, true)
	none := func(*Facts) {}
	stopped := first(func(c *ChainFacts) { c.StateWhy = rewrite.TurnLimit })
	for name, tt := range map[string]struct {
		relation rewrite.Reason
		proof    Proof
		change   func(*Facts)
		want     rewrite.Reason
	}{
		"extends by nothing":                             {rewrite.Extends, Proof{}, none, rewrite.NoEvidence},
		"extends, same caller alone":                     {rewrite.Extends, Proof{Caller: loop}, none, rewrite.NoEvidence},
		"extends, conversation":                          {rewrite.Extends, Proof{Transcript: true}, none, ""},
		"extends, answer":                                {rewrite.Extends, Proof{Answer: true}, none, ""},
		"extends, flow":                                  {rewrite.Extends, Proof{Flow: 3, Caller: loop}, none, ""},
		"extends, flow of another caller":                {rewrite.Extends, Proof{Flow: 3}, none, rewrite.NoEvidence},
		"extends, trace":                                 {rewrite.Extends, Proof{Trace: true, Caller: loop}, none, ""},
		"extends, trace of another caller":               {rewrite.Extends, Proof{Trace: true}, none, rewrite.NoEvidence},
		"extends, past":                                  {rewrite.Extends, Proof{Past: true, Caller: loop}, none, ""},
		"extends, past of another caller":                {rewrite.Extends, Proof{Past: true}, none, rewrite.NoEvidence},
		"extends, a run cut short, past":                 {rewrite.Extends, Proof{Past: true, Caller: loop}, stopped, ""},
		"extends, a run cut short, answer":               {rewrite.Extends, Proof{Answer: true, Trace: true, Flow: 3, Caller: loop}, stopped, rewrite.NoEvidence},
		"extends, in a task that is known":               {rewrite.Extends, Proof{}, func(f *Facts) { f.SameTask = true }, ""},
		"extends, in a task that is known, a new role":   {rewrite.Extends, Proof{}, both(against("role"), func(f *Facts) { f.SameTask = true }), rewrite.NewRole},
		"revises, in a task that is known":               {rewrite.Revises, Proof{Caller: loop}, func(f *Facts) { f.SameTask = true }, rewrite.BaseChanged},
		"extends, no evidence wanted":                    {rewrite.Extends, Proof{}, unnamed(UnnamedExtends), ""},
		"extends behind other lines, no evidence wanted": {rewrite.Extends, Proof{}, both(unnamed(UnnamedExtends), first(func(c *ChainFacts) { c.Continuity.BeginsAlike = false })), rewrite.NoEvidence},
		"revises, no evidence wanted":                    {rewrite.Revises, Proof{}, unnamed(UnnamedExtends), rewrite.BaseChanged},
		"extends, cut short, no evidence wanted":         {rewrite.Extends, Proof{}, both(stopped, unnamed(UnnamedExtends)), ""},
		"extends, the same answer given twice":           {rewrite.Extends, Proof{Answer: true}, first(func(c *ChainFacts) { c.AnswerShared = true }), rewrite.Ambiguous},
		"conversation, the same answer twice":            {rewrite.Extends, Proof{Answer: true, Transcript: true}, first(func(c *ChainFacts) { c.AnswerShared = true }), ""},
		"flow, the same answer given twice":              {rewrite.Extends, Proof{Flow: 3, Caller: loop}, first(func(c *ChainFacts) { c.AnswerShared = true }), ""},
		"extends, everything, but a new role":            {rewrite.Extends, Proof{Transcript: true, Answer: true, Flow: 3, Caller: loop}, against("role"), rewrite.NewRole},
		"extends by nothing, a sample":                   {rewrite.Extends, Proof{}, against("sample"), rewrite.NoEvidence},
		"extends by nothing, a rival":                    {rewrite.Extends, Proof{}, against("rival"), rewrite.NewRole},
		"revises by nothing":                             {rewrite.Revises, Proof{Caller: loop}, none, rewrite.BaseChanged},
		"revises, answer":                                {rewrite.Revises, Proof{Answer: true, Caller: loop}, none, ""},
		"revises, answer of another caller":              {rewrite.Revises, Proof{Answer: true}, none, rewrite.BaseChanged},
		"revises, flow":                                  {rewrite.Revises, Proof{Flow: 3, Caller: loop}, none, ""},
		"revises, flow of another caller":                {rewrite.Revises, Proof{Flow: 3}, none, rewrite.BaseChanged},
		"revises, trace":                                 {rewrite.Revises, Proof{Trace: true, Caller: loop}, none, ""},
		"revises, past":                                  {rewrite.Revises, Proof{Past: true, Caller: loop}, none, ""},
		"revises, a run cut short":                       {rewrite.Revises, Proof{Flow: 3, Past: true, Caller: loop}, stopped, rewrite.BaseChanged},
		"revises, flow, but a judge":                     {rewrite.Revises, Proof{Flow: 3, Caller: loop}, against("judge"), rewrite.NewRole},
		"short, whole answer":                            {rewrite.Unrelated, Proof{Answer: true, Caller: loop}, long, ""},
		"short, whole answer, another caller":            {rewrite.Unrelated, Proof{Answer: true}, long, rewrite.BaseChanged},
		"short, somebody's answer":                       {rewrite.Unrelated, Proof{Caller: loop}, quotes(200, false), rewrite.BaseChanged},
		"short, short answer":                            {rewrite.Unrelated, Proof{Answer: true, Caller: loop}, quotes(199, true), rewrite.BaseChanged},
		"long, whole answer":                             {rewrite.Unrelated, Proof{Answer: true, Caller: loop}, both(long, func(f *Facts) { f.PromptBytes = 2*200 + 1024 }), rewrite.BaseChanged},
		"nearly too long, whole answer":                  {rewrite.Unrelated, Proof{Answer: true, Caller: loop}, both(long, func(f *Facts) { f.PromptBytes = 2*200 + 1023 }), ""},
		"short, whole answer, of a run cut short":        {rewrite.Unrelated, Proof{Answer: true, Caller: loop}, both(long, stopped), rewrite.BaseChanged},
		"edited, everything":                             {rewrite.HistoryEdited, Proof{Answer: true, Flow: 3, Caller: loop}, long, rewrite.HistoryEdited},
		"taken back, everything":                         {rewrite.BaseChanged, Proof{Answer: true, Flow: 3, Caller: loop}, long, rewrite.BaseChanged},
	} {
		f := goodFacts()
		f.Chains[0].Continuity.Relation, f.Chains[0].Proof = tt.relation, tt.proof
		tt.change(&f)
		if got := f.verdict(&f.Chains[0]); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
