package ledger

import (
	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/reason"
)

// A LoggedCall is a call in the log of several machines. The JSON names are the format of such
// logs, and never change.
type LoggedCall struct {
	When     decide.Millis  `json:"when"` // its start
	Duration decide.Millis  `json:"duration"`
	Host     string         `json:"host"`
	Project  string         `json:"project"`
	Cwd      string         `json:"cwd,omitempty"`
	Chain    string         `json:"chain,omitempty"` // that of an unnamed chain
	Tool     string         `json:"tool"`
	Rule     string         `json:"rule,omitempty"`
	Task     string         `json:"task,omitempty"`
	Role     string         `json:"role,omitempty"`
	Model    string         `json:"model,omitempty"`
	Mode     rewrite.Mode   `json:"mode"`
	Reason   reason.Code    `json:"reason"`
	Detail   reason.Code    `json:"detail,omitempty"`
	Changed  string         `json:"changed,omitempty"` // names of what has changed, apart by tabs
	Proof    decide.Proof   `json:"proof,omitzero"`    // without numbers of calls
	FellBack reason.Code    `json:"fell_back,omitempty"`
	From     string         `json:"from,omitempty"`    // the host on which the resumed session was last used
	Resumed  string         `json:"resumed,omitempty"` // that session's ID
	Session  string         `json:"session,omitempty"` // in which the call ended
	Arm      string         `json:"arm,omitempty"`     // Control or Treated
	Outcome  string         `json:"outcome"`
	Exit     int            `json:"exit,omitempty"`
	Signal   int            `json:"signal,omitempty"`
	Format   rewrite.Format `json:"format,omitempty"`
	Prompt   int            `json:"prompt_bytes"`
	Sent     int            `json:"sent_bytes"`
	WhyWhole reason.Code    `json:"why_whole,omitempty"`
	Usage    rewrite.Usage  `json:"usage"`
	Lost     Lost           `json:"lost,omitempty"` // why its session is not in the store
	Size     int64          `json:"size,omitempty"` // of its session there, in bytes
}

// Lost is why a session that ended well is not in the store.
type Lost string

// Why it might not be there.
const (
	LostFenced   Lost = "fenced"    // another call had replaced it
	LostUnknown  Lost = "no_answer" // it is not known whether it arrived
	LostTooLarge Lost = "too_large"
	LostFailed   Lost = "failed" // the store failed otherwise
)
