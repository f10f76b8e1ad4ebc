package shim

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"reprise/rewrite"
)

// The time between two sweeps is a share of the time since the tool's start, within these
// bounds. The first ones are close to each other, since any other start of the tool may find
// the file too.
const (
	sweepOften  = 20 * time.Millisecond
	sweepSeldom = time.Second
	sweepShare  = 50 // the time since the start is divided by it
)

// A sweeper removes the orphan files that a tool leaves beside a session's file when it resumes
// the session. gemini takes such a file, at its next start, for a broken session, and deletes
// all files of that session (docs/internals/gemini.md). A copy of the session instead would be
// one more file with prompts in it.
type sweeper struct {
	tool    rewrite.Tool
	pattern string
}

// sweeper returns a sweeper for a session, or nil if the tool's sessions have one certain
// filename each, so that there are no orphans.
func (c *call) sweeper(id string) *sweeper {
	for _, pattern := range rewrite.SessionPaths(c.tool, c.record.Home, c.record.Cwd, id) {
		if name := filepath.Base(pattern); strings.Contains(name, "*") {
			if file, _ := c.sessionFile(id); file != "" {
				return &sweeper{c.tool, filepath.Join(rewrite.Literal(filepath.Dir(file)), name)}
			}
			return nil
		}
	}
	return nil
}

// Sweep deletes orphan files, if there is also a file of the session that is none.
func (s *sweeper) Sweep() {
	if s == nil {
		return
	}
	found := matches(s.pattern)
	own := sessionFiles(s.tool, found)
	if len(own) == 0 || len(own) == len(found) {
		return
	}
	for _, path := range found {
		if isOrphan(s.tool, path) {
			_ = os.Remove(path) // the next sweep tries again
		}
	}
}

// Next returns the time until the next sweep.
func (s *sweeper) Next(since time.Duration) time.Duration {
	return min(max(since/sweepShare, sweepOften), sweepSeldom)
}
