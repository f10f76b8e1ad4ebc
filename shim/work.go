package shim

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"reprise/ledger"
	"reprise/shim/disk"
	"reprise/shim/git"

	"golang.org/x/sys/unix"
)

// Limits on the files that a session is remembered to have changed: their number, and the bytes of
// one with a content that is compared.
const (
	maxLeftFiles = 32
	maxLeftBytes = 1 << 20
)

// A leftFile is a file that a session's runs have changed, as the latest run left it. One without a
// path stands for the files that commands of a run have changed: these are looked for when a call asks.
type leftFile struct {
	Path string `json:"path,omitempty"` // relative to projectRoot
	leftState
	Digest string      `json:"digest,omitempty"` // of the content, keyed; "" if that was not read
	Run    *commandRun `json:"run,omitempty"`
}

// A leftState is what stat shows of a file.
type leftState struct {
	Absent bool  `json:"absent,omitempty"`
	Size   int64 `json:"size,omitempty"`
	Time   int64 `json:"time,omitempty"` // of the last modification, in nanoseconds
}

// stateOf returns a file's state. It fails for all but regular files.
func stateOf(path string) (leftState, error) {
	info, err := os.Stat(path)
	switch {
	case disk.IsAbsent(err):
		return leftState{Absent: true}, nil
	case err != nil:
		return leftState{}, err
	case !info.Mode().IsRegular():
		return leftState{}, disk.ErrNotRegular
	}
	return leftState{Size: info.Size(), Time: info.ModTime().UnixNano()}, nil
}

// projectRoot returns the root of the git.repository, or the working directory if there is none. Files
// elsewhere, such as a tool's plans in the home, are not the session's work.
func (c *call) projectRoot() string {
	if repo, err := git.Find(c.record.Cwd); err == nil {
		return repo.Root
	}
	return c.record.Cwd
}

// leftFiles returns the files that the session's runs have changed, as they are now: the files of this
// run, after the tools were given some files to read or to change, and of earlier runs. It returns
// "" if the session will not be continued after such an outcome.
func (c *call) leftFiles(o *ledger.Outcome, given []string) string {
	if c.ticket.Session == 0 || !o.Good() && !o.Stopped() {
		return ""
	}
	root := c.projectRoot()
	digest := c.digester()
	var files []leftFile
	taken := map[string]bool{}
	take := func(path string, state leftState, before *leftFile) {
		if taken[path] || len(files) >= maxLeftFiles {
			return
		}
		taken[path] = true
		file := leftFile{Path: path, leftState: state}
		if before != nil && before.leftState == state {
			file = *before
		} else if content, err := disk.Read(filepath.Join(root, path), maxLeftBytes); err == nil {
			file.Digest = digest(content)
		}
		files = append(files, file)
	}
	for _, name := range slices.Backward(given) {
		path, err := filepath.Rel(root, disk.Resolve(disk.Absolute(c.record.Cwd, name)))
		if err != nil || !isLeftPath(path) {
			continue
		}
		state, err := stateOf(filepath.Join(root, path))
		if err == nil && (state.Absent || state.Time >= c.started.UnixNano()) { // an older one was only read
			take(path, state, nil)
		}
	}
	for _, before := range decodeLeft(c.ticket.Left) {
		if state, err := stateOf(filepath.Join(root, before.Path)); err == nil {
			take(before.Path, state, &before)
		}
	}
	return encodeLeft(append(files, c.commandRuns(o)...))
}

// encodeLeft returns "" for no files.
func encodeLeft(files []leftFile) string {
	if len(files) == 0 {
		return ""
	}
	text, _ := json.Marshal(files) // it has nothing that can fail
	return string(text)
}

// decodeLeft reads what leftFiles has returned, perhaps on another machine: no path leads out of the
// project.
func decodeLeft(text string) []leftFile {
	var files []leftFile
	if json.Unmarshal([]byte(text), &files) != nil {
		return nil
	}
	return slices.DeleteFunc(files, func(f leftFile) bool { return !isLeftPath(f.Path) })
}

// isLeftPath reports whether a path stays below the root, survives JSON and can be an argument of git:
// the model chose it.
func isLeftPath(path string) bool {
	return filepath.IsLocal(path) && utf8.ValidString(path) && !strings.Contains(path, "\x00") && len(path) <= unix.PathMax
}

// workGone reports whether a session's changes were thrown away since, given the files that it
// left and the commit that was checked out then. If all files are as they were, it runs no git. A file in
// a commit since then counts as kept: the work can be part of that.
func (c *call) workGone(left, head string) bool {
	files, root := decodeLeft(left), c.projectRoot()
	if !slices.ContainsFunc(files, func(f leftFile) bool {
		state, _ := stateOf(filepath.Join(root, f.Path)) // that of no file at all if it is not a regular one
		return state != f.leftState
	}) {
		return false
	}
	committed, err := c.committed(head, files)
	if err != nil {
		return false
	}
	since, err := c.committedSince(head, files)
	if err != nil {
		return false
	}
	digest := c.digester()
	lost, kept := false, len(since) > 0
	for _, f := range files {
		if slices.Contains(since, f.Path) {
			continue
		}
		content, err := disk.Read(filepath.Join(root, f.Path), maxLeftBytes)
		absent, id := disk.IsAbsent(err), committed[f.Path]
		asLeft := err == nil && digest(content) == f.Digest
		asCommitted := absent && id == "" || err == nil && id != "" && git.BlobID(content, len(id)) == id
		switch {
		case asCommitted && id != "" && !asLeft: // reset, checkout, restore, stash
			return true
		case absent && !f.Absent:
			lost = true
		case !asCommitted:
			kept = true
		}
	}
	// A caller can remove a report that it has read, or move a file. Then the rest of the work is there.
	return lost && !kept
}

// committed returns the IDs of files in a commit, by their paths. It does not look at the work tree.
func (c *call) committed(head string, files []leftFile) (map[string]string, error) {
	if head == "" {
		return nil, nil
	}
	repo, err := git.Find(c.record.Cwd)
	if err != nil {
		return nil, err
	}
	args := []string{"--literal-pathspecs", "ls-tree", "-z", head, "--"}
	for _, f := range files {
		args = append(args, f.Path)
	}
	out, err := repo.Ask(c.env.Environ, args...)
	if err != nil {
		return nil, err
	}
	ids := map[string]string{}
	for entry := range strings.SplitSeq(out, "\x00") {
		about, path, _ := strings.Cut(entry, "\t")
		if fields := strings.Fields(about); len(fields) == 3 { // mode, type and ID
			ids[path] = fields[2]
		}
	}
	return ids, nil
}

// committedSince returns those of some files that commits since then have changed.
func (c *call) committedSince(head string, files []leftFile) ([]string, error) {
	now := c.record.Place.Head
	if now == head {
		return nil, nil
	}
	repo, err := git.Find(c.record.Cwd)
	if err != nil {
		return nil, err
	}
	commits := now
	if head != "" {
		commits = head + ".." + now
	}
	args := []string{"--literal-pathspecs", "log", "-z", "--format=", "--name-only", "--diff-merges=first-parent", commits, "--"}
	for _, f := range files {
		args = append(args, f.Path)
	}
	out, err := repo.Ask(c.env.Environ, args...)
	return strings.FieldsFunc(out, func(r rune) bool { return r == 0 || r == '\n' }), err
}
