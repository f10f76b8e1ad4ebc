// Package work remembers the files that a session's runs have changed, and finds whether that work
// was thrown away.
//
// It keeps digests of the files, no content. Invariant: it never changes the project.
package work

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"reprise/ledger/decide"
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
// path stands for the files that commands of a run have changed: these are looked for when a call
// asks.
type leftFile struct {
	Path string `json:"path,omitempty"` // relative to the project's root
	leftState
	Digest string      `json:"digest,omitempty"` // of the content, keyed; "" if that was not read
	Run    *commandRun `json:"run,omitempty"`
}

// A leftState is a file's state as stat shows it.
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

// A Project is the repository, or else the working directory, of a call. Files elsewhere, such as a
// tool's plans in the home, are not the session's work.
type Project struct {
	Cwd     string
	Home    string // of the tool, which keeps files of its own there
	Environ []string
	Digest  func(text string) string // keyed
	// Beside returns how many calls ran in the project in a span of time.
	Beside func(root string, from, to decide.Millis) (int, error)
	Fault  func(what string, err error) // logs a failure

	files []leftFile // once looked for
}

// A Run is a run of a tool in the project that has ended.
type Run struct {
	Started time.Time
	Given   []string // the files that the tool's own tools were given to read or to change
	Shell   bool     // it ran commands
	Answer  string
}

// Left returns the files that a session's runs have changed, as they are now: the files of the
// latest run, and of the earlier ones, which left before. It returns "" for none.
func (p *Project) Left(run Run, before string) string {
	root := git.Root(p.Cwd)
	digest := p.Digest
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
	for _, name := range slices.Backward(run.Given) {
		path, err := filepath.Rel(root, disk.Resolve(disk.Absolute(p.Cwd, name)))
		if err != nil || !isLeftPath(path) {
			continue
		}
		state, err := stateOf(filepath.Join(root, path))
		// an older one was only read
		if err == nil && (state.Absent || state.Time >= run.Started.UnixNano()) {
			take(path, state, nil)
		}
	}
	filesBefore, runsBefore := decodeLeft(before)
	for _, earlier := range filesBefore {
		if state, err := stateOf(filepath.Join(root, earlier.Path)); err == nil {
			take(earlier.Path, state, &earlier)
		}
	}
	return encodeLeft(append(files, p.commandRuns(run, runsBefore)...))
}

// encodeLeft returns "" for no files.
func encodeLeft(files []leftFile) string {
	if len(files) == 0 {
		return ""
	}
	text, _ := json.Marshal(files) // it has nothing that can fail
	return string(text)
}

// decodeLeft reads a result of Left, perhaps of another machine: the files, and the runs with
// commands. No path leads out of the project.
func decodeLeft(text string) (files, runs []leftFile) {
	var all []leftFile
	if json.Unmarshal([]byte(text), &all) != nil {
		return nil, nil
	}
	for _, f := range all {
		if f.Run != nil {
			runs = append(runs, f)
		} else if isLeftPath(f.Path) {
			files = append(files, f)
		}
	}
	return files, runs
}

// isLeftPath reports whether a path stays below the root, survives JSON and can be an argument of
// git: the model chose it.
func isLeftPath(path string) bool {
	return filepath.IsLocal(path) && utf8.ValidString(path) && !strings.Contains(path, "\x00") &&
		len(path) <= unix.PathMax
}

// Gone reports whether a session's changes were thrown away since, also by a commit, given the
// files that it left and the commit that was checked out then. If all files are as they were, it
// runs no git.
func (p *Project) Gone(left, head string) bool {
	root := git.Root(p.Cwd)
	files, _ := decodeLeft(left)
	touched := func(f leftFile) bool {
		state, _ := stateOf(filepath.Join(root, f.Path)) // an irregular file has no state
		return state != f.leftState
	}
	if !slices.ContainsFunc(files, touched) {
		return false
	}
	committed, err := p.committed(head, files)
	if err != nil {
		return false
	}
	lost, kept := false, false
	for _, f := range files {
		switch p.fate(root, f, head != "", committed[f.Path]) {
		case reverted:
			return true
		case removed:
			lost = true
		case changed:
			kept = true
		}
	}
	// A caller can remove a report that it has read, or move a file. Then the rest of the work is
	// there.
	return lost && !kept
}

// A fate is the change of a file since a session has changed it.
type fate int

const (
	unchanged fate = iota // as the session left it and as it was committed
	reverted              // by a reset, checkout, restore, stash or revert
	removed
	changed // other than in the commit
)

// fate compares a file with the state as the session left it, and with the ID in the commit of that
// time, "" if the commit lacks it. Without a commit a file with another content counts as reverted,
// unless another call can have changed it.
func (p *Project) fate(root string, f leftFile, commit bool, id string) fate {
	content, err := disk.Read(filepath.Join(root, f.Path), maxLeftBytes)
	absent := disk.IsAbsent(err)
	asLeft := err == nil && p.Digest(content) == f.Digest
	asCommitted := absent && id == "" ||
		err == nil && id != "" && git.BlobID(content, len(id)) == id
	switch {
	case asCommitted && id != "" && !asLeft, !commit && err == nil && !asLeft &&
		!p.otherRan(f.Time, time.Now().UnixNano()):
		return reverted
	case absent && !f.Absent:
		return removed
	case !asCommitted:
		return changed
	}
	return unchanged
}

// otherRan reports whether more than one call ran in the project in a span of time, in nanoseconds,
// or the ledger does not say.
func (p *Project) otherRan(from, to int64) bool {
	n, err := p.Beside(git.Root(p.Cwd), decide.Millis(from/1e6), decide.Millis(to/1e6))
	return err != nil || n > 1
}

// committed returns the IDs of files in a commit, by their paths. It does not look at the work
// tree.
func (p *Project) committed(head string, files []leftFile) (map[string]string, error) {
	if head == "" {
		return nil, nil
	}
	repo, err := git.Find(p.Cwd)
	if err != nil {
		return nil, err
	}
	args := []string{"--literal-pathspecs", "ls-tree", "-z", head, "--"}
	for _, f := range files {
		args = append(args, f.Path)
	}
	out, err := repo.Ask(p.Environ, args...)
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
