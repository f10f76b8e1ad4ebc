package shim

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"reprise/rewrite"
)

// maxLeftover is the size from which on a file is no leftover, whatever it holds.
const maxLeftover = 1 << 20

// How often the directory of a resumed session is looked at for what the resume has
// left: at first very often, since any other start of the tool may see it too,
// then ever less.
const (
	sweepOften  = 20 * time.Millisecond
	sweepSeldom = time.Second
	sweepShare  = 50 // of the time since the start
)

// A sweeper removes what a tool leaves beside the file of a session that it
// resumes, where that puts the session in danger: gemini takes it, at its next
// start, for a broken session, and deletes all that bears the session's name
// (docs/internals/gemini.md). It is gone as soon as it is seen, so that no copy of the
// session is needed: a copy would be one more place with a prompt in it, and one
// that is put back while the tool runs lacks what it has written since.
type sweeper struct {
	tool    rewrite.Tool
	pattern string
}

// sweeper is for the session's own directory; nil where the tool has one certain name
// for a session's file, so that nothing of that name can stand beside it.
func (c *call) sweeper(id string) *sweeper {
	for _, pattern := range c.tool.SessionPaths(c.record.Home, c.record.Cwd, id) {
		if name := filepath.Base(pattern); strings.Contains(name, "*") {
			if file, _ := c.sessionFile(id); file != "" {
				return &sweeper{c.tool, filepath.Join(rewrite.Literal(filepath.Dir(file)), name)}
			}
			return nil
		}
	}
	return nil
}

// sweep deletes leftovers, and only beside a file that is none.
func (s *sweeper) sweep() {
	if s == nil {
		return
	}
	found := matches(s.pattern)
	own := sessionFiles(s.tool, found)
	if len(own) == 0 || len(own) == len(found) {
		return
	}
	for _, path := range found {
		if isLeftover(s.tool, path) {
			_ = os.Remove(path) // what cannot be removed is seen at the next look
		}
	}
}

// next is how long to wait for the next look.
func (s *sweeper) next(since time.Duration) time.Duration {
	return min(max(since/sweepShare, sweepOften), sweepSeldom)
}

// sessionFiles are those of several files of one session that are no leftovers.
func sessionFiles(tool rewrite.Tool, matches []string) []string {
	if len(matches) < 2 {
		return matches
	}
	var own []string
	for _, path := range matches {
		if !isLeftover(tool, path) {
			own = append(own, path)
		}
	}
	return own
}

func isLeftover(tool rewrite.Tool, path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxLeftover {
		return false
	}
	data, err := os.ReadFile(path)
	return err == nil && tool.IsOrphanFile(path, data)
}
