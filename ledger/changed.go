package ledger

import (
	"cmp"
	"database/sql"
	"slices"
	"strings"

	"reprise/rewrite"
)

// Digests are the keyed digests of things that must be equal between a session and a
// call that resumes it, each with its name and with the reason for which a call is fresh
// where it differs.
type Digests string

// A Digest is one of Digests.
type Digest struct {
	Guard       rewrite.Reason
	Name, Value string
}

// NewDigests encodes a list of digests: a line for each, sorted, with tabs between.
func NewDigests(list []Digest) Digests {
	list = slices.Clone(list)
	for i := range list {
		list[i].Name = strings.Map(func(r rune) rune {
			if r < ' ' || r == 0x7f {
				return '?'
			}
			return r
		}, list[i].Name)
	}
	slices.SortStableFunc(list, func(a, b Digest) int {
		return cmp.Or(strings.Compare(string(a.Guard), string(b.Guard)), strings.Compare(a.Name, b.Name))
	})
	var text strings.Builder
	for _, d := range list {
		text.WriteString(string(d.Guard) + "\t" + d.Name + "\t" + d.Value + "\n")
	}
	return Digests(text.String())
}

func (d Digests) list() []Digest {
	var list []Digest
	for line := range strings.Lines(string(d)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) == 3 {
			list = append(list, Digest{rewrite.Reason(fields[0]), fields[1], fields[2]})
		}
	}
	return list
}

// order is how weighty the reasons are of things that have changed: the first of those
// that hold is given.
var order = []rewrite.Reason{
	rewrite.UserChanged, rewrite.DirectoryReplaced, rewrite.AuthChanged, rewrite.SettingsChanged, rewrite.InstructionsChanged, rewrite.JobChanged,
}

// differ returns the weightiest reason for which digests are not the same, and the names
// of what differs for that reason. What differs in a way that its digests do not show
// counts as otherwise.
func (d Digests) differ(other Digests, otherwise rewrite.Reason) (rewrite.Reason, []string) {
	if d == other {
		return "", nil
	}
	mine, its := d.list(), other.list()
	if d != "" && len(mine) == 0 || other != "" && len(its) == 0 {
		return otherwise, nil // from before digests had names
	}
	names := map[rewrite.Reason][]string{}
	collect := func(from, in []Digest) {
		for _, one := range from {
			if !slices.Contains(in, one) && !slices.Contains(names[one.Guard], one.Name) {
				names[one.Guard] = append(names[one.Guard], one.Name)
			}
		}
	}
	collect(mine, its)
	collect(its, mine)
	for _, reason := range order {
		if len(names[reason]) > 0 {
			slices.Sort(names[reason])
			return reason, names[reason]
		}
	}
	return otherwise, nil
}

// A Place is where a directory is in its history: which repository it is in, which branch
// is checked out there, as keyed digests, and the commit at its head. Each is "" where
// there is none.
type Place struct{ Repository, Branch, Head string }

// whatChanged returns why a session no longer fits a call, and the names of what has changed.
func whatChanged(f Facts, c *ChainFacts) (rewrite.Reason, []string) {
	if c.Fingerprints.Model != f.Fingerprints.Model {
		return rewrite.ModelChanged, nil
	}
	if reason, names := c.Fingerprints.Settings.differ(f.Fingerprints.Settings, rewrite.SettingsChanged); reason != "" {
		return reason, names
	}
	if c.Fingerprints.Runtime != f.Fingerprints.Runtime {
		return rewrite.RuntimeChanged, nil
	}
	if reason, names := c.Fingerprints.Auth.differ(f.Fingerprints.Auth, rewrite.AuthChanged); reason != "" {
		return reason, names
	}
	switch {
	case c.Place.Repository != f.Place.Repository:
		return rewrite.DirectoryReplaced, []string{"git repository"}
	case c.Place.Branch != f.Place.Branch:
		return rewrite.BranchChanged, nil
	case c.CommitGone:
		return rewrite.CommitGone, nil
	}
	return "", nil
}

// decide decides on a call. Only where it would go on with a session is the history asked
// whether the commit that the session ended on is still part of it: that may take longer
// than everything else.
func (c *Call) decide(f Facts) Decision {
	d := Decide(f)
	if !d.Mode.Continues() {
		return d
	}
	chosen := slices.IndexFunc(f.Chains, func(cf ChainFacts) bool { return cf.Session == d.Session })
	before := f.Chains[chosen].Place.Head
	if before == "" || before == f.Place.Head || c.Ancestor != nil && c.Ancestor(before) {
		return d
	}
	f.Chains[chosen].CommitGone = true
	return Decide(f)
}

// readPlaces reads of the sessions that the call may go on with where they have left the
// directory, and which model they began with.
func (l *Ledger) readPlaces(f *Facts) error {
	for i := range f.Chains {
		c := &f.Chains[i]
		if !f.Named && !c.Continuity.Retains() {
			continue
		}
		err := l.db.QueryRow("SELECT repository, branch, head, first_model, coalesce(version, '') FROM sessions WHERE id = ?", c.Session).
			Scan(&c.Place.Repository, &c.Place.Branch, &c.Place.Head, &c.FirstModel, &c.Version)
		if err != nil && err != sql.ErrNoRows { // gone by now: what is written will find out
			return err
		}
	}
	return nil
}

// keepPlace notes where a session has left the directory, and the model that it has begun
// with if that is known.
func keepPlace(tx *sql.Tx, session int64, p Place, model string) error {
	_, err := tx.Exec("UPDATE sessions SET repository = ?, branch = ?, head = ?, first_model = CASE first_model WHEN '' THEN ? ELSE first_model END WHERE id = ?",
		p.Repository, p.Branch, p.Head, model, session)
	return err
}
