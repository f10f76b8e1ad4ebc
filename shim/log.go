package shim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/reason"

	"github.com/rs/zerolog"
	"golang.org/x/sys/unix"
)

// A log writes one line of JSON for each call that is managed or failed, and with REPRISE_LOG=debug
// for every call. It never contains text of a prompt or an answer. The zero log writes nothing, and
// neither does a log with a file that cannot be opened. Several goroutines can use it.
type log struct {
	path   string
	debug  bool
	tool   string
	now    func() time.Time
	once   sync.Once
	logger zerolog.Logger
}

// line starts a line, nil for none. The first one opens the file.
func (l *log) line(level zerolog.Level) *zerolog.Event {
	if l.path == "" || level == zerolog.DebugLevel && !l.debug {
		return nil
	}
	l.once.Do(l.open)
	return l.logger.WithLevel(level).Str("time", l.now().UTC().Format(time.RFC3339Nano))
}

// begin has the log write to a file, unless it does.
func (l *log) begin(path string, debug bool, tool string, now func() time.Time) {
	if l.path == "" {
		l.path, l.debug, l.tool, l.now = path, debug, tool, now
	}
}

func (l *log) open() {
	zerolog.ErrorHandler = func(error) {} // the default writes to the caller's stderr
	l.logger = zerolog.Nop()
	if f, err := openLogFile(l.path, maxLog); err == nil {
		l.logger = zerolog.New(f).With().Str("tool", l.tool).Int("pid", os.Getpid()).Logger()
	}
}

// openLogFile opens the log for appending. A log larger than max bytes is first renamed to
// PATH.1, which it replaces. Opening fails for anything but a regular file.
func openLogFile(path string, max int64) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	f, info, err := openPrivate(path)
	if err != nil || info.Size() <= max {
		return f, err
	}
	aside, err := setAside(f, path)
	if err == nil && !aside {
		return f, nil
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	f, _, err = openPrivate(path)
	return f, err
}

// setAside renames the log, and reports whether the name is free or another file's. A lock lets
// one shim rename it; another that finds the lock taken appends one more line to the old log.
func setAside(f *os.File, path string) (aside bool, err error) {
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		return false, nil
	}
	open, _ := f.Stat() // without it no file is the same
	if named, err := os.Stat(path); err != nil || !os.SameFile(open, named) {
		return true, nil
	}
	return true, os.Rename(path, path+".1")
}

// openPrivate opens or creates a file and makes it readable by the user only.
func openPrivate(path string) (*os.File, fs.FileInfo, error) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK,
		0o600)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("open %s: not a regular file", path)
	}
	if err == nil && info.Mode().Perm() != 0o600 {
		err = f.Chmod(0o600)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

func (l *log) fault(what string, err error) {
	l.line(zerolog.ErrorLevel).Err(err).Msg(what)
}

func (l *log) setAside(path string) {
	l.line(zerolog.WarnLevel).Str("aside", path).
		Msg("began a new ledger: the old one is of an older version")
}

func (l *log) passthrough(why reason.Code) {
	l.line(zerolog.DebugLevel).Str("mode", string(rewrite.Passthrough)).
		Str("reason", string(why)).Send()
}

func (l *log) notShared(why string) {
	l.line(zerolog.DebugLevel).Str("unshared", why).Send()
}

func (l *log) refused(d decide.Decision, why reason.Code) {
	l.line(zerolog.WarnLevel).Int64("chain", d.Chain).Str("session", d.NativeID).
		Str("refused", string(why)).
		Msg("the tool did not take the resume, the call runs fresh")
}

func (l *log) decided(d decide.Decision, r *ledger.Call) {
	l.line(zerolog.DebugLevel).Str("mode", string(d.Mode)).Str("reason", string(d.Reason)).
		Str("detail", string(d.Detail)).Strs("changed", d.Changed).Int64("chain", d.Chain).
		Str("cwd", r.Cwd).Str("home", r.Home).Str("rule", r.Rule).Str("task", r.Task).
		Str("role", r.Role).Int("attempt", r.Attempt).Str("format", string(r.Format)).
		Str("model", r.Fingerprints.Model).Str("settings", string(r.Fingerprints.Settings)).
		Str("auth", string(r.Fingerprints.Auth)).Str("runtime", r.Fingerprints.Runtime).
		Float64("price_resumed", d.Prices.Resumed).Float64("price_fresh", d.Prices.Fresh).
		Bool("price_nano_usd", d.Prices.Money).Int("prompt_bytes", len(r.Prompt.Text)).
		Int("blocks", len(r.Prompt.Footprint().Blocks)).Msg("decided")
}

func (l *log) done(d decide.Decision, rule string, o *ledger.Outcome) {
	line := l.line(zerolog.InfoLevel).Int64("chain", d.Chain).Str("rule", rule).Str("mode",
		string(d.Mode)).Str("reason", string(d.Reason))
	if len(d.Changed) > 0 {
		line = line.Strs("changed", d.Changed)
	}
	line.Str("session", o.Seen.ID).Int("exit", o.Exit).Int("signal", o.Signal).Bool("resumable",
		o.Good()).Send()
}

// maxLog is how large the log can grow.
const maxLog = 1 << 20

// ForgetInLog overwrites the lines that mention a chain, in the log at path and in the older one
// beside it, and returns their number. Lines keep length and offset, so that shims can go on
// writing.
func ForgetInLog(path string, c ledger.ChainName) (lines int, err error) {
	for _, name := range []string{path, path + ".1"} {
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		n := 0
		if err == nil {
			n, err = forgetIn(f, c)
			f.Close()
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return lines, fmt.Errorf("forget chain c%d in the log: %w", c.ID, err)
		}
		lines += n
	}
	return lines, nil
}

// forgetIn overwrites lines in an open log, which might have been renamed since it was opened.
func forgetIn(f *os.File, c ledger.ChainName) (lines int, err error) {
	text, err := io.ReadAll(f) // at most maxLog and a line
	if err != nil {
		return 0, err
	}
	at := 0
	for line := range bytes.Lines(text) {
		body := bytes.TrimSuffix(line, []byte("\n"))
		if mentions(body, c) {
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

func mentions(line []byte, c ledger.ChainName) bool {
	if len(line) < 2 {
		return false
	}
	var entry struct {
		Chain           int64
		Task, Role, Cwd string
	}
	_ = json.Unmarshal(line, &entry) // a line that is cut short names no chain
	return entry.Chain == c.ID ||
		c.Task != "" && entry.Task == c.Task && entry.Role == c.Role && entry.Cwd == c.Cwd ||
		slices.ContainsFunc(c.NativeIDs, func(id string) bool {
			return strings.Contains(string(line), id)
		})
}

// printVerbose prints one line about the call on stderr if REPRISE_VERBOSE is 1.
func (f *found) printVerbose(mode rewrite.Mode, why reason.Code) {
	if f.env.Get("REPRISE_VERBOSE") != "1" {
		return
	}
	unshared := f.book.unshared
	if unshared != "" {
		unshared = "; not shared: " + unshared
	}
	fmt.Fprintf(f.env.Stderr, "reprise: %s: %s (%s)%s\n", f.name, mode, why, unshared)
}
