package shim

import (
	"encoding/json"
	"os"
	"testing"

	"reprise/rewrite"
)

func TestMeasure(t *testing.T) {
	for _, file := range []string{"/work/shared/prompts/evidence.json", "../testdata/evidence/red-team.json", "../testdata/evidence/callers.json", "../testdata/evidence/held-out.json", "../testdata/evidence/blind.json", "/work/shared/prompts/adversarial.json"} {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var all []sequence
		if err := json.Unmarshal(data, &all); err != nil {
			t.Fatal(err)
		}
		wanted, taken, must, wrong := 0, 0, 0, 0
		for _, s := range all {
			for i, d := range s.decisions(t) {
				if i == 0 {
					continue
				}
				resumed := d.Mode.Continues()
				switch s.Calls[i].Expect {
				case "resume":
					wanted++
					if resumed {
						taken++
					} else {
						t.Logf("MISSED %s %d: %s", s.Name, i+1, d.Reason)
					}
				case "fresh":
					must++
					if resumed {
						wrong++
						t.Logf("WRONG %s %d: %s %v", s.Name, i+1, d.Reason, d.Proof.Sentences())
					}
				}
			}
		}
		t.Logf("%s: wanted %d of %d, wrong %d of %d", file, taken, wanted, wrong, must)
	}
}

var _ = rewrite.Fresh
