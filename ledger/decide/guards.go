package decide

import (
	"errors"
	"slices"

	"reprise/rewrite/reason"
)

// clockSlack is how far in the future a session's last use can be: another call can have ended
// while this one was starting.
const clockSlack Millis = 2000

// errorLimit is the number of failed runs after which a session is not resumed.
const errorLimit = 3

// resumeBlocker returns the reason that prevents resuming the chain's session, "" for none, and the
// names of the changes that are the reason.
func resumeBlocker(f Facts, c *ChainFacts) (why, detail reason.Code, changed []string) {
	switch why, detail = stateReason(c); {
	case why != "" && !c.Held:
		return why, detail, nil
	case f.NoResume:
		return reason.NoResume, "", nil
	case f.HookSet:
		return reason.HookSetting, "", nil
	}
	if why, changed = difference(f, c); why != "" {
		return why, "", changed
	}
	why, detail = c.unfit(f)
	return why, detail, nil
}

// unfit returns why a session that fits the call cannot be resumed any more, or "".
func (c *ChainFacts) unfit(f Facts) (why, detail reason.Code) {
	idle, age := f.Now-c.LastUsed, f.Now-c.Created
	switch {
	case c.Shared:
		return reason.StoreUnavailable, ""
	case c.CallersOwn && !f.Copies:
		return reason.CallersOwn, ""
	case min(idle, age) < -clockSlack || idle > f.Limits.TTL:
		// a clock that was set back proves nothing
		return reason.Idle, ""
	case age > f.Limits.MaxAge:
		return reason.TooOld, ""
	case c.Errors+f.Lost(c.Session) >= errorLimit:
		return reason.ErrorLimit, ""
	case f.Limits.filled(c.Context(), c.CurrentModel()) > 1:
		return reason.ContextFull, ""
	case c.Held: // the file has changed
	case c.Stored == StoredGone:
		return reason.SessionGone, ""
	case c.Stored == StoredChanged && f.forks():
		if c.forkAt, detail = f.ForkPoint(c.File, c.Stamp); c.forkAt != "" {
			return "", ""
		}
		return reason.SessionMoved, detail
	case c.Stored == StoredChanged:
		return reason.SessionMoved, ""
	}
	return "", ""
}

// forks reports whether a session is copied also if another process uses it, or has used it.
func (f *Facts) forks() bool { return f.Copies && f.ForkPoint != nil }

// harmless are the StateWhy of a live session that say nothing against it.
var harmless = []reason.Code{"", reason.TurnLimit, reason.RefusedBusy, reason.LateStdin}

func stateReason(c *ChainFacts) (why, detail reason.Code) {
	switch {
	case c.State == Live && c.NativeID != "" && slices.Contains(harmless, c.StateWhy):
		return "", ""
	case c.StateWhy == reason.Unread, c.StateWhy == reason.BackgroundLeft:
		return c.StateWhy, ""
	case c.State == Failed, c.State == Live && c.StateWhy != "":
		return reason.PreviousFailed, c.StateWhy
	case c.State == Dead:
		return reason.SessionDead, c.StateWhy
	}
	return reason.PreviousKilled, c.StateWhy
}

// difference returns why a session no longer fits a call, and the names of the changes.
func difference(f Facts, c *ChainFacts) (reason.Code, []string) {
	if c.Fingerprints.Model != f.Fingerprints.Model {
		return reason.ModelChanged, nil
	}
	if code, names := c.Fingerprints.Settings.differ(f.Fingerprints.Settings,
		reason.SettingsChanged); code != "" {
		return code, names
	}
	if c.Fingerprints.Runtime != f.Fingerprints.Runtime {
		return reason.RuntimeChanged, nil
	}
	if code, names := c.Fingerprints.Auth.differ(f.Fingerprints.Auth,
		reason.AuthChanged); code != "" {
		return code, names
	}
	switch {
	case c.Revision.Repository != f.Revision.Repository:
		return reason.DirectoryReplaced, []string{"git repository"}
	case c.Revision.Branch != f.Revision.Branch:
		return reason.BranchChanged, nil
	}
	return "", nil
}

// unproven returns why the call does not continue a session that nothing else speaks against, "" if
// it does. The work comes after the checkout: on another machine it is not thrown away but was
// never there.
func (f *Facts) unproven(c *ChainFacts) (why reason.Code) {
	head := c.Revision.Head
	switch {
	case head != "" && head != f.Revision.Head && errors.As(f.History(head), &why):
		return why
	case f.Checkout != nil && !f.Checkout(c.Tree, c.Directory):
		return reason.CheckoutDiffers
	case c.LeftFiles != "" && f.WorkGone != nil && f.WorkGone(c.LeftFiles, head):
		return reason.WorkGone
	}
	return ""
}
