package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"strings"
	"time"

	"reprise/fleet/store"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite/reason"
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

// logged returns what the store's log gets of a call, but what becomes of its session there.
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

// Calls calls each with all calls of a store from a time on, day by day. It skips what cannot be
// read: another version may have written it.
func Calls(ctx context.Context, log store.Log, since decide.Millis, each func(ledger.LoggedCall) error) error {
	return log.Notes(ctx, Day(since), func(_ string, values [][]byte) error {
		for _, value := range values {
			var n ledger.LoggedCall
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

// Sums are what several machines did with a store.
type Sums struct {
	Machines  int64 `json:"machines" doc:"machines"`
	Calls     int64 `json:"calls" doc:"their calls"`
	Resumed   int64 `json:"resumed" doc:"resumed calls"`
	Elsewhere int64 `json:"from_another_machine" doc:"of these, those whose session was last used on another machine"`
	Fenced    int64 `json:"fenced" doc:"sessions not kept since another call had replaced them"`
	NoAnswer  int64 `json:"no_answer" doc:"sessions of which it is not known whether they arrived"`
	TooLarge  int64 `json:"too_large" doc:"sessions larger than is shared"`
	Failed    int64 `json:"failed" doc:"sessions not kept for another failure of the store"`
	Differs   int64 `json:"checkout_differs" doc:"calls whose directory lacked what the session's last run had left"`
}

// Sum sums up calls.
func Sum(calls iter.Seq[ledger.LoggedCall]) (s Sums) {
	machines := map[string]bool{}
	lost := map[ledger.Lost]*int64{ledger.LostFenced: &s.Fenced, ledger.LostUnknown: &s.NoAnswer, ledger.LostTooLarge: &s.TooLarge, ledger.LostFailed: &s.Failed}
	for c := range calls {
		s.Calls++
		if !machines[c.Host] {
			machines[c.Host] = true
			s.Machines++
		}
		if c.Mode.Continues() && c.FellBack == "" {
			s.Resumed++
			if c.From != "" && c.From != c.Host {
				s.Elsewhere++
			}
		}
		if sum := lost[c.Lost]; sum != nil {
			*sum++
		}
		if c.Reason == reason.CheckoutDiffers {
			s.Differs++
		}
	}
	return s
}
