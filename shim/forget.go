package shim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"reprise/ledger"
)

// ForgetInLog overwrites the lines of the log that tell of a chain, in the file at
// path and in the one set aside before it, and gives their number. Lines keep their
// length and their place: shims that write meanwhile are not disturbed.
func ForgetInLog(path string, c ledger.ChainName) (lines int, err error) {
	for _, name := range []string{path, path + ".1"} {
		n, err := forgetInFile(name, c)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return lines, fmt.Errorf("forget chain %d in the log: %w", c.ID, err)
		}
		lines += n
	}
	return lines, nil
}

func forgetInFile(name string, c ledger.ChainName) (lines int, err error) {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return forgetIn(f, c)
}

// forgetIn reads the file that is open: its name may be another file's by now, since shims set the log aside.
func forgetIn(f *os.File, c ledger.ChainName) (lines int, err error) {
	text, err := io.ReadAll(f) // it is no longer than log.max_bytes and a line
	if err != nil {
		return 0, err
	}
	at := 0
	for line := range bytes.Lines(text) {
		body := bytes.TrimSuffix(line, []byte("\n"))
		if tellsOf(body, c) {
			blank := append([]byte("{}"), bytes.Repeat([]byte(" "), len(body)-2)...)
			if _, err := f.WriteAt(blank, int64(at)); err != nil {
				return lines, err
			}
			lines++
		}
		at += len(line)
	}
	return lines, f.Sync()
}

// tellsOf reports whether a line names the chain, one of its sessions or its task.
func tellsOf(line []byte, c ledger.ChainName) bool {
	if len(line) < 2 {
		return false
	}
	if slices.ContainsFunc(c.NativeIDs, func(id string) bool { return strings.Contains(string(line), id) }) {
		return true
	}
	var said struct {
		Chain           int64
		Task, Role, Cwd string
	}
	if json.Unmarshal(line, &said) != nil {
		return false
	}
	return said.Chain == c.ID || c.Task != "" && said.Task == c.Task && said.Role == c.Role && said.Cwd == c.Cwd
}
