package shim

import (
	"context"
	"encoding/json"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/shim/disk"
	"reprise/shim/git"
)

// A commandRun is a run of a tool that ran commands. The events do not name the files that these changed.
type commandRun struct {
	Began int64  `json:"began"` // in nanoseconds
	Ended int64  `json:"ended"`
	Said  string `json:"said,omitempty"` // a keyed digest of the answer's last line
}

// maxCommandRuns bounds how many runs of a session are remembered.
const maxCommandRuns = 8

// commandRuns returns the runs of the call's session with commands, the latest first.
func (c *call) commandRuns(o *ledger.Outcome) (runs []leftFile) {
	if o.Seen.Shell {
		said := strings.TrimSpace(o.Seen.Answer)
		run := commandRun{Began: c.started.UnixNano(), Ended: time.Now().UnixNano()}
		if said = strings.TrimSpace(said[strings.LastIndexByte(said, '\n')+1:]); said != "" {
			run.Said = c.digester()(said)
		}
		runs = append(runs, leftFile{Run: &run})
	}
	runs = append(runs, decodeRuns(c.ticket.Left)...)
	return runs[:min(len(runs), maxCommandRuns)]
}

// decodeRuns reads the runs with commands from what leftFiles has returned.
func decodeRuns(text string) []leftFile {
	var files []leftFile
	if json.Unmarshal([]byte(text), &files) != nil {
		return nil
	}
	return slices.DeleteFunc(files, func(f leftFile) bool { return f.Run == nil })
}

// findWork adds to the files that a session's runs left those that commands of these runs changed: their
// modification time lies within a run. A reset or a stash gives a file another time. Nothing is found
// for a run that another call ran beside, and a file that has the run's own output does not count.
func (c *call) findWork(left, id string) string {
	runs := slices.DeleteFunc(decodeRuns(left), func(r leftFile) bool { return c.ranBeside(r.Run) })
	if len(runs) == 0 {
		return left
	}
	files, root, digest := decodeLeft(left), c.projectRoot(), c.digester()
	for _, f := range c.projectFiles(root) {
		if len(files) >= maxLeftFiles {
			break
		}
		i := slices.IndexFunc(runs, func(r leftFile) bool { return r.Run.Began <= f.Time && f.Time <= r.Run.Ended })
		if i < 0 || !isLeftPath(f.Path) || slices.ContainsFunc(files, func(o leftFile) bool { return o.Path == f.Path }) {
			continue
		}
		path := filepath.Join(root, f.Path)
		content, err := disk.Read(path, maxLeftBytes)
		if err != nil || disk.Resolve(path) != path || id != "" && strings.Contains(content, id) || hasLine(content, runs[i].Run.Said, digest) {
			continue
		}
		f.Digest = digest(content)
		files = append(files, f)
	}
	return encodeLeft(append(files, decodeRuns(left)...))
}

// hasLine reports whether a text has a line with a digest.
func hasLine(text, line string, digest func(string) string) bool {
	if line == "" {
		return false
	}
	for l := range strings.SplitSeq(text, "\n") {
		if digest(strings.TrimSpace(l)) == line {
			return true
		}
	}
	return false
}

// ranBeside reports whether another call ran in the project beside a run, or the ledger does not say.
func (c *call) ranBeside(r *commandRun) bool {
	n, err := c.ledger.Beside(c.projectRoot(), decide.Millis(r.Began/1e6), decide.Millis(r.Ended/1e6))
	return err != nil || n > 1
}

// workTimeout is how long the search for changed files can take. None are found after it. Only tests change it.
var workTimeout = 300 * time.Millisecond

// projectFiles returns the regular files of the project with their times. Those that git ignores, hidden
// ones and those of the tool's home do not count: tools and callers keep their own state there.
func (c *call) projectFiles(root string) []leftFile {
	if c.files != nil {
		return c.files
	}
	c.files = []leftFile{}
	ctx, cancel := context.WithTimeout(context.Background(), workTimeout)
	defer cancel()
	var files []leftFile
	err := git.EachFile(ctx, root, c.env.Environ, func(path string, info fs.FileInfo) {
		if info.Mode().IsRegular() && (c.record.Home == "" || !strings.HasPrefix(filepath.Join(root, path), c.record.Home+"/")) {
			files = append(files, leftFile{Path: path, leftState: leftState{Size: info.Size(), Time: info.ModTime().UnixNano()}})
		}
	})
	if err != nil {
		c.log.fault("look for changed files", err)
		return nil
	}
	c.files = files
	return files
}
