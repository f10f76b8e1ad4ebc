package supervise

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"reprise/rewrite"
	"reprise/rewrite/reason"
	"reprise/test/toolbox"
)

// Each of the tool's streams is the caller's of the same name, whether it goes through us or not.
func TestStreamsKeepTheirPlaces(t *testing.T) {
	const script = `read word; echo content $word; echo aside >&2; [ /dev/fd/2 -ef "$ERR" ] && echo own; exit 0`
	for _, tt := range []struct {
		name       string
		plan       rewrite.Plan
		out, aside string
	}{
		{"fresh", rewrite.Plan{}, "content in\nown\n", "aside\n"},
		{"resumed", rewrite.Plan{Resume: "x", Whole: true}, "content in\n", "aside\n"},
		{"stderr is read", rewrite.Plan{ReadStderr: true}, "content in\n", "read: aside\n"},
		{"one stream, but the caller has two", rewrite.Plan{ReadStderr: true, OneStream: true},
			"content in\n", "read: aside\n"},
	} {
		in, out, aside := outputFile(t), outputFile(t), outputFile(t)
		if _, err := in.WriteString("in\n"); err != nil {
			t.Fatal(err)
		}
		if _, err := in.Seek(0, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		a, st := performFor(t, scriptedTool{stream: &scriptedStream{}}, tt.plan, script,
			time.Minute, [3]*os.File{in, out, aside})
		if got, gotAside := contents(t, out), contents(t, aside); got != tt.out ||
			gotAside != tt.aside || st != (Status{}) || a.watcher != nil {
			t.Errorf("%s: stdout %q, stderr %q, %+v; want %q and %q", tt.name, got, gotAside, st,
				tt.out, tt.aside)
		}
	}
}

// If the caller has one stream for both, the tool gets one stream too and writes in one order, and
// all of it is read as stderr is.
func TestOneStream(t *testing.T) {
	const script = "for i in 1 2 3 4 5; do echo out $i; echo aside $i >&2; done"
	var want strings.Builder
	for _, i := range []string{"1", "2", "3", "4", "5"} {
		want.WriteString("read: out " + i + "\nread: aside " + i + "\n")
	}
	out := outputFile(t)
	perform(t, scriptedTool{stream: &scriptedStream{}},
		rewrite.Plan{ReadStderr: true, OneStream: true}, script, time.Minute, out)
	if got := contents(t, out); got != want.String() {
		t.Errorf("shown %q", got)
	}
}

// Output that a tool writes in turn on both of its streams reaches the one file of a caller in that
// order, held back or not.
func TestOrderInOneFile(t *testing.T) {
	const script = "for i in 1 2 3; do echo out $i; sleep 0.1; echo aside $i >&2; sleep 0.1; " +
		"done; echo aside 4 >&2; sleep 0.1; printf end"
	const want = "out 1\naside 1\nout 2\naside 2\nout 3\naside 3\naside 4\nend"
	for name, plan := range map[string]rewrite.Plan{"fresh": {},
		"resumed": {Resume: "x", Whole: true}, "stderr is read": {ReadStderr: true}} {
		out := outputFile(t)
		perform(t, scriptedTool{stream: &scriptedStream{}}, plan, script, time.Minute, out)
		if got := strings.ReplaceAll(contents(t, out), "read: ", ""); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// An end of stdout that the stream shows when the tool has ended stands before later output on
// stderr.
func TestOrderInOneFileAtTheEnd(t *testing.T) {
	const script = "echo notice >&2; sleep 0.1; echo kept; sleep 0.1; echo aside >&2"
	for _, plan := range []rewrite.Plan{{}, {Resume: "x", Whole: true}} {
		out := outputFile(t)
		perform(t, scriptedTool{stream: &scriptedStream{holds: true, last: "answer\n"}}, plan,
			script, time.Minute, out)
		if got := contents(t, out); got != "notice\nanswer\naside\n" {
			t.Errorf("%+v: %q", plan, got)
		}
	}
}

// Held output of two streams is shown as it came: in order if they are one file, and each to its
// own file otherwise.
func TestHeldOfTwoStreams(t *testing.T) {
	for _, one := range []bool{false, true} {
		out, aside := outputFile(t), outputFile(t)
		if one {
			aside = out
		}
		g := held(t, out, aside)
		var want [2]string
		for i := range 5 {
			text := fmt.Sprintf("piece %d\n", i)
			n := []int{0, 1, 1}[i%3]
			g.write([]*sink{g.stdout, g.stderr}[n], []byte(text), nil)
			if want[n] += text; one {
				want[1-n] += text
			}
		}
		g.letOut()
		g.write(g.stderr, []byte("later\n"), nil)
		if want[1] += "later\n"; one {
			want[0] = want[1]
		}
		if written(g.writers...) {
			t.Error("it failed")
		}
		if got := [2]string{contents(t, out), contents(t, aside)}; got != want {
			t.Errorf("one file %v: %q, want %q", one, got, want)
		}
	}
}

func TestSameFile(t *testing.T) {
	one, other, closed := outputFile(t), outputFile(t), outputFile(t)
	again, err := os.Open(one.Name())
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	closed.Close()
	for _, tt := range []struct {
		a, b *os.File
		want bool
	}{{one, one, true}, {one, again, true}, {one, other, false}, {one, closed, false},
		{closed, one, false}, {closed, closed, false}} {
		if got := sameFile(tt.a, tt.b); got != tt.want {
			t.Errorf("%s and %s: %v", tt.a.Name(), tt.b.Name(), got)
		}
	}
}

// A resumed run's stderr waits as the stdout does, and comes out with it.
func TestStderrWaitsToo(t *testing.T) {
	for _, tt := range []struct{ name, script, aside string }{
		{"shown while it runs",
			`echo aside >&2; sleep 0.05; echo content; until [ -s $ERR ]; do sleep 0.02; done`,
			"aside\n"},
		{"shown at the end", `echo aside >&2`, "aside\nlast\n"},
		{"refused", `echo aside >&2; sleep 0.05; echo refusal; exit 1`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			out, aside := outputFile(t), outputFile(t)
			stream := &scriptedStream{}
			if tt.name == "shown at the end" {
				stream.asideAt = "last\n"
			}
			performFor(t, scriptedTool{stream: stream}, rewrite.Plan{Resume: "x", Whole: true},
				tt.script, time.Minute, [3]*os.File{devNull(t), out, aside})
			if got := contents(t, aside); got != tt.aside {
				t.Errorf("stderr %q, want %q", got, tt.aside)
			}
		})
	}
}

// A tool is told to have refused by the end of stderr and the exit code, which is 1 after a signal.
func TestWhatARefusalIsToldBy(t *testing.T) {
	for script, want := range map[string]string{
		"echo no such session >&2; exit 3": `"no such session\n", exit 3`,
		"echo what >&2; kill -KILL $$":     `"what\n", exit 1`,
		"exit 0":                           `"", exit 0`,
	} {
		var judged string
		perform(t, scriptedTool{stream: &scriptedStream{}, judged: &judged},
			rewrite.Plan{Resume: "x", Whole: true}, script, time.Minute, outputFile(t))
		if judged != want {
			t.Errorf("%s: told by %s", script, judged)
		}
	}
}

// A new session's id is noted once, as soon as the tool says it, and never an ID that is not the
// session's.
func TestAnIDIsPinnedOnce(t *testing.T) {
	for script, want := range map[string]string{
		"echo id one; echo content; echo id one": "one", "echo content": "",
		"echo id one; sleep 0.2; echo other-id": "one",
		"echo other-id; echo id two":            "",
	} {
		stream := &scriptedStream{signals: childrensInbox(t)}
		var pinned []string
		a := New(Options{Tool: scriptedTool{stream: stream}, Stream: stream,
			Signals: stream.signals, Fault: func(string, error) {}})
		a.Pinned = func(id string, pid int) {
			if pid != a.process.pid {
				t.Errorf("pid %d", pid)
			}
			pinned = append(pinned, id)
		}
		path := toolbox.Program(t, t.TempDir(), "tool", "#!/bin/sh\n"+script)
		if _, err := a.Run(path, []string{"tool"}, os.Environ(),
			[3]*os.File{devNull(t), outputFile(t), outputFile(t)}, time.Minute); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(pinned, " "); got != want || !isClosed(a.stop) {
			t.Errorf("%s: %q is pinned, want %q", script, got, want)
		}
	}
}

// openFiles counts this process's descriptors, without those that only the garbage collector
// closes.
func openFiles(t *testing.T) int {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no /proc")
	}
	return len(fds)
}

// When a run has ended, refused or not, begun or not, none of its descriptors is left: another run
// can follow.
func TestARunLeavesNoDescriptor(t *testing.T) {
	much := "head -c 6000000 /dev/zero | tr '\\0' '\\n'; head -c 6000000 /dev/zero >&2; "
	for _, tt := range []struct {
		name, script string
		plan         rewrite.Plan
	}{
		{"fresh", "echo word", rewrite.Plan{}},
		{"stderr is read", "echo word", rewrite.Plan{ReadStderr: true}},
		{"resumed", "echo content", rewrite.Plan{Resume: "x", Whole: true}},
		{"refused, and much was held", much + "echo refusal; exit 1",
			rewrite.Plan{Resume: "x", Whole: true}},
		{"refused by its end, and much was held", much + "exit 1",
			rewrite.Plan{Resume: "x", Whole: true}},
		{"does not start", "", rewrite.Plan{ReadStderr: true,
			Follow: []rewrite.Follow{{Dir: t.TempDir(), Name: "*"}}}},
	} {
		tool := scriptedTool{stream: &scriptedStream{signals: childrensInbox(t)},
			refused: reason.RefusedUnknown}
		out, aside, null := outputFile(t), outputFile(t), devNull(t)
		a := New(Options{Plan: tt.plan, Tool: tool, Stream: tool.stream,
			Signals: tool.stream.signals, Fault: func(string, error) {}})
		path := toolbox.Program(t, t.TempDir(), "tool", "#!/bin/sh\n"+tt.script)
		if tt.script == "" {
			path += "-that-is-not-there"
		}
		runtime.GC()
		time.Sleep(10 * time.Millisecond) // finalizers of earlier tests
		before := openFiles(t)
		_, err := a.Run(path, []string{"tool"}, os.Environ(), [3]*os.File{null, out, aside},
			time.Minute)
		if (err != nil) != (tt.script == "") {
			t.Fatal(err)
		}
		if err == nil {
			a.process.witness.Close()
		}
		after := openFiles(t)
		for begun := time.Now(); after > before &&
			time.Since(begun) < time.Second; after = openFiles(t) {
			time.Sleep(10 * time.Millisecond) // a watcher's goroutine closes its own
		}
		if after > before {
			t.Errorf("%s: %d descriptors before, %d after", tt.name, before, after)
		}
		if !isClosed(a.stop) {
			t.Errorf("%s: readers and writers go on", tt.name)
		}
	}
}

// A stream that the tool closes while it runs is at its end: nobody is left to copy later output.
func TestAStreamThatEndsEarly(t *testing.T) {
	for script, want := range map[string][]bool{
		"exec >&-; sleep 0.2": {true}, "exec 2>&-; sleep 0.2": {true},
	} {
		a, _ := performFor(t, scriptedTool{stream: &scriptedStream{}},
			rewrite.Plan{ReadStderr: true}, script, time.Minute,
			[3]*os.File{devNull(t), outputFile(t), outputFile(t)})
		which := 0
		if strings.Contains(script, "2>") {
			which = 1
		}
		if got := []bool{a.taps[which].over}; !slices.Equal(got, want) {
			t.Errorf("%s: over %v", script, got)
		}
	}
}

// A tool that has closed both streams and runs on, while the gate holds, costs the shim nothing.
func TestBothStreamsEndEarly(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	performFor(t, scriptedTool{stream: &scriptedStream{}}, rewrite.Plan{Resume: "x"},
		"exec >&- 2>&-; sleep 1.5", time.Minute,
		[3]*os.File{devNull(t), outputFile(t), outputFile(t)})
	runtime.ReadMemStats(&after)
	if n := after.Mallocs - before.Mallocs; n > 20_000 {
		t.Errorf("%d allocations", n)
	}
}

// untilOver waits, in a shell, until over says that the run is over, or the test has ended.
const untilOver = `until [ -e "$OUT.over" ] || [ ! -e "$OUT" ]; do sleep 0.02; done`

func over(t *testing.T, out *os.File) {
	t.Helper()
	if err := os.WriteFile(out.Name()+".over", nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A process that the tool leaves behind writes on, after we have ended.
func TestLateOutputArrives(t *testing.T) {
	out := outputFile(t)
	_, st := perform(t, scriptedTool{stream: &scriptedStream{}}, rewrite.Plan{},
		"("+untilOver+"; echo late) & echo early", time.Minute, out)
	got := contents(t, out)
	over(t, out)
	if got != "early\n" || st != (Status{}) {
		t.Fatalf("at the end: %q, %+v", got, st)
	}
	for begun := time.Now(); contents(t,
		out) != "early\nlate\n"; time.Sleep(10 * time.Millisecond) {
		if time.Since(begun) > 20*time.Second {
			t.Fatalf("later: %q", contents(t, out))
		}
	}
}

// A tool that is its own child writes the format that was asked of it, not the caller's: nothing of
// that is shown late.
func TestLateEventsAreNotShown(t *testing.T) {
	for _, max := range []int{0, rewrite.LongestLine} {
		out := outputFile(t)
		plan := rewrite.Plan{ReexecsSelf: true}
		perform(t, scriptedTool{stream: &scriptedStream{max: max}}, plan,
			"("+untilOver+`; (echo late); echo >"$OUT.written") & echo early`, time.Minute, out)
		over(t, out)
		for begun := time.Now(); ; time.Sleep(10 * time.Millisecond) {
			if _, err := os.Stat(out.Name() + ".written"); err == nil {
				break
			}
			if time.Since(begun) > 20*time.Second {
				t.Fatal("the child has not ended")
			}
		}
		want := map[int]string{0: "early\n", rewrite.LongestLine: "early\nlate\n"}[max]
		for begun := time.Now(); contents(t, out) != want; time.Sleep(10 * time.Millisecond) {
			if time.Since(begun) > 20*time.Second {
				t.Fatalf("with %d: %q", max, contents(t, out))
			}
		}
	}
}

// A caller that reads one of its streams gets it, though it does not read the other.
func TestUnreadStdoutHoldsUpNoStderr(t *testing.T) {
	r, w := pair(t, blockingPipe)
	aside := outputFile(t)
	const script = `(until [ -e "$ERR.full" ]; do sleep 0.02; done; echo aside >&2) & head -c 2000000 /dev/zero | tr '\0' '\n'; wait`
	go func() {
		time.Sleep(300 * time.Millisecond) // by then stdout is full
		f, err := os.Create(aside.Name() + ".full")
		if err != nil {
			t.Error(err)
			return
		}
		f.Close()
		begun := time.Now()
		for {
			data, _ := os.ReadFile(aside.Name())
			if string(data) == "read: aside\n" {
				break
			}
			if time.Since(begun) > 20*time.Second {
				t.Errorf("on stderr: %q", data)
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		_, _ = io.Copy(io.Discard, r)
	}()
	if _, st := performFor(t, scriptedTool{stream: &scriptedStream{}},
		rewrite.Plan{ReadStderr: true}, script, time.Minute,
		[3]*os.File{devNull(t), w, aside}); st != (Status{}) {
		t.Errorf("%+v", st)
	}
}

// A caller that closes one of its streams: the tool learns of it at the next write there, and only
// there; of a stdout that is shown at the end it learns nothing.
func TestACallerThatLeaves(t *testing.T) {
	const stdout, stderr = 1, 2
	for _, tt := range []struct {
		name   string
		leaves int
		writes string
		holds  bool
		want   Status
	}{
		{"stdout", stdout, "echo more", false, Status{Signal: syscall.SIGPIPE}},
		{"stdout, and writes on stderr", stdout, "echo more >&2", false, Status{}},
		{"stderr", stderr, "echo more >&2", false, Status{Signal: syscall.SIGPIPE}},
		{"stderr, and writes on stdout", stderr, "echo more", false, Status{}},
		{"stdout that is held", stdout, "echo more", true, Status{}},
		{"stderr, and stdout is held", stderr, "echo more >&2", true,
			Status{Signal: syscall.SIGPIPE}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			begin := t.TempDir() + "/go"
			r, w := pair(t, blockingPipe)
			files := [3]*os.File{devNull(t), outputFile(t), outputFile(t)}
			files[tt.leaves] = w
			go func() {
				if tt.holds {
					time.Sleep(100 * time.Millisecond)
				} else {
					_, _ = r.Read(make([]byte, 1)) // the tool has written the first lines
				}
				r.Close()
				time.AfterFunc(300*time.Millisecond, func() { _ = os.WriteFile(begin, nil, 0o600) })
			}()
			script := `echo word; echo aside >&2; until [ -e ` + begin +
				` ]; do sleep 0.02; done; exec /bin/sh -c '` + tt.writes + `; sleep 0.2; exit 0'`
			_, st := performFor(t, scriptedTool{stream: &scriptedStream{holds: tt.holds}},
				rewrite.Plan{ReadStderr: true}, script, time.Minute, files)
			if st != tt.want {
				t.Errorf("%+v, want %+v", st, tt.want)
			}
		})
	}
}

// A signal that comes after the tool has ended, while its files are still read, is noted.
func TestASignalAfterTheTool(t *testing.T) {
	a := &Attempt{gate: gate{ended: &Status{}, state: stateAbandoned, outputs: outputs{idle: 2}}}
	a.writers = []*writer{newWriter(), newWriter()}
	a.writers[1].taken.Store(3)
	a.handleSignal(syscall.SIGUSR1)
	if a.Stopped != 0 || a.beats != nil || a.late != 0 || a.idle != 2 || a.result() != (Status{}) {
		t.Errorf("SIGUSR1 asks for an end: %v", a.Stopped)
	}
	a.handleSignal(syscall.SIGTERM)
	if a.idle != 0 || a.taken != 3 || !a.writers[0].watched.Load() || !a.writers[1].watched.Load() {
		t.Errorf("idle %d, taken %d", a.idle, a.taken)
	}
	a.idle = 2
	a.handleSignal(syscall.SIGHUP)
	if a.Stopped != syscall.SIGTERM || a.beats == nil || a.late != syscall.SIGTERM || a.idle != 2 ||
		a.result() != (Status{Signal: syscall.SIGTERM}) {
		t.Errorf("stopped by %v, %+v, idle %d", a.Stopped, a.result(), a.idle)
	}
}

// The caller sees the exit code that the tool would have had where it writes, but no other end than
// the tool's by a signal.
func TestShownStatus(t *testing.T) {
	xfsz := Status{Signal: syscall.SIGXFSZ}
	for _, tt := range []struct {
		failed    error
		kills     bool
		st, shown Status
	}{
		{nil, true, Status{}, Status{}}, {nil, true, Status{Exit: 4}, Status{Exit: 4}},
		{syscall.ENOSPC, true, Status{}, Status{Exit: 101}},
		{syscall.EIO, true, Status{Exit: 3}, Status{Exit: 3}},
		{syscall.ENOSPC, true, Status{Signal: syscall.SIGTERM}, Status{Signal: syscall.SIGTERM}},
		{syscall.EFBIG, false, Status{}, Status{Exit: 101}},
		{syscall.EFBIG, true, Status{}, xfsz}, {syscall.EFBIG, true, Status{Exit: 101}, xfsz},
		{syscall.EFBIG, true, Status{Signal: syscall.SIGTERM}, Status{Signal: syscall.SIGTERM}},
	} {
		a := &Attempt{gate: gate{Options: Options{Stream: &scriptedStream{},
			Tool: scriptedTool{kills: tt.kills}},
			outputs: outputs{stdout: &sink{failed: tt.failed}}}}
		if got := a.Shown(tt.st); got != tt.shown {
			t.Errorf("%+v with %v: shown %+v, want %+v", tt.st, tt.failed, got, tt.shown)
		}
	}
}

// A caller that has gone ends the tool's stream of that name, but neither a stream that is shown at
// the end, nor the processes that a tool has left which has ended.
func TestWhatEndsWhenTheCallerHasGone(t *testing.T) {
	for _, ended := range []bool{false, true} {
		for _, holds := range []bool{false, true} {
			a := New(Options{Stream: &scriptedStream{holds: holds}})
			var files [2]*os.File
			for i := range files {
				r, w := pair(t, blockingPipe)
				defer w.Close()
				files[i] = r
			}
			a.stdout, a.stderr = newSink(devNull(t), newWriter()), newSink(devNull(t), newWriter())
			a.taps = []*tap{{ours: files[0], to: a.stdout}, {ours: files[1], to: a.stderr}}
			if ended {
				a.ended = &Status{}
			}
			a.lose(a.stdout, syscall.EPIPE)
			if got, want := a.taps[0].over, !ended && !holds; got != want || a.taps[1].over ||
				!a.stdout.gone || a.stderr.gone || a.stdout.failed != nil {
				t.Errorf("ended %v, holds %v: stdout is closed: %v, want %v; stderr: %v", ended,
					holds, got, want, a.taps[1].over)
			}
			a.lose(a.stderr, syscall.ECONNRESET)
			if got := a.taps[1].over; got != !ended {
				t.Errorf("ended %v, holds %v: stderr is closed: %v", ended, holds, got)
			}
		}
	}
}

// The first error of a stream is kept and logged, but not that its reader has gone.
func TestWhyAStreamIsLost(t *testing.T) {
	for _, tt := range []struct {
		errs   []error
		failed error
		logged int
	}{
		{[]error{syscall.EPIPE, syscall.ECONNRESET}, nil, 0},
		{[]error{syscall.ENOSPC}, syscall.ENOSPC, 1},
		{[]error{syscall.EPIPE, syscall.EIO, syscall.EPIPE, syscall.ENOSPC}, syscall.EIO, 1},
	} {
		logged := 0
		a := &Attempt{gate: gate{Options: Options{Stream: &scriptedStream{},
			Fault: func(string, error) {
				logged++
			}}, ended: &Status{}, outputs: outputs{stdout: &sink{}}}}
		for _, err := range tt.errs {
			a.lose(a.stdout, err)
		}
		if a.stdout.failed != tt.failed || logged != tt.logged || !a.stdout.gone {
			t.Errorf("%v: %v, %d logged", tt.errs, a.stdout.failed, logged)
		}
	}
}
