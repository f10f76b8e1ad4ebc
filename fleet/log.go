package fleet

import (
	"errors"
	"strings"
	"time"

	"reprise/fleet/store"
	"reprise/ledger"
	"reprise/ledger/decide"
)

func whyLost(err error) ledger.Lost {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, errFenced):
		return ledger.LostFenced
	case errors.Is(err, store.ErrTooLarge):
		return ledger.LostTooLarge
	case errors.Is(err, store.ErrUnknown):
		return ledger.LostUnknown
	}
	return ledger.LostFailed
}

// logged returns the record of a call for the store's log, without the fate of the session there.
func (b *Book) logged(t *ledger.Ticket, h *hold, o *ledger.Outcome) ledger.LoggedCall {
	_, outcome := o.State()
	c, d := h.call, h.decision
	return ledger.LoggedCall{
		When: c.Now, Duration: o.Now - c.Now, Host: b.Host, Project: b.Project, Cwd: c.Cwd, Chain: h.register.Name.ID, Tool: c.Tool,
		Rule: c.Rule, Task: c.Task, Role: c.Role, Model: o.Seen.Model,
		Mode: d.Mode, Reason: d.Reason, Detail: d.Detail, Changed: strings.Join(d.Changed, "\t"), Proof: d.Proof.Unnumbered(), FellBack: h.fellBack,
		From: h.from.Host, Resumed: h.from.nativeID(), Session: o.Seen.ID,
		Arm: t.Arm(), Outcome: outcome, Exit: o.Exit, Signal: o.Signal, Format: c.Format,
		Prompt: len(c.Prompt.Text), Sent: o.Sent, WhyWhole: o.WhyWhole, Usage: o.Seen.Usage,
	}
}

// Day returns the name of a time's day in the store's log.
func Day(t decide.Millis) string { return time.UnixMilli(int64(t)).UTC().Format(time.DateOnly) }
