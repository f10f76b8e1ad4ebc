package session

import (
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"reprise/rewrite"
	"reprise/shim/disk"
)

// maxCopied is the size, in bytes, of the largest session that is copied.
const maxCopied = 64 << 20

// halfCopy begins the names of copies that are being written. An older one than maxHalfCopy
// was left by a killed call.
const (
	halfCopy    = ".reprise-copy-"
	maxHalfCopy = time.Minute
)

// isoMillis is how JavaScript writes a time.
const isoMillis = "2006-01-02T15:04:05.000Z"

// Copy writes the copy that a run goes on in, beside the session's own file, and returns its path.
// It fails with fs.ErrNotExist if the session has no file.
func (f Files) Copy(plan rewrite.Plan, now time.Time) (string, error) {
	file, _, err := f.Find(plan.Resume)
	if err != nil {
		return "", err
	}
	text, err := disk.Read(file, maxCopied)
	if err != nil {
		return "", err
	}
	name, copied, err := f.Tool.CopySession(plan.Resume, plan.NewID, now.UTC().Format(isoMillis),
		[]byte(text))
	if err != nil {
		return "", err
	}
	dir := filepath.Dir(file)
	path := filepath.Join(dir, name)
	if _, err := os.Lstat(path); err == nil { // another session's, with an ID that begins alike
		return "", fs.ErrExist
	}
	disk.RemoveOld(dir, halfCopy+"*", maxHalfCopy)
	if err := disk.Replace(path, halfCopy, copied); err != nil {
		return "", err
	}
	return path, nil
}
