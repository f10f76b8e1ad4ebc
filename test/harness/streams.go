package harness

import (
	"bytes"
	"cmp"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"
)

// silence is how long a silent stdin stays open: longer than any tool and the shim wait.
const silence = 6 * time.Second

// An input feeds a command's stdin.
type input struct {
	ours, theirs *os.File // nil if there is nothing to feed
	parts        []string
	pause        time.Duration
	led          bool // by the call itself
}

func (w *World) stdin(cmd *exec.Cmd, c Call) (in input, err error) {
	if c.Talk != nil {
		in.theirs, in.ours, err = os.Pipe()
		cmd.Stdin, in.led = in.theirs, true
		return in, err
	}
	switch c.From {
	case File:
		in.theirs, err = tempFile(w.Root, c.Stdin)
	case Socket:
		in.ours, in.theirs, err = socket()
		in.parts = []string{c.Stdin}
	case Late:
		in.theirs, in.ours, err = os.Pipe()
		in.parts, in.pause = []string{c.Stdin[:len(c.Stdin)/2], c.Stdin[len(c.Stdin)/2:]},
			cmp.Or(c.Delay, 400*time.Millisecond)
	case Silent:
		in.theirs, in.ours, err = os.Pipe()
		in.parts, in.pause = []string{"", ""}, cmp.Or(c.Delay, silence)
	default:
		if c.Stdin != "" {
			cmd.Stdin = strings.NewReader(c.Stdin)
		}
		return in, nil // outputs gives a call at a terminal that
	}
	cmd.Stdin = in.theirs
	return in, err
}

// feed writes the content of stdin, and ends it. The process might have ended.
func (in input) feed(ended <-chan struct{}) {
	if in.theirs != nil && in.ours != nil {
		in.theirs.Close()
	}
	if in.led {
		return
	}
	for i, part := range in.parts {
		if i > 0 {
			select {
			case <-ended:
			case <-time.After(in.pause):
			}
		}
		_, _ = io.WriteString(in.ours, part)
	}
	if in.ours != nil {
		in.ours.Close()
	}
}

// close closes all that is still open; closing twice is harmless.
func (in input) close() {
	for _, f := range []*os.File{in.ours, in.theirs} {
		if f != nil {
			f.Close()
		}
	}
}

func tempFile(dir, text string) (*os.File, error) {
	f, err := os.CreateTemp(dir, "stream-")
	if err != nil {
		return nil, err
	}
	if _, err = f.WriteString(text); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	return f, err
}

func socket() (ours, theirs *os.File, err error) {
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return nil, nil, err
	}
	syscall.CloseOnExec(pair[0])
	syscall.CloseOnExec(pair[1])
	return os.NewFile(uintptr(pair[0]), "socket"), os.NewFile(uintptr(pair[1]), "socket"), nil
}

// An output collects the output of a command.
type output struct {
	stdout, stderr *collector
	files          [2]*os.File    // if it prints into files
	theirs         []*os.File     // closed once the command has them
	ours           []*os.File     // their other ends
	reads          []func()       // their readers
	reading        sync.WaitGroup // until all has been read
	terminal       *os.File       // nil if there is none
	screen         *collector     // the text shown
	shown          sync.WaitGroup
	begin          time.Time
}

func (w *World) outputs(cmd *exec.Cmd, c Call, in input) (o *output, err error) {
	o = &output{stdout: &collector{leaves: c.To == Leaves}, stderr: &collector{}}
	if c.To == ToFile {
		for i := range o.files {
			if o.files[i], err = tempFile(w.Root, ""); err != nil {
				return o, err
			}
		}
		cmd.Stdout, cmd.Stderr = o.files[0], o.files[1]
		return o, nil
	}
	read := func(from *os.File) { _, _ = io.Copy(o.stdout, from) }
	switch {
	case c.Talk != nil:
		read = func(from *os.File) { c.Talk(in.ours, io.TeeReader(from, o.stdout)) }
	case c.To == Slow:
		read = func(from *os.File) { readSlowly(o.stdout, from) }
	case c.To == Unread:
		read = nil
	}
	if !c.atScreen() {
		if cmd.Stdout, err = o.pipe(read); err != nil {
			return o, err
		}
	}
	if c.To == Gone {
		o.ours[0].Close()
	}
	if c.To != Screen && c.To != Terminal && !c.Mixed {
		if cmd.Stderr, err = o.pipe(func(from *os.File) {
			_, _ = io.Copy(o.stderr, from)
		}); err != nil {
			return o, err
		}
	}
	if c.Mixed {
		cmd.Stderr = cmd.Stdout
	}
	if c.atScreen() || c.To == Terminal {
		return o, o.atTerminal(cmd, c)
	}
	return o, nil
}

// pipe returns the end of a pipe for a command. The other one is read until it ends, or as far as
// read does.
func (o *output) pipe(read func(from *os.File)) (theirs *os.File, err error) {
	ours, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	o.ours, o.theirs = append(o.ours, ours), append(o.theirs, theirs)
	if read != nil {
		o.reads = append(o.reads, func() {
			defer ours.Close()
			read(ours)
		})
	}
	return theirs, nil
}

// read waits until all output has been read, but not forever: a process left behind can hold the
// pipe open.
func (o *output) read(patience time.Duration) (whole bool) {
	done := make(chan struct{})
	go func() {
		o.reading.Wait()
		close(done)
	}()
	select {
	case <-done:
		return true
	case <-time.After(patience):
		return false
	}
}

// The size of a terminal. A tool that wraps its lines does so long before a shell's prompt would.
const (
	rows    = 24
	columns = 80
)

// atTerminal makes a terminal, and gives it to a command.
func (o *output) atTerminal(cmd *exec.Cmd, c Call) error {
	ours, theirs, err := pty.Open()
	if err != nil {
		return err
	}
	o.terminal, o.theirs = ours, append(o.theirs, theirs)
	if err := pty.Setsize(ours, &pty.Winsize{Rows: rows, Cols: columns}); err != nil {
		return err
	}
	o.screen = o.stderr
	if c.atScreen() {
		o.screen, cmd.Stdout = o.stdout, theirs
	}
	if c.To != ScreenOut {
		cmd.Stderr = theirs
	}
	if c.atScreen() && cmd.Stdin == nil && c.From != Shut {
		cmd.Stdin = theirs
	}
	// a terminal that no process has open any more ends in an error
	o.shown.Go(func() { _, _ = io.Copy(o.screen, ours) })
	return nil
}

// readSlowly reads until the pipe is closed.
func readSlowly(to *collector, from *os.File) {
	piece := make([]byte, 8<<10)
	for {
		n, err := from.Read(piece)
		_, _ = to.Write(piece[:n])
		if err != nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (o *output) started() {
	o.begin = time.Now()
	for _, f := range o.theirs {
		f.Close()
	}
	for _, read := range o.reads {
		o.reading.Go(read)
	}
}

func (o *output) begun() bool { _, first, _ := o.stdout.all(); return !first.IsZero() }

func (o *output) close() {
	for _, f := range slices.Concat(o.theirs, o.ours,
		[]*os.File{o.terminal, o.files[0], o.files[1]}) {
		if f != nil {
			f.Close()
		}
	}
}

// result reads everything that was printed, when the command has ended.
func (o *output) result(state *os.ProcessState) (r Result, err error) {
	if o.terminal != nil {
		// a process left behind can have it open
		_ = o.terminal.SetReadDeadline(time.Now().Add(settle))
		o.shown.Wait()
	}
	text, first, last := o.stdout.all()
	if o.stdout.leaves {
		text = text[:min(len(text), 1000)] // how much comes at once is random
	}
	r.Stdout, r.First, r.Last = text, first.Sub(o.begin), last.Sub(o.begin)
	r.Stderr, _, _ = o.stderr.all()
	r.Exit = state.ExitCode()
	if ws := state.Sys().(syscall.WaitStatus); ws.Signaled() {
		r.Signal = ws.Signal()
	}
	for i, to := range []*string{&r.Stdout, &r.Stderr} {
		if o.files[i] == nil {
			continue
		}
		data, err := os.ReadFile(o.files[i].Name())
		if err != nil {
			return r, err
		}
		*to = string(data)
	}
	return r, nil
}

// A collector is a writer that stores each write, with the time.
type collector struct {
	leaves bool // after the first bytes

	mu          sync.Mutex
	text        bytes.Buffer
	first, last time.Time
}

func (c *collector) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = time.Now()
	if c.text.Len() == 0 {
		c.first = c.last
	}
	c.text.Write(p)
	if c.leaves && (c.text.Len() > 64<<10 || bytes.IndexByte(c.text.Bytes(), '\n') >= 0) {
		return 0, io.ErrClosedPipe
	}
	return len(p), nil
}

func (c *collector) all() (text string, first, last time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String(), c.first, c.last
}

// listing returns the files of a project, each with its path and content.
func listing(dir string) (files []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.Name() == ".git":
			return filepath.SkipDir
		case d.IsDir():
			return nil
		}
		text, err := os.ReadFile(path)
		files = append(files, path+"\n"+string(text)+"\n")
		return err
	})
	return files, err
}
