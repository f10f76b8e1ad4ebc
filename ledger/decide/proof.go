package decide

import (
	"encoding/json"
	"fmt"
)

// A Proof is what shows that a call continues a session, as far as it is known. It holds no text.
type Proof struct {
	Transcript bool   `json:"transcript,omitempty"` // the prompt shows every answer, unchanged, and a new turn
	Answer     bool   `json:"answer,omitempty"`     // it shows the session's newest answer
	Flow       int64  `json:"flow,omitempty"`       // the call, whose answer since then the prompt shows, 0 for none
	Report     int64  `json:"report,omitempty"`     // the call whose answer since then names a file that the prompt names, 0 for none
	Trace      bool   `json:"trace,omitempty"`      // it names what the session touched or said first
	Past       bool   `json:"past,omitempty"`       // it says how the session's last run turned out
	Caller     string `json:"caller,omitempty"`     // the program of which one run made both calls, "" if none is known
}

// Scan implements sql.Scanner. Calls of older versions have no proof.
func (p *Proof) Scan(column any) error {
	*p = Proof{}
	if text, _ := column.(string); text != "" {
		return json.Unmarshal([]byte(text), p)
	}
	return nil
}

// elsewhere stands for the number of a call that another machine's ledger has.
const elsewhere = -1

// Unnumbered returns the proof for readers of another ledger.
func (p Proof) Unnumbered() Proof {
	for _, call := range []*int64{&p.Flow, &p.Report} {
		if *call != 0 {
			*call = elsewhere
		}
	}
	return p
}

// Sentences returns the facts of a proof, one a sentence.
func (p Proof) Sentences() (facts []string) {
	add := func(known bool, sentence string) {
		if known {
			facts = append(facts, sentence)
		}
	}
	add(p.Transcript, "the prompt shows the whole conversation, unchanged")
	add(p.Answer && !p.Transcript, "the session's own answer stands in the prompt")
	add(p.Flow != 0, fmt.Sprintf("the answer of %s stands in the prompt", callWords(p.Flow)))
	add(p.Report != 0 && p.Flow == 0, fmt.Sprintf("the prompt names a file that the answer of %s speaks of", callWords(p.Report)))
	add(p.Trace, "the prompt names what the session touched or said first")
	add(p.Past, "the prompt says how the session's last run turned out")
	add(p.Caller != "", "the same run of "+p.Caller+" made both calls")
	return facts
}

func callWords(call int64) string {
	if call == elsewhere {
		return "another call"
	}
	return fmt.Sprintf("call %d", call)
}
