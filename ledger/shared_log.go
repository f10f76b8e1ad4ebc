package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"reprise/rewrite"
	"reprise/store"
)

// A SharedCall is what the log of a store has of a call, for reports over all machines.
type SharedCall struct {
	When     Millis         `json:"when"` // its start
	Duration Millis         `json:"duration"`
	Host     string         `json:"host"`
	Project  string         `json:"project"`
	Cwd      string         `json:"cwd,omitempty"`
	Chain    string         `json:"chain,omitempty"` // the ID of an unnamed chain
	Tool     string         `json:"tool"`
	Rule     string         `json:"rule,omitempty"`
	Task     string         `json:"task,omitempty"`
	Role     string         `json:"role,omitempty"`
	Model    string         `json:"model,omitempty"`
	Mode     rewrite.Mode   `json:"mode"`
	Reason   rewrite.Reason `json:"reason"`
	Detail   rewrite.Reason `json:"detail,omitempty"`
	Changed  string         `json:"changed,omitempty"` // names of what has changed, apart by tabs
	Proof    Proof          `json:"proof,omitzero"`    // without numbers of calls
	FellBack rewrite.Reason `json:"fell_back,omitempty"`
	From     string         `json:"from,omitempty"`    // the host on which the resumed session was last used
	Resumed  string         `json:"resumed,omitempty"` // that session's ID
	Session  string         `json:"session,omitempty"` // the one that the call ended in
	Arm      string         `json:"arm,omitempty"`     // Control or Treated
	Outcome  string         `json:"outcome"`
	Exit     int            `json:"exit,omitempty"`
	Signal   int            `json:"signal,omitempty"`
	Format   rewrite.Format `json:"format,omitempty"`
	Prompt   int            `json:"prompt_bytes"`
	Sent     int            `json:"sent_bytes"`
	Usage    rewrite.Usage  `json:"usage"`
	Lost     Lost           `json:"lost,omitempty"` // why its session is not in the store
	Size     int64          `json:"size,omitempty"` // of its session there, in bytes
}

// Lost is why a session that ended well is not in the store.
type Lost string

// Why it may not be there.
const (
	LostFenced   Lost = "fenced"    // another call had replaced it
	LostUnknown  Lost = "no_answer" // it is not known whether it arrived
	LostTooLarge Lost = "too_large"
	LostFailed   Lost = "failed" // the store failed otherwise
)

func whyLost(err error) Lost {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, errFenced):
		return LostFenced
	case errors.Is(err, store.ErrTooLarge):
		return LostTooLarge
	case errors.Is(err, store.ErrUnknown):
		return LostUnknown
	}
	return LostFailed
}

// logged returns what the store's log gets of a call, but what becomes of its session there.
func (s *Shared) logged(t *Ticket, o *Outcome) SharedCall {
	_, outcome := o.state()
	h := t.held
	d := h.decision
	return SharedCall{
		When: t.call.Now, Duration: o.Now - t.call.Now, Host: s.Host, Project: s.Project, Cwd: t.call.Cwd, Chain: h.name.ID, Tool: t.call.Tool,
		Rule: t.call.Rule, Task: t.call.Task, Role: t.call.Role, Model: o.Seen.Model,
		Mode: d.Mode, Reason: d.Reason, Detail: d.Detail, Changed: strings.Join(d.Changed, "\t"), Proof: d.Proof.unnumbered(), FellBack: h.fellBack, From: h.from, Resumed: h.native, Session: o.Seen.ID,
		Arm: t.experimentArm(t.call.Limits.HoldOut), Outcome: outcome, Exit: o.Exit, Signal: o.Signal, Format: t.call.Format,
		Prompt: len(t.call.Prompt.Text), Sent: o.Sent, Usage: o.Seen.Usage,
	}
}

// Day returns the name of a time's day in the store's log.
func Day(t Millis) string { return time.UnixMilli(int64(t)).UTC().Format(time.DateOnly) }

// LogCall writes a call into the log of a store, and removes bundles that are over.
func LogCall(ctx context.Context, log store.Log, call SharedCall, over ...string) error {
	return log.Note(ctx, Day(call.When), []byte(encodeJSON(call)), over...)
}

// SharedCalls calls each with all calls of a store from a time on, day by day. It skips what cannot be
// read: another version may have written it.
func SharedCalls(ctx context.Context, log store.Log, since Millis, each func(SharedCall) error) error {
	return log.Notes(ctx, Day(since), func(_ string, values [][]byte) error {
		for _, value := range values {
			var n SharedCall
			if json.Unmarshal(value, &n) != nil || n.When < since {
				continue
			}
			if err := each(n); err != nil {
				return err
			}
		}
		return nil
	})
}
