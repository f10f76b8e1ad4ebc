package shim

import (
	"bytes"
	"os"

	"reprise/ledger"
	"reprise/rewrite"
)

// maxTail is how much of a session's file is looked through for its last message, in
// bytes: far more than the longest line that claude 2.1.329 writes behind one.
const maxTail = 4 << 20

// forkPoint finds the last message in so much of a session's file as our last run
// left, or says why there is none. What another process writes behind that does not
// count.
func (c *call) forkPoint(path string, size int64) (message string, why rewrite.Reason) {
	if fileState(path, size) == ledger.FileGone {
		return "", rewrite.SessionGone
	}
	file, err := os.Open(path)
	if err != nil {
		return "", rewrite.SessionGone
	}
	defer file.Close()
	tail := make([]byte, min(size, maxTail))
	if _, err := file.ReadAt(tail, size-int64(len(tail))); err != nil {
		return "", rewrite.SessionMoved
	}
	if !bytes.HasSuffix(tail, []byte("\n")) {
		return "", rewrite.SessionMoved
	}
	if message = c.tool.ForkPoint(tail); message == "" {
		return "", rewrite.NoForkPoint
	}
	return message, ""
}
