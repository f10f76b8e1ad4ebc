package shim

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"reprise/config"
	"reprise/ledger"
	"reprise/rewrite"
)

// The sequences of testdata/evidence were written to be resumed wrongly, or by callers who want a resume. None of their calls
// that must be fresh is resumed; of those that may be resumed, evidence is found for at least the share given here. red-team.json
// is of an attack that knew the code. The others were written
// from the documentation of callers alone: when they were first played, 3 of the 85 sequences of callers.json, none of the 91
// of held-out.json and 4 of the 106 of blind.json that must not be resumed were.
func TestEvidence(t *testing.T) {
	for file, least := range map[string]float64{"red-team.json": 0.6, "callers.json": 0.5, "held-out.json": 0.85, "blind.json": 0.4} {
		data, err := os.ReadFile(filepath.Join("../testdata/evidence", file))
		if err != nil {
			t.Fatal(err)
		}
		var all []sequence
		if err := json.Unmarshal(data, &all); err != nil || len(all) == 0 {
			t.Fatalf("%s: %d sequences, %v", file, len(all), err)
		}
		wanted, taken := 0, 0
		for _, s := range all {
			for i, d := range s.decisions(t) {
				want := s.Calls[i].Expect == string(rewrite.Resume)
				switch {
				case want:
					wanted++
					if d.Mode == rewrite.Resume {
						taken++
					}
				case d.Mode != rewrite.Fresh:
					t.Errorf("%s: %s: call %d is a %s (%s), for %v, against %v", file, s.Name, i+1, d.Mode, d.Reason,
						d.Continuity.Evidence.For, d.Continuity.Evidence.Against)
				}
			}
		}
		t.Logf("%s: of %d calls that may be resumed %d are", file, wanted, taken)
		if float64(taken) < least*float64(wanted) {
			t.Errorf("%s: of %d calls that may be resumed only %d are", file, wanted, taken)
		}
	}
}

// decisions plays the sequence in a ledger of its own, and returns what became of each call.
func (s sequence) decisions(t *testing.T) (out []ledger.Decision) {
	t.Helper()
	l, err := ledger.Open(filepath.Join(t.TempDir(), "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	now := ledger.Millis(1_800_000_000_000)
	for i := range s.Calls {
		now += 60_000
		d, _ := s.decide(t, l, config.Default(), i, now)
		out = append(out, d)
	}
	return out
}
