package decide

import (
	"encoding/json"
	"slices"
	"testing"
)

// Each fact of a proof has its sentence, and what implies another fact has its sentence alone.
func TestProof(t *testing.T) {
	for _, tt := range []struct {
		proof Proof
		want  []string
	}{
		{Proof{}, nil},
		{Proof{Transcript: true, Answer: true}, []string{"the prompt shows the whole conversation, unchanged"}},
		{Proof{Answer: true}, []string{"the session's own answer stands in the prompt"}},
		{Proof{Flow: 12}, []string{"the answer of call 12 stands in the prompt"}},
		{Proof{Trace: true}, []string{"a log in the prompt names the session's work"}},
		{Proof{Failure: true}, []string{"the prompt says that the session's last run failed"}},
		{Proof{Rejected: true}, []string{"the prompt adds a rejection under a heading"}},
		{Proof{Work: true}, []string{"the files that the session changed are as it left them"}},
		{Proof{Terminal: true}, []string{"both calls were typed in one shell"}},
		{Proof{Caller: "loop.sh"}, []string{"the same run of loop.sh made both calls"}},
	} {
		if got := tt.proof.Sentences(); !slices.Equal(got, tt.want) {
			t.Errorf("%+v: %q, want %q", tt.proof, got, tt.want)
		}
		read := Proof{Failure: true, Flow: 99}
		text, err := json.Marshal(tt.proof)
		if err != nil {
			t.Fatal(err)
		}
		if err := read.Scan(string(text)); err != nil || read != tt.proof {
			t.Errorf("%+v is read as %+v, %v", tt.proof, read, err)
		}
	}
	read := Proof{Failure: true}
	if err := read.Scan(""); err != nil || read != (Proof{}) {
		t.Errorf("none is read as %+v, %v", read, err)
	}
}
