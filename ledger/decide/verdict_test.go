package decide

import (
	"slices"
	"strings"
	"testing"

	"reprise/rewrite"
	"reprise/rewrite/reason"
)

// Each fact of a proof has its sentence, and a fact that implies another one has the only sentence
// of the two.
func TestProof(t *testing.T) {
	for _, tt := range []struct {
		proof Evidence
		want  []string
	}{
		{Evidence{}, nil},
		{Evidence{Transcript: true, Answer: true},
			[]string{"the prompt shows the whole conversation, unchanged"}},
		{Evidence{Answer: true}, []string{"the session's own answer stands in the prompt"}},
		{Evidence{Flow: 12}, []string{"the answer of call 12 stands in the prompt"}},
		{Evidence{Trace: true}, []string{"a log in the prompt names the session's work"}},
		{Evidence{Failure: true}, []string{"the prompt says that the session's last run failed"}},
		{Evidence{Rejected: true}, []string{"the prompt adds a rejection under a heading"}},
		{Evidence{Work: true}, []string{"the files that the session changed are as it left them"}},
		{Evidence{Terminal: true}, []string{"both calls were typed in one shell"}},
		{Evidence{Caller: "loop.sh"}, []string{"the same run of loop.sh made both calls"}},
	} {
		if got := tt.proof.Sentences(); !slices.Equal(got, tt.want) {
			t.Errorf("%+v: %q, want %q", tt.proof, got, tt.want)
		}
	}
}

// A name leads to a prompt that repeats nothing only if the session's own newest answer is shown,
// by the same caller, with work that stands.
func TestQuotesOwn(t *testing.T) {
	lacks := []func(*ChainFacts){
		func(*ChainFacts) {},
		func(c *ChainFacts) { c.Continuity.Evidence.Own = false },
		func(c *ChainFacts) { c.Evidence.Answer = false },
		func(c *ChainFacts) { c.Evidence.Work = false },
		func(c *ChainFacts) { c.Evidence.Caller = "" },
	}
	for i, lack := range lacks {
		var c ChainFacts
		c.Continuity.Evidence.Own, c.Evidence = true,
			Evidence{Answer: true, Work: true, Caller: "loop.sh"}
		lack(&c)
		if got := new(Facts).quotesOwn(&c); got != (i == 0) {
			t.Errorf("lack %d: %v", i, got)
		}
	}
}

// A decision says which settings have changed, and that a named prompt had nothing to do with the
// session; nothing else does.
func TestDetails(t *testing.T) {
	for name, tt := range map[string]struct {
		change  func(*Facts)
		detail  reason.Code
		changed string
	}{
		"named: unrelated":  {func(f *Facts) { f.Named, f.Chains[0].Continuity.Relation = true, reason.Unrelated }, reason.Unrelated, ""},
		"named: taken back": {func(f *Facts) { f.Named, f.Chains[0].Continuity.Relation = true, reason.BaseChanged }, "", ""},
		"settings": {func(f *Facts) {
			f.Fingerprints.Settings = NewDigests([]NamedDigest{{reason.SettingsChanged,
				"tools", "1"}})
		}, "", "tools"},
		"settings, but busy": {func(f *Facts) {
			f.Fingerprints.Settings = NewDigests([]NamedDigest{{reason.SettingsChanged,
				"tools", "1"}})
			f.Chains[0].Held = true
		}, "", "tools"},
		"settings, but asked to be fresh": {func(f *Facts) {
			f.Fingerprints.Settings = NewDigests([]NamedDigest{{reason.SettingsChanged,
				"tools", "1"}})
			f.Fresh = reason.ForcedFresh
		}, "", ""},
	} {
		f := goodFacts()
		f.Fingerprints.Settings, f.Chains[0].Fingerprints.Settings = "", ""
		tt.change(&f)
		if d := Decide(f); d.Detail != tt.detail || strings.Join(d.Changed, " ") != tt.changed ||
			d.Mode != rewrite.Fresh {
			t.Errorf("%s: %s (%s), detail %q, changed %q", name, d.Mode, d.Reason, d.Detail,
				d.Changed)
		}
	}
}

// The words about the last run, which take long to find, are looked for where the decision turns on
// them, and for the evidence that is shown.
func TestWordsOnDemand(t *testing.T) {
	for _, tt := range []struct {
		evidence Evidence
		proven   bool
		searches int
	}{
		{Evidence{}, false, 0},
		{Evidence{Work: true, Caller: "loop.sh"}, true, 0},
		{Evidence{Caller: "loop.sh"}, true, 1},
	} {
		searches := 0
		c := ChainFacts{Evidence: tt.evidence, Said: func() (failure, rejected bool) {
			searches++
			return false, true
		}}
		c.Continuity.Relation = reason.Extends
		if got := (&Facts{}).proven(&c); got != tt.proven || searches != tt.searches {
			t.Errorf("%+v: %v after %d searches, want %v after %d", tt.evidence, got, searches,
				tt.proven, tt.searches)
		}
		if !c.Shown().Rejected {
			t.Errorf("%+v is shown without the rejection", tt.evidence)
		}
	}
}
