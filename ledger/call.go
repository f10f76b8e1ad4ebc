package ledger

import (
	"strings"

	"reprise/ledger/decide"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
)

// A Call is a call before it runs, with all that the decision needs to know. Task is "" if
// continuity must find the chain.
type Call struct {
	Record         // the part that is saved before the decision
	decide.Request // the part that the decision depends on
	Home           string
	Scope          string   // the rule that names Task and Role, "" if the caller set them
	Strict         bool     // Task separates jobs, but continuity must prove the same one
	Captured       bool     // each job has a separate task: the prompt or environment gives it
	Resets         []string // roles that lose their chains of this task by the prompt
	// the role of the task that the call's role begins as a copy of, "" for none
	StartFrom string
	Prompt    *prompt.Prompt
	Wait      bool // the call waits for a session that another process holds
	// it waits if the caller can know the answer of a run that is not recorded yet
	WaitForRecord bool
	MayKeepHour   bool   // the provider can be asked to keep the prompt for an hour
	Project       string // the root of the directory's repository, or the directory
	// FindWork adds to the files that a session's runs left the files that lie as commands of these
	// runs left them, given the session's ID. It can be nil.
	FindWork func(left, id string) string
	// Stored compares a session with the stamp that our last run left, given the file and its ID.
	Stored func(path, id string, stamp decide.Stamp) decide.StoredState
	// Sends returns how many bytes of the prompt a decision to resume sends, and why it sends all
	// of them. It can be nil.
	Sends func(decide.Decision) (bytes int, whole reason.Code)

	otherRoles []string // the names of the task's other roles
}

// named reports whether the name alone identifies the call's task.
func (c *Call) named() bool { return c.Task != "" && !c.Strict }

// strong reports whether the name alone shows that a call goes on with a job, even if the job's
// first prompt has changed: no other job has that task, and the role is known.
func (c *Call) strong() bool { return c.named() && c.Captured && !c.DerivedRole() }

// DerivedRole reports whether nothing names the role of the call's task.
func (c *Call) DerivedRole() bool { return strings.HasPrefix(c.Role, prompt.RoleTextMark) }

// FirstLine returns a digest of the first line of the prompt, which finds unnamed chains.
func (c *Call) FirstLine() []byte {
	return encodeDigests([]prompt.Digest{c.Prompt.Footprint().First})
}

// firstLines returns such digests of all lines that an earlier prompt can have begun with.
func (c *Call) firstLines() (lines []any) {
	for _, line := range c.Prompt.FirstLines() {
		lines = append(lines, encodeDigests([]prompt.Digest{line}))
	}
	return lines
}
