package work

import (
	"context"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"reprise/shim/disk"
	"reprise/shim/git"

	"golang.org/x/sys/unix"
)

// A commandRun is a run of a tool that ran commands. The events do not name the files that these
// changed.
type commandRun struct {
	Began int64 `json:"began"` // in nanoseconds
	// by the clock of files: a tick can be shared by a later change
	Ended int64  `json:"ended"`
	Said  string `json:"said,omitempty"` // a keyed digest of the answer's last line
}

// maxCommandRuns bounds how many runs of a session are remembered.
const maxCommandRuns = 8

// commandRuns returns the runs of a session with commands, the latest first.
func (p *Project) commandRuns(latest Run, before []leftFile) (runs []leftFile) {
	if latest.Shell {
		said := strings.TrimSpace(latest.Answer)
		run := commandRun{Began: latest.Started.UnixNano(), Ended: fileTime()}
		if said = strings.TrimSpace(said[strings.LastIndexByte(said, '\n')+1:]); said != "" {
			run.Said = p.Digest(said)
		}
		runs = append(runs, leftFile{Run: &run})
	}
	runs = append(runs, before...)
	return runs[:min(len(runs), maxCommandRuns)]
}

// fileTime returns the time that a file would get that changes now. It is the start of the kernel's
// tick, up to ten milliseconds ago.
func fileTime() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &t) // without it no file counts
	return t.Nano()
}

// Find adds the files that commands of a session's runs changed to the files that the runs left:
// the modification time of each lies within a run. A reset or a stash gives a file another time.
// Nothing is found for a run that another call ran beside, and a file that has the run's own output
// does not count.
func (p *Project) Find(left, id string) string {
	files, all := decodeLeft(left)
	runs := slices.DeleteFunc(slices.Clone(all), func(r leftFile) bool {
		return p.otherRan(r.Run.Began, r.Run.Ended)
	})
	if len(runs) == 0 {
		return left
	}
	root, digest := git.Root(p.Cwd), p.Digest
	for _, f := range p.projectFiles(root) {
		if len(files) >= maxLeftFiles {
			break
		}
		i := slices.IndexFunc(runs, func(r leftFile) bool {
			return r.Run.Began <= f.Time && f.Time < r.Run.Ended
		})
		if i < 0 || !isLeftPath(f.Path) ||
			slices.ContainsFunc(files, func(o leftFile) bool { return o.Path == f.Path }) {
			continue
		}
		path := filepath.Join(root, f.Path)
		content, err := disk.Read(path, maxLeftBytes)
		said := runs[i].Run.Said
		if err != nil || disk.Resolve(path) != path || id != "" && strings.Contains(content, id) ||
			said != "" && slices.ContainsFunc(strings.Split(content, "\n"), func(l string) bool {
				return digest(strings.TrimSpace(l)) == said
			}) {
			continue
		}
		f.Digest = digest(content)
		files = append(files, f)
	}
	return encodeLeft(append(files, all...))
}

// Timeout is how long the search for changed files can take. None are found after it. Only tests
// change it.
var Timeout = 300 * time.Millisecond

// projectFiles returns the regular files of the project with their times. Ignored files,
// hidden files and the tool's home do not count: tools and callers keep their own state
// there.
func (p *Project) projectFiles(root string) []leftFile {
	if p.files != nil {
		return p.files
	}
	p.files = []leftFile{}
	ctx, cancel := context.WithTimeout(context.Background(), Timeout)
	defer cancel()
	var files []leftFile
	err := git.EachFile(ctx, root, p.Environ, func(path string, info fs.FileInfo) {
		if info.Mode().IsRegular() &&
			(p.Home == "" || !strings.HasPrefix(filepath.Join(root, path), p.Home+"/")) {
			files = append(files, leftFile{Path: path,
				leftState: leftState{Size: info.Size(), Time: info.ModTime().UnixNano()}})
		}
	})
	if err != nil {
		p.Fault("look for changed files", err)
		return nil
	}
	p.files = files
	return files
}
