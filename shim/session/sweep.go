package session

import (
	"os"
	"path/filepath"
	"strings"

	"reprise/rewrite"
	"reprise/shim/disk"
)

// Sweeper returns a function that removes the orphan files that the tool leaves beside a session's
// file when it resumes the session. It returns nil if the tool's sessions have one certain filename
// each, so that there are none. gemini takes such a file, at the next start, for a broken session,
// and deletes all files of that session (docs/internals/gemini.md). A copy of the session instead
// would be one more file with prompts in it.
func (f Files) Sweeper(id string) func() {
	for _, pattern := range rewrite.SessionPaths(f.Tool, f.Home, f.Cwd, id) {
		if name := filepath.Base(pattern); strings.Contains(name, "*") {
			file, _, err := f.Find(id)
			if err != nil {
				return nil
			}
			return func() {
				sweep(f.Tool, filepath.Join(rewrite.Literal(filepath.Dir(file)), name))
			}
		}
	}
	return nil
}

// sweep deletes orphan files, if there is also a file of the session that is none.
func sweep(tool rewrite.Tool, pattern string) {
	found := disk.Matches(pattern)
	own := sessionFiles(tool, found)
	if len(own) == 0 || len(own) == len(found) {
		return
	}
	for _, path := range found {
		if isOrphan(tool, path) {
			_ = os.Remove(path) // the next sweep tries again
		}
	}
}
