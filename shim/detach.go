package shim

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"reprise/config"
	"reprise/fleet"
	"reprise/ledger"
)

// FinishCommand is shimctl's command for the work that a call has left in the store. The argument is the
// file that says it.
const FinishCommand = "finish-shared"

// UnfinishedFiles is the filepath.Match pattern of these files' names, in the directory of the ledger.
const UnfinishedFiles = "unfinished-*.json"

func unfinishedOf(mark string) string { return strings.Replace(UnfinishedFiles, "*", mark+"-*", 1) }

// awaitFinished waits until what earlier calls of the job have left to another process is in the store:
// until then the job's session is in use.
func (c *call) awaitFinished() {
	settings := c.shared.settings
	dir, err := config.StateDir(c.env.Own)
	if err != nil {
		return
	}
	pattern := filepath.Join(dir, unfinishedOf(c.shared.book.Mark(c.record)))
	pending := func(path string) bool {
		info, err := os.Stat(path)
		return err == nil && time.Since(info.ModTime()) < settings.UploadTimeout // an older one has failed
	}
	for {
		paths, _ := filepath.Glob(pattern) // the pattern is a valid one
		if !slices.ContainsFunc(paths, pending) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// finishIn records the outcome in the call's book. It waits for a store for UploadTimeout at most, and no longer once a
// signal has asked for the end. Another process does the remaining work there.
func (c *call) finishIn(o *ledger.Outcome, later ...ledger.Turn) error {
	if !c.isShared() {
		return c.book().Finish(c.ticket, o, later...)
	}
	u, err := c.shared.book.FinishHere(c.ticket, o, later...)
	if u == nil {
		return err
	}
	ctx, cancel := c.waitForStore()
	defer cancel()
	failed := c.shared.book.Complete(ctx, u)
	if errors.Is(failed, fleet.ErrUnfinished) {
		failed = c.detach(u)
	}
	return errors.Join(err, failed)
}

func (c *call) detach(u *fleet.Unfinished) error {
	dir, err := config.StateDir(c.env.Own)
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(dir, unfinishedOf(u.Mark()))
	if err != nil {
		return fmt.Errorf("leave the store to another process: %w", err)
	}
	_, err = file.Write(u.Encode())
	if err = errors.Join(err, file.Close()); err == nil {
		err = startShimctl(c.env.Environ, FinishCommand, file.Name())
	}
	if err != nil {
		return fmt.Errorf("leave the store to another process: %w", errors.Join(err, os.Remove(file.Name())))
	}
	return nil
}

// startShimctl starts a command of shimctl that has a separate session and none of the caller's
// streams, so that nothing waits for it.
func startShimctl(environ []string, args ...string) error {
	cmd := exec.Command(filepath.Join(filepath.Dir(executablePath()), "shimctl"), args...)
	cmd.Env, cmd.Dir = environ, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return startAlone(cmd)
}
