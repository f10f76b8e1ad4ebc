// Package session finds the files of the tools' sessions, compares, copies and sweeps them.
//
// It decides nothing. Invariant: a session's own file is never written, replaced or removed; only
// copies are added, and orphan files removed.
package session

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"slices"
	"time"

	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/reason"
	"reprise/shim/disk"

	_ "github.com/mattn/go-sqlite3" // opencode keeps its sessions in a database
)

// Files finds the files of one tool's sessions in one directory.
type Files struct {
	Tool      rewrite.Tool
	Home, Cwd string // the tool's home, and the working directory
}

// Find returns the path of the tool's file of a session, and the session's present stamp. It fails
// with fs.ErrNotExist if there is none. If several files match a pattern, it is the last by name.
func (f Files) Find(id string) (path string, stamp decide.Stamp, err error) {
	if err = fs.ErrNotExist; id == "" {
		return "", "", err
	}
	for _, pattern := range rewrite.SessionPaths(f.Tool, f.Home, f.Cwd, id) {
		for _, path := range slices.Backward(sessionFiles(f.Tool, disk.Matches(pattern))) {
			if stamp, err = f.stamp(path, id); err == nil {
				return path, stamp, nil
			}
		}
	}
	return "", "", err
}

// sessionFiles returns the files of one session without the orphans.
func sessionFiles(tool rewrite.Tool, matches []string) []string {
	if len(matches) < 2 {
		return matches
	}
	return slices.DeleteFunc(slices.Clone(matches), func(path string) bool {
		return isOrphan(tool, path)
	})
}

// maxOrphan is the size, in bytes, above which a file is no orphan, whatever it contains.
const maxOrphan = 1 << 20

// isOrphan reports whether a file is an orphan. A link is none: somebody else has made it.
func isOrphan(tool rewrite.Tool, path string) bool {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return false
	}
	text, err := disk.Read(path, maxOrphan)
	return err == nil && tool.IsOrphanFile(path, []byte(text))
}

// stampTimeout bounds how long a tool's database is waited for. Readers wait only while a process
// changes a database without a write-ahead log. On a machine with much to do, a read can take long
// as well.
const stampTimeout = 2 * time.Second

// Stored compares a session with the stamp that the last recorded run left. If the session cannot
// be read, it counts as changed.
func (f Files) Stored(path, id string, stamp decide.Stamp) decide.StoredState {
	switch now, err := f.stamp(path, id); {
	case errors.Is(err, fs.ErrNotExist):
		return decide.StoredGone
	case err != nil || now != stamp:
		return decide.StoredChanged
	}
	return decide.StoredSame
}

// stamp returns the present stamp of a session that the tool keeps in the file at path. It fails
// with fs.ErrNotExist if the file or the session is not there.
func (f Files) stamp(path, id string) (decide.Stamp, error) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return "", fs.ErrNotExist
	}
	if query := f.Tool.Descriptor().SessionQuery; query != "" {
		return rowStamp(path, query, id)
	}
	return decide.FileStamp(info), nil
}

// rowStamp returns the answer of a query for a session's ID, without writing to the database.
func rowStamp(path, query, id string) (stamp decide.Stamp, err error) {
	source := url.URL{Scheme: "file", Path: path,
		RawQuery: fmt.Sprintf("mode=ro&_busy_timeout=%d", stampTimeout.Milliseconds())}
	db, err := sql.Open("sqlite3", source.String())
	if err != nil {
		return "", err
	}
	defer db.Close()
	ctx, cancel := context.WithTimeout(context.Background(), stampTimeout)
	defer cancel()
	err = db.QueryRowContext(ctx, query, id).Scan(&stamp)
	if errors.Is(err, sql.ErrNoRows) {
		err = fs.ErrNotExist
	}
	return stamp, err
}

// maxTail is how many bytes at the end of a session's file are searched for the last message:
// far more than claude 2.1.329 writes after one.
const maxTail = 4 << 20

// ForkPoint returns the last message of a session's file as the last recorded run left it, or the
// reason why there is none. It ignores lines that other processes have appended since.
func (f Files) ForkPoint(path string, stamp decide.Stamp) (message string, why reason.Code) {
	tail, why := tailOf(path, stamp)
	if why != "" {
		return "", why
	}
	if message = f.Tool.ForkPoint(tail); message == "" {
		return "", reason.NoForkPoint
	}
	return message, ""
}

// StoresTurn reports whether a session's file, as it was at a stamp, ends with a turn.
func (f Files) StoresTurn(path string, stamp decide.Stamp, message, last string) bool {
	tail, why := tailOf(path, stamp)
	return why == "" && rewrite.StoresTurn(tail, message, last)
}

// tailOf returns the end of a session's file as it was at a stamp, or the reason why it cannot be
// read. The file must have had whole lines then.
func tailOf(path string, stamp decide.Stamp) ([]byte, reason.Code) {
	size, err := stamp.FileSize()
	if err != nil {
		return nil, reason.NoForkPoint // it is a row
	}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil, reason.SessionGone
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, reason.SessionGone
	}
	defer file.Close()
	tail := make([]byte, min(size, maxTail))
	if _, err := file.ReadAt(tail, size-int64(len(tail))); err != nil ||
		!bytes.HasSuffix(tail, []byte("\n")) {
		return nil, reason.SessionMoved
	}
	return tail, ""
}
