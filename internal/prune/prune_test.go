package prune

import (
	"fmt"
	"slices"
	"testing"

	"reprise/ledger"
	"reprise/ledger/decide"
)

const (
	hour = decide.Millis(3_600_000)
	day  = 24 * hour
	now  = 100 * day
)

var week = Retention{KeepWithin: 7 * day, TTL: hour, MaxAge: day}

// session returns a session with nothing but an age.
func session(id, chain int64, used decide.Millis) ledger.SessionFile {
	return ledger.SessionFile{ID: id, Chain: chain, SessionRecord: decide.SessionRecord{
		State: decide.Live, Created: used - hour, LastUsed: used}}
}

func TestApply(t *testing.T) {
	old := func(change func(*ledger.SessionFile)) []ledger.SessionFile {
		s := session(1, 1, now-8*day)
		change(&s)
		return []ledger.SessionFile{s}
	}
	short := Retention{KeepWithin: 1, TTL: hour, MaxAge: day}
	fresh := func(change func(*ledger.SessionFile)) []ledger.SessionFile {
		s := session(1, 1, now-hour)
		s.Current = true
		change(&s)
		return []ledger.SessionFile{s}
	}
	copied := Retention{KeepWithin: 7 * day, KeepLast: 2, TTL: 2 * day, MaxAge: 9 * day,
		Superseded: day}
	superseded := func(change func(*ledger.SessionFile)) []ledger.SessionFile {
		s := session(1, 1, now-2*day)
		s.Current, s.Superseded = true, now-day-1
		change(&s)
		return []ledger.SessionFile{s}
	}
	cases := []struct {
		name     string
		policy   Retention
		sessions []ledger.SessionFile
		look     Reason
		want     string // "ID keep reasons" of each
	}{
		{"nothing", week, nil, "", ""},
		{"old", week, old(func(*ledger.SessionFile) {}), "", "1 remove [too_old]"},
		{"just within", week, []ledger.SessionFile{session(1, 1, now-7*day)},
			"", "1 keep [within]"},
		{"just beyond", week, []ledger.SessionFile{session(1, 1, now-7*day-1)},
			"", "1 remove [too_old]"},
		{"held", week, old(func(s *ledger.SessionFile) { s.Held = true }), "", "1 keep [leased]"},
		{"observed", week, old(func(s *ledger.SessionFile) { s.Observed = true }),
			"", "1 keep [caller_owned]"},
		{"file", week, old(func(*ledger.SessionFile) {}), Changed, "1 keep [changed]"},
		{"the future", short,
			fresh(func(s *ledger.SessionFile) { s.LastUsed, s.Current = now+1, false }), "",
			"1 keep [clock]"},
		{"begun in the future", short,
			fresh(func(s *ledger.SessionFile) { s.Created, s.Current = now+1, false }), "",
			"1 keep [clock]"},
		{"this moment", Retention{}, fresh(func(s *ledger.SessionFile) {
			s.LastUsed, s.Created, s.Current = now, now, false
		}), "", "1 remove []"},
		{"this moment is within", week, []ledger.SessionFile{session(1, 1, now)},
			"", "1 keep [within]"},
		{"within a millisecond", short, []ledger.SessionFile{session(1, 1, now-1)},
			"", "1 keep [within]"},
		{"might just be resumed", short,
			fresh(func(s *ledger.SessionFile) { s.Created = now - day }),
			"", "1 keep [resumable]"},
		{"may be resumed", short, fresh(func(*ledger.SessionFile) {}), "", "1 keep [resumable]"},
		{"an older one of its chain", short,
			fresh(func(s *ledger.SessionFile) { s.Current = false }), "", "1 remove [too_old]"},
		{"ended", short, fresh(func(s *ledger.SessionFile) { s.Reset = true }),
			"", "1 remove [too_old]"},
		{"failed", short, fresh(func(s *ledger.SessionFile) { s.State = decide.Failed }),
			"", "1 remove [too_old]"},
		{"idle too long", short, fresh(func(s *ledger.SessionFile) { s.LastUsed = now - hour - 1 }),
			"", "1 remove [too_old]"},
		{"begun too long ago", short,
			fresh(func(s *ledger.SessionFile) { s.Created = now - day - 1 }), "",
			"1 remove [too_old]"},
		{"the last two of each chain", Retention{KeepLast: 2}, []ledger.SessionFile{
			session(1, 1, 10), session(2, 1, 30), session(3, 1, 20), session(4, 2, 5),
		}, "", "2 keep [last]; 3 keep [last]; 1 remove [not_newest]; 4 keep [last]"},
		{"continued in a copy", copied, superseded(func(*ledger.SessionFile) {}),
			"", "1 remove [superseded]"},
		{"continued in a copy at the first moment", copied,
			superseded(func(s *ledger.SessionFile) { s.Superseded = 1 }), "",
			"1 remove [superseded]"},
		{"continued, to be kept for a moment", Retention{KeepLast: 2, Superseded: 1},
			superseded(func(*ledger.SessionFile) {}), "", "1 remove [superseded]"},
		{"continued not long ago", copied,
			superseded(func(s *ledger.SessionFile) { s.Superseded++ }), "",
			"1 keep [within last resumable]"},
		{"continued, and used since", copied,
			superseded(func(s *ledger.SessionFile) { s.LastUsed = now - day }), "",
			"1 keep [within last resumable]"},
		{"continued, and held", copied, superseded(func(s *ledger.SessionFile) { s.Held = true }),
			"", "1 keep [leased]"},
		{"continued, also by its caller", copied,
			superseded(func(s *ledger.SessionFile) { s.Observed = true }), "",
			"1 keep [caller_owned]"},
		{"continued, and open", copied, superseded(func(*ledger.SessionFile) {}),
			Open, "1 keep [open]"},
		{"the end of its chain", copied,
			superseded(func(s *ledger.SessionFile) { s.Superseded = 0 }), "",
			"1 keep [within last resumable]"},
		{"continued, as long as others", week, superseded(func(*ledger.SessionFile) {}),
			"", "1 keep [within]"},
		{"either part keeps", Retention{KeepWithin: day, KeepLast: 1}, []ledger.SessionFile{
			session(1, 1, now-2*day), session(2, 1, now-hour), session(3, 1, now-2*hour),
		}, "", "2 keep [within last]; 3 keep [within]; 1 remove [too_old not_newest]"},
	}
	for _, c := range cases {
		looked := 0
		verdicts := Apply(now, c.sessions, c.policy,
			func(ledger.SessionFile) Reason { looked++; return c.look })
		got, removed := "", 0
		for i, v := range verdicts {
			if i > 0 {
				got += "; "
			}
			verb := "keep"
			if v.Remove {
				verb = "remove"
				removed++
			}
			got += fmt.Sprintf("%d %s %v", v.ID, verb, v.Reasons)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if looked < removed || c.look == "" && looked != removed {
			t.Errorf("%s: looked at %d, removes %d", c.name, looked, removed)
		}
	}
}

// A session that must stay stays, with any other facts.
func TestNothingInUseIsRemoved(t *testing.T) {
	for bits := range 1 << 6 {
		has := func(n int) bool { return bits&(1<<n) != 0 }
		s := session(1, 1, now-day)
		s.Held, s.Observed, s.Current, s.Reset = has(0), has(1), has(2), has(3)
		var why Reason
		if has(4) {
			why = Forked
		}
		p := Retention{KeepWithin: hour, TTL: hour, MaxAge: day}
		if has(5) {
			p.TTL, p.MaxAge = 3*day, 3*day
		}
		v := Apply(now, []ledger.SessionFile{s}, p, func(ledger.SessionFile) Reason {
			return why
		})[0]
		must := s.Held || s.Observed || why != "" || s.Current && !s.Reset && has(5)
		if v.Remove == must || len(v.Reasons) == 0 {
			t.Errorf("%+v: %v %v", s, v.Remove, v.Reasons)
		}
	}
}

func TestEmptyPolicy(t *testing.T) {
	for p, want := range map[Retention]bool{{}: true, {TTL: 1, MaxAge: 1}: true,
		{KeepLast: 1}: false, {KeepWithin: 1}: false} {
		if p.KeepsNothing() != want {
			t.Errorf("%+v: keeps nothing: %v", p, !want)
		}
	}
}

func TestInputIsLeftAlone(t *testing.T) {
	in := []ledger.SessionFile{session(1, 2, 1), session(2, 1, 2)}
	before := slices.Clone(in)
	Apply(now, in, week, func(ledger.SessionFile) Reason { return "" })
	if !slices.EqualFunc(in, before, func(a, b ledger.SessionFile) bool { return a.ID == b.ID }) {
		t.Error("sessions were reordered")
	}
}
