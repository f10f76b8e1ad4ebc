package shim

import (
	"cmp"
	"slices"
	"strings"

	"reprise/config"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/reason"
	"reprise/shim/binary"
	"reprise/shim/disk"
	"reprise/shim/front"
	"reprise/shim/git"
	"reprise/shim/session"
	"reprise/shim/supervise"
	"reprise/shim/variables"
	"reprise/shim/work"
)

// found has the parts of this machine that a call needs: binary, configuration, settings, chains.
type found struct {
	*asked
	search    *binary.Search
	config    config.Config
	tool      rewrite.Tool
	line      rewrite.CommandLine // the command line as the tool reads it, with the settings
	real      binary.Program
	known     ledger.Binary // the facts about the real one
	cwd, home string        // where the tool will work, and its home
	book      *book
}

// find finds the parts that the call needs, with the store that an earlier decision on the call has
// opened, if there is one. It fails with a pass if the call is not to be managed; found then has
// the parts of the steps before.
func find(f *found, before *book) error {
	for _, step := range []func() error{
		f.readConfig, f.parse, f.checkStdout, f.locate, f.checkWrapper, f.checkFiles, f.checkPipes,
		f.readSettings,
		f.recallBinary, f.leaveChosen,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	f.openStore(before)
	return nil
}

func newFound(a *asked) *found {
	f := &found{asked: a}
	f.search = binary.NewSearch(a.name, a.env.Args, a.env.Environ, a.env.Stderr, a.log.fault)
	f.book = &book{found: f}
	return f
}

// readConfig reads the configuration, and opens the log.
func (f *found) readConfig() error {
	path, err := config.ConfigFile(f.env.Own)
	if err != nil {
		return f.fault("find configuration", err)
	}
	f.config, err = config.Load(path)
	f.search.Prefer(f.config.Tools[f.name].Path)
	if path, err := config.LogFile(f.env.Own); err == nil && !f.preview {
		f.log.begin(path, f.env.Get("REPRISE_LOG") == "debug", f.name, f.env.Now)
	}
	switch {
	case err != nil:
		return &pass{why: reason.ConfigMistake,
			failed: passOf(f.fault("read configuration", err)).failed}
	case !f.config.Enabled || !f.config.Tools[f.name].Enabled:
		return reason.Disabled
	}
	return nil
}

func (f *found) parse() error {
	var managed bool
	if f.tool, managed = rewrite.Lookup(f.name); !managed {
		return reason.NotManaged
	}
	if f.line = f.parsed(f.commandInput()); f.line.Mode == rewrite.Passthrough {
		return f.line.Reason
	}
	return nil
}

// checkStdout fails with a pass if nobody reads the output.
func (f *found) checkStdout() error {
	// A tool can fail at the first write if nobody reads it (codex 0.169.0: exit code 101).
	// Behind the shim's pipe it would not.
	if front.Closed(f.env.Stdout.Fd()) || supervise.HungUp(int(f.env.Stdout.Fd())) {
		return reason.StdoutGone
	}
	return nil
}

// parsed parses a command line, and once more with the options of the binary's --help if one is not
// known.
func (f *found) parsed(in rewrite.Input) rewrite.CommandLine {
	line := f.tool.Parse(in)
	if line.Reason == reason.UnknownOption {
		in.Learned = f.learn()
		line = f.tool.Parse(in)
	}
	return line
}

// locate finds the real binary, the ledger, and the directories that select the chains.
func (f *found) locate() (err error) {
	if f.real, err = f.search.Program(); err != nil {
		return reason.Fault // becoming it fails in the same way, and reports it
	}
	if err := f.openLedger(); err != nil {
		return err
	}
	if f.cwd, err = workingDir(f.line.Dir); err != nil {
		return f.fault("find working directory", err)
	}
	return nil
}

// checkWrapper fails with a pass if the real binary is a script that looks at the arguments.
func (f *found) checkWrapper() error {
	if f.line.Mode == rewrite.Fresh && f.search.IsWrapper() {
		return reason.Wrapper
	}
	return nil
}

// readSettings completes the command line with the tool's settings files.
func (f *found) readSettings() error {
	if f.line.Mode == rewrite.Fresh {
		f.line = f.tool.ResolveWithEnv(f.line, f.hostEnv())
	}
	if f.line.Mode == rewrite.Passthrough {
		return f.line.Reason
	}
	f.home = disk.Resolve(f.line.Home)
	return nil
}

// leaveChosen leaves a new session to the caller that chose the ID if the tool cannot copy another
// one to that ID, or if the session is there already, which the tool refuses.
func (f *found) leaveChosen() error {
	if f.line.ChosenID == "" || f.line.Mode != rewrite.Fresh {
		return nil
	}
	if _, _, err := f.sessions().Find(f.line.ChosenID); err != nil && f.line.Copies {
		return nil
	}
	f.line.ChosenID = ""
	if f.line.Format == rewrite.Text {
		return reason.CallerSession
	}
	f.line.Mode, f.line.Reason = rewrite.Observe, reason.CallerSession
	return nil
}

func (f *found) sessions() session.Files {
	return session.Files{Tool: f.tool, Home: f.home, Cwd: f.cwd}
}

func (f *found) project() *work.Project {
	return &work.Project{
		Cwd: f.cwd, Home: f.home, Environ: f.env.Environ, Digest: f.digester(),
		Beside: f.ledger.Beside, Fault: f.log.fault,
	}
}

// hostEnv reads the settings files that the call depends on, and the tool's version.
func (f *found) hostEnv() rewrite.HostEnv {
	s := rewrite.HostEnv{Version: f.real.Version(),
		Dirs: slices.Compact([]string{f.cwd, git.Root(f.cwd)})}
	if s.Version == "" && f.tool.Descriptor().AsksVersion {
		s.Version = f.learn().Version
	}
	for _, path := range f.line.SettingsFiles {
		if text, err := disk.Read(f.placeOf(path), maxSize(path)); err == nil {
			s.Settings = append(s.Settings, rewrite.File{Path: path, Text: text})
		}
	}
	s.Hooks = f.hookFiles()
	return s
}

// hookFiles reads the files that can have hooks.
func (f *found) hookFiles() (files []rewrite.File) {
	found, left := directories{}, int64(maxWatchedBytes)
	for _, w := range f.line.HookFiles {
		paths := found.paths(w, f.cwd)
		for _, path := range paths {
			text, err := disk.Read(path, min(disk.MaxSettings, left))
			if disk.IsAbsent(err) {
				continue
			}
			left -= int64(len(text))
			files = append(files, rewrite.File{Path: path, Text: text, Unread: err != nil})
		}
		if len(paths) >= maxWatched && strings.Contains(w.Path, "*") { // there can be more
			files = append(files, rewrite.File{Path: w.Path, Unread: true})
		}
	}
	return files
}

// recallBinary reads the facts about the real binary. It fails with a pass if the binary refuses
// additions to the command line.
func (f *found) recallBinary() (err error) {
	if f.known, err = f.knownBinary(f.real.Fingerprint()); err != nil {
		return f.fault("read what is known of the binary", err)
	}
	if f.known.Refuses && f.line.Mode == rewrite.Fresh {
		return reason.AddedRefused
	}
	return nil
}

// learn returns the options that the real binary's help names. Each binary is run once for
// that; the ledger keeps the answer.
func (f *found) learn() rewrite.Probe {
	real, err := f.search.Program()
	if err != nil || f.openLedger() != nil {
		return rewrite.Probe{} // without a ledger every call would run --help
	}
	// A version manager's shim is one file for all tools.
	known, err := f.knownBinary(real.Fingerprint())
	if err != nil {
		f.log.fault("read what is known of the binary", err)
		return rewrite.Probe{}
	}
	if known.Probed {
		return known.Probe
	}
	environ := variables.Unset(f.env.Environ)
	probe := binary.Ask(f.tool, real.Path, environ)
	asks := f.tool.Descriptor().AsksVersion
	if asks {
		probe.Version = binary.Version(real.Path, environ)
	}
	// it might have been too slow: the next call asks again
	if f.preview || asks && probe.Version == "" {
		return probe
	}
	f.learnBinary(real.Fingerprint(), func(b *ledger.Binary) { b.Probed, b.Probe = true, probe })
	return probe
}

func (f *found) knownBinary(fingerprint string) (ledger.Binary, error) {
	return inTime(f.ledger, func() (ledger.Binary, error) {
		return f.ledger.Binary(f.name, fingerprint)
	})
}

// learnBinary records the facts that the call has shown of the real binary.
func (f *found) learnBinary(fingerprint string, add func(*ledger.Binary)) {
	real, _ := f.search.Program() // it was found before
	version, now := real.Version(), decide.MillisOf(f.env.Now())
	err := f.ledger.do(func() error {
		return f.ledger.LearnBinary(f.name, fingerprint, now, func(b *ledger.Binary) {
			b.Path, b.Version = real.Path, cmp.Or(b.Version, version)
			add(b)
		})
	})
	if err != nil {
		f.log.fault("keep what is known of the binary", err)
	}
}
