package decide

import "fmt"

// Evidence are the facts that show that a call continues a session, as far as they are known. It
// holds no text.
type Evidence struct {
	// the prompt shows every answer, unchanged, and a new turn
	Transcript bool `json:"transcript,omitempty"`
	Work       bool `json:"work,omitempty"`   // the session's runs changed files
	Answer     bool `json:"answer,omitempty"` // it shows the session's newest answer
	// the later call with an answer that the prompt shows, 0 for none
	Flow int64 `json:"flow,omitempty"`
	// a new log names a file of the session's work, or a name that the answer said first
	Trace    bool `json:"trace,omitempty"`
	Failure  bool `json:"failure,omitempty"`  // it says that the session's last run failed
	Rejected bool `json:"rejected,omitempty"` // it adds a heading over a rejection, "Rejection 2"
	// the program that made both calls in one run, "" if none is known
	Caller   string `json:"caller,omitempty"`
	Terminal bool   `json:"terminal,omitempty"` // a person typed both calls in one shell
}

// Sentences returns the facts, one a sentence.
func (e Evidence) Sentences() (facts []string) {
	add := func(known bool, sentence string) {
		if known {
			facts = append(facts, sentence)
		}
	}
	add(e.Transcript, "the prompt shows the whole conversation, unchanged")
	add(e.Answer && !e.Transcript, "the session's own answer stands in the prompt")
	add(e.Flow != 0, fmt.Sprintf("the answer of call %d stands in the prompt", e.Flow))
	add(e.Work, "the files that the session changed are as it left them")
	add(e.Trace, "a log in the prompt names the session's work")
	add(e.Failure, "the prompt says that the session's last run failed")
	add(e.Rejected, "the prompt adds a rejection under a heading")
	add(e.Caller != "", "the same run of "+e.Caller+" made both calls")
	add(e.Terminal, "both calls were typed in one shell")
	return facts
}
