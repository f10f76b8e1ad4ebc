package shim

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"reprise/rewrite"
	"reprise/rewrite/reason"
	"reprise/shim/disk"
)

// maxCopied is the size, in bytes, of the largest session that is copied.
const maxCopied = 64 << 20

// halfCopy begins the names of copies that are being written. One that is older than maxHalfCopy was left by a
// killed call.
const (
	halfCopy    = ".reprise-copy-"
	maxHalfCopy = time.Minute
)

// isoMillis is how JavaScript writes a time.
const isoMillis = "2006-01-02T15:04:05.000Z"

// copySession writes the copy that the run goes on in, beside the session's own file, if the tool makes none itself.
// It returns why the resume must be abandoned, "" if it need not be.
func (c *call) copySession(plan rewrite.Plan) reason.Code {
	if !plan.WriteCopy {
		return ""
	}
	file, _ := c.sessionFile(plan.Resume)
	if file == "" {
		return reason.SessionGone
	}
	if err := c.writeCopy(file, plan); err != nil {
		c.log.fault("copy session", err)
		return reason.RefusedBroken
	}
	return ""
}

func (c *call) writeCopy(file string, plan rewrite.Plan) error {
	text, err := disk.Read(file, maxCopied)
	if err != nil {
		return err
	}
	name, copied, err := c.tool.CopySession(plan.Resume, plan.NewID, c.env.Now().UTC().Format(isoMillis), []byte(text))
	if err != nil {
		return err
	}
	dir := filepath.Dir(file)
	path := filepath.Join(dir, name)
	if _, err := os.Lstat(path); err == nil { // another session's, with an ID that begins alike
		return fs.ErrExist
	}
	for _, left := range disk.StartingWith(dir, halfCopy) {
		if info, err := os.Lstat(left); err == nil && time.Since(info.ModTime()) > maxHalfCopy {
			_ = os.Remove(left)
		}
	}
	half, err := os.CreateTemp(dir, halfCopy) // 0600
	if err != nil {
		return err
	}
	_, err = half.Write(copied)
	err = errors.Join(err, half.Close())
	if err == nil {
		c.copied = path
		err = os.Rename(half.Name(), path)
	}
	if err != nil {
		_ = os.Remove(half.Name()) // only a read-only disk keeps it
	}
	return err
}

// removeCopy removes the copy of a session that the run has not taken.
func (c *call) removeCopy() {
	if c.copied == "" {
		return
	}
	if err := os.Remove(c.copied); err != nil && !disk.IsAbsent(err) {
		c.log.fault("remove copy of session", err)
	}
	c.copied = ""
}
