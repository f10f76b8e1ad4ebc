package ledger

import (
	"cmp"
	"database/sql"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
)

// A LoggedCall is what a log of several machines has of a call, for reports over all of them. The JSON names are the format of such
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
	From     string         `json:"from,omitempty"`      // the host on which the resumed session was last used
	Resumed  string         `json:"resumed,omitempty"`   // that session's ID
	Session  string         `json:"session,omitempty"`   // the one that the call ended in
	Arm      string         `json:"arm,omitempty"`       // Control or Treated
	DeltaArm string         `json:"delta_arm,omitempty"` // WholePrompt or DeltaPrompt
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

// Why it may not be there.
const (
	LostFenced   Lost = "fenced"    // another call had replaced it
	LostUnknown  Lost = "no_answer" // it is not known whether it arrived
	LostTooLarge Lost = "too_large"
	LostFailed   Lost = "failed" // the store failed otherwise
)

// FromLog returns a ledger in memory with the calls of a store's log, so that the calls of all machines are
// summed up as those of one are. The key is the store's, for digests.
func FromLog(calls []LoggedCall, key prompt.Key) (*Ledger, error) {
	l, err := OpenMemory()
	if err != nil {
		return nil, err
	}
	l.log, l.key = true, key
	slices.SortStableFunc(calls, func(a, b LoggedCall) int {
		return cmp.Or(cmp.Compare(a.When, b.When), cmp.Compare(a.Host, b.Host), cmp.Compare(a.Session, b.Session))
	})
	err = l.transact(func(tx *sql.Tx) error {
		for _, column := range append([]string{"project"}, machineColumns...) {
			if _, err := tx.Exec("ALTER TABLE invocations ADD COLUMN " + column + " TEXT NOT NULL DEFAULT ''"); err != nil {
				return err
			}
		}
		var number int64
		for _, c := range calls {
			number = max(number+1, int64(c.When-numberedFrom))
			if err := c.insert(tx, number); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		l.Close()
		return nil, fmt.Errorf("read the store's log: %w", err)
	}
	return l, nil
}

// machineColumns are what a ledger of a store's log has beside the columns of every ledger, and its projects.
var machineColumns = []string{"machine", "from_machine", "lost"}

// MachineColumns returns expressions for these columns of an invocation i.
func (l *Ledger) MachineColumns() string {
	if l.log {
		return "i." + strings.Join(machineColumns, ", i.")
	}
	return "'', '', ''"
}

// numberedFrom is 2026-01-01. The calls of a store are numbered by the milliseconds since then, so that each call has the same number
// whoever reads the log, and from whenever.
const numberedFrom decide.Millis = 1_767_225_600_000

// chainNumber returns a number for the call's chain that is the same in each reading of the log.
func (n LoggedCall) chainNumber() int64 {
	hash := fnv.New64a()
	fmt.Fprintf(hash, "%q", []string{n.Project, n.Cwd, n.Chain, n.Tool, n.Task, n.Role})
	return int64(hash.Sum64() >> 24) // a number that one can still type
}

// insert writes a call under a number, and its chain if the call is the first of it.
func (n LoggedCall) insert(tx *sql.Tx, number int64) error {
	chain := n.chainNumber()
	_, err := tx.Exec(`INSERT INTO chains (id, tool, cwd, home, task, role, created, updated) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET updated = max(updated, excluded.updated)`, chain, n.Tool, n.Cwd, n.Project, n.Task, n.Role, n.When, n.When)
	if err != nil {
		return err
	}
	mode, u := n.Mode, n.Usage
	if n.FellBack != "" {
		mode = rewrite.Fresh
	}
	_, err = tx.Exec(`INSERT INTO invocations (id, chain_id, rule, tool, cwd, started, duration, mode, reason, resumed_from, fell_back, format,
			native_id, model, prompt_bytes, sent_bytes, why_whole, input, cache_read, cache_write, output, cost, outcome, arm, delta_arm, detail, changed, proof, exit_code, signal,
			project, machine, from_machine, lost)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, nullif(?, ''), nullif(?, ''), ?, nullif(?, ''), nullif(?, ''), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, nullif(?, 0), ?, ?, ?, ?)`,
		number, chain, n.Rule, n.Tool, n.Cwd, n.When, max(0, n.Duration), mode, n.Reason, n.Resumed, n.FellBack, n.Format,
		n.Session, n.Model, n.Prompt, n.Sent, n.WhyWhole, known(u.Known, plausible(u.Input)), known(u.Known, plausible(u.CacheRead)),
		known(u.Known, plausible(u.CacheWrite)), known(u.Known, plausible(u.Output)), known(u.CostKnown, plausible(u.CostNano)),
		n.Outcome, n.Arm, n.DeltaArm, n.Detail, n.Changed, EncodeJSON(n.Proof), n.Exit, n.Signal, n.Project, n.Host, n.From, n.Lost)
	return err
}
