package decide

import (
	"cmp"
	"slices"
	"strings"

	"reprise/rewrite/reason"
)

// Fingerprints must be equal between a session and a call that resumes it.
type Fingerprints struct {
	Model   string `db:"model" json:"model"`
	Runtime string `db:"runtime" json:"runtime"`
	// Digests of the settings, files and variables that shape a run, of the place, and of the user.
	Settings Digests `db:"settings" json:"settings"`
	Auth     Digests `db:"auth" json:"auth"` // of the account
}

// Digests are keyed digests of the things that must be equal between a session and a call that
// resumes it, each with its name and the reason for a fresh call if it differs.
type Digests string

// A NamedDigest is the keyed digest of one thing that must be equal between a session and a call
// that resumes it.
type NamedDigest struct {
	Guard       reason.Code
	Name, Value string
}

// NewDigests encodes a list of digests: one line each, sorted, with tabs between the fields.
func NewDigests(list []NamedDigest) Digests {
	list = slices.Clone(list)
	for i := range list {
		list[i].Name = strings.Map(func(r rune) rune {
			if r < ' ' || r == 0x7f {
				return '?'
			}
			return r
		}, list[i].Name)
	}
	slices.SortStableFunc(list, func(a, b NamedDigest) int {
		return cmp.Or(strings.Compare(string(a.Guard), string(b.Guard)),
			strings.Compare(a.Name, b.Name))
	})
	var text strings.Builder
	for _, d := range list {
		text.WriteString(string(d.Guard) + "\t" + d.Name + "\t" + d.Value + "\n")
	}
	return Digests(text.String())
}

func (d Digests) list() []NamedDigest {
	var list []NamedDigest
	for line := range strings.Lines(string(d)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) == 3 {
			list = append(list, NamedDigest{reason.Code(fields[0]), fields[1], fields[2]})
		}
	}
	return list
}

// order lists the reasons from weightiest to lightest: of several that apply, the first is
// reported.
var order = []reason.Code{
	reason.UserChanged, reason.DirectoryReplaced, reason.AuthChanged, reason.SettingsChanged,
	reason.InstructionsChanged,
	reason.JobChanged,
}

// differ returns the weightiest reason of the differences between digests, and the names of the
// differences that have it. A difference that the digests do not show has the reason otherwise.
func (d Digests) differ(other Digests, otherwise reason.Code) (reason.Code, []string) {
	if d == other {
		return "", nil
	}
	mine, its := d.list(), other.list()
	names := map[reason.Code][]string{}
	for _, one := range slices.Concat(mine, its) {
		if !slices.Contains(mine, one) || !slices.Contains(its, one) {
			names[one.Guard] = append(names[one.Guard], one.Name)
		}
	}
	for _, code := range order {
		if all := names[code]; len(all) > 0 {
			slices.Sort(all)
			// not the name of a setting if a part of it is named as well, after a space
			return code, slices.DeleteFunc(slices.Compact(slices.Clone(all)), func(whole string) bool {
				return slices.ContainsFunc(all, func(name string) bool {
					return strings.HasPrefix(name, whole+" ")
				})
			})
		}
	}
	return otherwise, nil
}

// A Revision is a directory's place in the history: keyed digests of the repository and of the
// branch that is checked out, and the head commit. Each is "" if there is none.
type Revision struct {
	Repository string `db:"repository" json:"repository,omitempty"`
	Branch     string `db:"branch" json:"branch,omitempty"`
	Head       string `db:"head" json:"head,omitempty"`
}
