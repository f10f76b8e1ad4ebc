package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	Tool     string         `json:"tool"`
	Rule     string         `json:"rule,omitempty"`
	Task     string         `json:"task,omitempty"`
	Role     string         `json:"role,omitempty"`
	Model    string         `json:"model,omitempty"`
	Mode     rewrite.Mode   `json:"mode"`
	Reason   rewrite.Reason `json:"reason"`
	FellBack rewrite.Reason `json:"fell_back,omitempty"`
	From     string         `json:"from,omitempty"` // the host on which the resumed session was last used
	Outcome  string         `json:"outcome"`
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

// note adds a call to the store's log.
func (s *Shared) note(ctx context.Context, t *Ticket, o *Outcome, b store.Bundle, lost error) error {
	_, outcome := o.state()
	h := t.held
	n := SharedCall{
		When: t.call.Now, Duration: o.Now - t.call.Now, Host: s.Host, Project: s.Project, Tool: t.call.Tool,
		Rule: t.call.Rule, Task: t.call.Task, Role: t.call.Role, Model: o.Seen.Model,
		Mode: h.mode, Reason: h.reason, FellBack: h.fellBack, From: h.from, Outcome: outcome,
		Prompt: len(t.call.Prompt.Text), Sent: o.Sent, Usage: o.Seen.Usage, Lost: whyLost(lost), Size: b.Size,
	}
	if err := s.Log.Note(ctx, Day(n.When), []byte(encodeJSON(n))); err != nil {
		return fmt.Errorf("log call in the store: %w", err)
	}
	return nil
}

// Day returns the name of a time's day in the store's log.
func Day(t Millis) string { return time.UnixMilli(int64(t)).UTC().Format(time.DateOnly) }

// SharedCalls calls each with all calls of a store from a time on, day by day. It skips what cannot be
// read: another version may have written it.
func SharedCalls(ctx context.Context, log store.Log, since Millis, each func(SharedCall) error) error {
	return log.Notes(ctx, Day(since), func(_ string, value []byte) error {
		var n SharedCall
		if json.Unmarshal(value, &n) != nil || n.When < since {
			return nil
		}
		return each(n)
	})
}
