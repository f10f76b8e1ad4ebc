package decide

import (
	"fmt"
)

// A Proof is what shows that a call continues a session, as far as it is known. It holds no text.
type Proof struct {
	Transcript bool  `json:"transcript,omitempty"` // the prompt shows every answer, unchanged, and a new turn
	Work       bool  `json:"work,omitempty"`       // the session's runs changed files
	Answer     bool  `json:"answer,omitempty"`     // it shows the session's newest answer
	Flow       int64 `json:"flow,omitempty"`       // the later call with an answer that the prompt shows, 0 for none
	// a new log names a file of the session's work, or a name that the answer said first
	Trace    bool   `json:"trace,omitempty"`
	Failure  bool   `json:"failure,omitempty"`  // it says that the session's last run failed
	Rejected bool   `json:"rejected,omitempty"` // it adds a heading over a rejection, "Rejection 2"
	Caller   string `json:"caller,omitempty"`   // the program that made both calls in one run, "" if none is known
	Terminal bool   `json:"terminal,omitempty"` // a person typed both calls in one shell
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
	add(p.Flow != 0, fmt.Sprintf("the answer of call %d stands in the prompt", p.Flow))
	add(p.Work, "the files that the session changed are as it left them")
	add(p.Trace, "a log in the prompt names the session's work")
	add(p.Failure, "the prompt says that the session's last run failed")
	add(p.Rejected, "the prompt adds a rejection under a heading")
	add(p.Caller != "", "the same run of "+p.Caller+" made both calls")
	add(p.Terminal, "both calls were typed in one shell")
	return facts
}
