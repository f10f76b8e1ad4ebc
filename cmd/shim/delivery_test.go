package main

import (
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"reprise/test/toolbox"
)

// A listener is how a caller reads its output.
type listener string

const (
	deaf  listener = "not at all"
	slow  listener = "slowly"
	eager listener = "as it comes"
)

// take reads from a pipe in the listener's way, until its end or until done is closed.
func (l listener) take(r *os.File, done <-chan struct{}) {
	piece := make([]byte, 64<<10)
	if l == slow {
		piece = piece[:4000]
	}
	if l == deaf {
		return
	}
	for {
		if _, err := r.Read(piece); err != nil {
			return
		}
		if l == slow {
			select {
			case <-done:
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	}
}

// soon is how long a caller waits for an end that should come at once. On a busy machine
// it is much more than a second.
const soon = 20 * time.Second

// terminate starts a call and sends a signal some time after its start, or after the tool has come
// up, which the tool tells by the file "up". It returns how the call ended, and how long after the
// signal.
func terminate(cmd *exec.Cmd, l listener, up bool,
	after time.Duration, sig syscall.Signal) (ws syscall.WaitStatus,
	took time.Duration, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return 0, 0, err
	}
	defer r.Close()
	cmd.Stdout = w
	err = cmd.Start()
	w.Close()
	if err != nil {
		return 0, 0, err
	}
	done := make(chan struct{})
	defer close(done)
	go l.take(r, done)
	if up {
		err = comesUp(cmd)
	}
	time.Sleep(after)
	begun := time.Now()
	err = errors.Join(err, cmd.Process.Signal(sig))
	watchdog := time.AfterFunc(soon, func() { _ = cmd.Process.Kill() })
	_ = cmd.Wait() // its status is looked at
	if !watchdog.Stop() {
		err = errors.Join(err, errors.New("it goes on"))
	}
	return cmd.ProcessState.Sys().(syscall.WaitStatus), time.Since(begun), err
}

// terminated sends a signal some time after the tool has come up, and returns how the call ended.
func terminated(t *testing.T, cmd *exec.Cmd, l listener,
	after time.Duration, sig syscall.Signal) syscall.WaitStatus {
	t.Helper()
	ws, _, err := terminate(cmd, l, true, after, sig)
	if err != nil {
		t.Fatal(err)
	}
	return ws
}

// waitUp waits until the tool has told that it has come up.
func waitUp(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := comesUp(cmd); err != nil {
		t.Fatal(err)
	}
}

func comesUp(cmd *exec.Cmd) error {
	up := filepath.Join(cmd.Dir, "up")
	for begun := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		if err := os.Remove(up); err == nil {
			return nil
		}
		if time.Since(begun) > soon {
			_ = cmd.Process.Kill()
			return errors.New("the tool does not come up")
		}
	}
}

// A voice is how a tool speaks in a format: its first, middle and last lines.
type voice struct {
	tool             string
	args             []string
	begin, line, end string
}

const voiceID = "3a369ab5-d137-452a-bcc6-6394cabf30d1"

const (
	claudeBegins = `{"type":"system","subtype":"init","session_id":"` + voiceID +
		`","model":"m","claude_code_version":"2.1.329"}`
	claudeSays   = `{"type":"assistant","message":{"model":"m","content":[{"type":"text","text":"word"}]},"session_id":"` + voiceID + `"}`
	claudeEnds   = `{"type":"result","subtype":"success","is_error":false,"result":"word","session_id":"` + voiceID + `"}`
	geminiBegins = `{"type":"init","session_id":"` + voiceID + `","model":"gemini-2.5-pro"}`
	geminiSays   = `{"type":"message","role":"assistant","content":"word","delta":true}`
	geminiEnds   = `{"type":"result","status":"success","stats":{"input_tokens":1,"output_tokens":1}}`
)

// voices are taken from testdata/recordings, without fields that nothing depends on.
var voices = []voice{
	{"claude", []string{"-p", "hi", "--output-format", "stream-json", "--verbose"}, claudeBegins,
		claudeSays, claudeEnds},
	{"claude", []string{"-p", "hi"}, claudeBegins, claudeSays, claudeEnds},
	{"codex", []string{"exec", "--json", "hi"},
		`{"type":"thread.started","thread_id":"` + voiceID + `"}`,
		`{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"word"}}`,
		`{"type":"turn.completed","usage":{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1}}`},
	{"codex", []string{"exec", "hi"}, "word", "word", "end"},
	{"gemini", []string{"-o", "stream-json", "-p", "hi"}, geminiBegins, geminiSays, geminiEnds},
	{"gemini", []string{"-p", "hi"}, geminiBegins, geminiSays, geminiEnds},
	{"vibe", []string{"-p", "hi", "--output", "streaming"},
		`{"id":"user-turn-1","sessionId":"` + voiceID +
			`","generationStatus":"completed","type":"message","role":"user","content":[{"type":"text","text":"hi"}]}`,
		`{"id":"assistant-1","sessionId":"` + voiceID +
			`","generationStatus":"completed","type":"message","role":"assistant","content":[{"type":"text","text":"word"}]}`,
		`{"id":"assistant-2","sessionId":"` + voiceID +
			`","generationStatus":"completed","type":"message","role":"assistant","content":[{"type":"text","text":"end"}]}`},
	{"vibe", []string{"-p", "hi"}, "word", "word", "end"},
}

// habits are the ways of tools that are asked to end. A tool with a handler is told of the signal
// once it has come up.
var habits = []struct {
	name, script string
	handles      bool
}{
	{"writes on", `: >up; exec yes "$LINE"`, false},
	{"writes 800 KB, rests", `: >up; yes "$LINE" | head -c 800000; exec sleep 60`, false},
	{"writes little, rests", `echo "$LINE"; : >up; exec sleep 60`, false},
	{"has a handler, writes", `TOOL=handle exec "$COMPILED"`, true},
	{"has a handler, rests", `trap 'exit 7' TERM; : >up; while :; do sleep 0.01; done`, true},
	{"has a handler, answers",
		`trap 'echo "$END"; exit 0' TERM; : >up; while :; do sleep 0.01; done`, true},
}

// A moment is one call that gets SIGTERM, in twins.
type moment struct {
	what         string
	direct, shim *exec.Cmd
	listener     listener
	up           bool // its time is counted from when the tool has come up
	after        time.Duration
}

// moments are as many of a tool as are asked for, drawn by chance.
func moments(t *testing.T, tool string, n int, rng *rand.Rand) (all []moment) {
	t.Helper()
	program, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	formats := slices.DeleteFunc(slices.Clone(voices), func(v voice) bool { return v.tool != tool })
	for range n {
		v, h, l := formats[rng.IntN(len(formats))], habits[rng.IntN(len(habits))],
			[]listener{deaf, slow, eager}[rng.IntN(3)]
		m := moment{listener: l, up: h.handles ||
			rng.IntN(2) == 0, after: time.Duration(rng.IntN(300)) * time.Millisecond}
		m.what = fmt.Sprintf("%v, a tool that %s, a caller that listens %s, SIGTERM %v after the "+
			"start (of the tool: %v)", append([]string{v.tool}, v.args...), h.name, l, m.after,
			m.up)
		twin := func() *exec.Cmd {
			cmd := shimmed(t, `echo "$BEGIN"; `+h.script, v.args...)
			if err := os.Rename(filepath.Join(cmd.Dir, "claude"),
				filepath.Join(cmd.Dir, tool)); err != nil {
				t.Fatal(err)
			}
			cmd.Args[0] = tool
			cmd.Env = append(cmd.Env, "BEGIN="+v.begin, "LINE="+v.line, "END="+v.end,
				"COMPILED="+program)
			return cmd
		}
		m.direct, m.shim = twin(), twin()
		m.direct.Path = filepath.Join(m.direct.Dir, tool)
		all = append(all, m)
	}
	return all
}

// again is the same moment once more.
func (m moment) again() moment {
	fresh := func(cmd *exec.Cmd) *exec.Cmd {
		return &exec.Cmd{Path: cmd.Path, Args: cmd.Args, Env: cmd.Env, Dir: cmd.Dir}
	}
	m.direct, m.shim = fresh(m.direct), fresh(m.shim)
	return m
}

// late is the greatest delay of a call behind its twin. A call with a longer one is tried again: a
// busy machine delays calls as well, but not always. The shim waits for a caller that does not
// read, unless the tool died of the signal. A slow reader gets output that it would have lost
// without us.
func (l listener) late(died bool) time.Duration {
	if l == eager || l == deaf && died {
		return time.Second
	}
	return 6 * time.Second
}

// play runs both twins, and returns the differences. slow reports that nothing does but how long it
// took.
func (m moment) play() (differs string, slow bool) {
	var got, want syscall.WaitStatus
	var took, direct time.Duration
	var err, errDirect error
	var both sync.WaitGroup
	both.Go(func() {
		got, took, err = terminate(m.shim, m.listener, m.up, m.after, syscall.SIGTERM)
	})
	both.Go(func() {
		want, direct, errDirect = terminate(m.direct, m.listener, m.up, m.after, syscall.SIGTERM)
	})
	both.Wait()
	switch {
	case err != nil || errDirect != nil:
		return fmt.Sprintf("%v; directly: %v", err, errDirect), false
	case got != want:
		return fmt.Sprintf("wait status %x, want %x", got, want), false
	case took > direct+m.listener.late(want.Signaled()):
		return fmt.Sprintf("it ends %v after the signal, directly %v", took, direct), true
	}
	return "", false
}

// However the caller listens and whenever it sends a signal, it sees the end that it would have
// seen without us, and within the same second if it reads: drawn moments for each tool that has a
// voice.
func TestTerminatedAtAnyMoment(t *testing.T) {
	toolbox.Long(t)
	seed := toolbox.Seed(t)
	var tools []string
	for _, v := range voices {
		tools = append(tools, v.tool)
	}
	for i, tool := range slices.Compact(tools) {
		t.Run(tool, func(t *testing.T) {
			all := moments(t, tool, toolbox.Part(50), rand.New(rand.NewPCG(seed, uint64(i))))
			var slow []moment
			var mu sync.Mutex
			var busy sync.WaitGroup
			free := make(chan struct{}, 8) // most of them wait
			for _, m := range all {
				free <- struct{}{}
				busy.Go(func() {
					defer func() { <-free }()
					differs, onlySlow := m.play()
					mu.Lock()
					defer mu.Unlock()
					switch {
					case onlySlow:
						slow = append(slow, m)
					case differs != "":
						t.Errorf("%s: %s", m.what, differs)
					}
				})
			}
			busy.Wait()
			for _, m := range slow {
				differs := ""
				for range 3 {
					if differs, _ = m.again().play(); differs == "" {
						break
					}
				}
				if differs != "" {
					t.Errorf("%s: %s", m.what, differs)
				}
			}
		})
	}
}

// The output of a tool that a signal ended is no answer: the caller does not wait until megabytes
// of it have been digested. A tool that came to a good end all the same has answered.
func TestAnAnswerThatIsCutShort(t *testing.T) {
	for exit, kept := range map[int]bool{0: true, 7: false} {
		cmd := shimmed(t,
			fmt.Sprintf(`trap 'exit %d' TERM; echo '%s'; echo '%s'; : >up; while :; do sleep 0.01; done`, exit, claudeBegins, claudeEnds), "-p", "hi", "--output-format", "stream-json", "--verbose")
		if ws := terminated(t, cmd, eager,
			200*time.Millisecond, syscall.SIGTERM); ws.ExitStatus() != exit {
			t.Fatalf("%x", ws)
		}
		db, err := sql.Open("sqlite3", filepath.Join(cmd.Dir, ".local/state/reprise/ledger.db"))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		var size int
		if err := db.QueryRow("SELECT length(CAST(answers AS BLOB)) FROM sessions").Scan(&size); err != nil || (size > 2) != kept {
			t.Errorf("exit %d: the answer has %d bytes, %v", exit, size, err)
		}
	}
}

// outcomes returns exit codes and signals as the ledger has them, the newest first.
func outcomes(t *testing.T, home string) (all []string) {
	t.Helper()
	db, err := sql.Open("sqlite3", filepath.Join(home, ".local/state/reprise/ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows,
		err := db.Query(`SELECT coalesce(exit_code, -1), coalesce(signal, -1) FROM calls ORDER BY id DESC`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var exit, signal int
		if err := rows.Scan(&exit, &signal); err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprintf("exit %d, signal %d", exit, signal))
	}
	return all
}

const (
	longAnswerBegins = `{"type":"result","subtype":"success","is_error":false,"result":"`
	longAnswer       = `printf '` + longAnswerBegins + `'
	head -c 100000 /dev/zero | tr '\0' x; echo '"}'; : >up`
	longAnswerBytes = len(longAnswerBegins) + 100_000 + len("\"}\n")
)

// A tool that has ended while the output waits for a caller that does not read: a terminating
// signal ends us then, in its place.
func TestTerminatedAfterTheToolsEnd(t *testing.T) {
	for _, format := range []string{"text", "json"} {
		for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT,
			syscall.SIGHUP, syscall.SIGQUIT} {
			t.Run(fmt.Sprint(format, " ", int(sig)), func(t *testing.T) {
				t.Parallel()
				cmd := shimmed(t, longAnswer, "-p", "hi", "--output-format", format)
				if ws := terminated(t, cmd, deaf, 300*time.Millisecond, sig); ws.Signal() != sig {
					t.Errorf("%x", ws)
				}
				if got, want := outcomes(t, cmd.Dir)[0],
					fmt.Sprintf("exit 0, signal %d", sig); got != want {
					t.Errorf("recorded: %s, want %s", got, want)
				}
			})
		}
	}
}

// The answer waits for a caller that takes its time, also if the tool was asked to end and ends
// with success all the same.
func TestTheAnswerWaits(t *testing.T) {
	for name, script := range map[string]string{
		"not asked": longAnswer, "asked": `trap : HUP; kill -HUP $PPID; sleep 2; ` + longAnswer,
		"asked as it ends": `trap "asked=1" TERM; kill -TERM $PPID; until [ "$asked" ]; do sleep 0.02; done; ` + longAnswer,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := shimmed(t, script, "-p", "hi")
			r := startPiped(t, cmd)
			waitUp(t, cmd)
			time.Sleep(5 * time.Second)
			got, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err != nil || len(got) != longAnswerBytes {
				t.Errorf("%d bytes arrive, %v", len(got), err)
			}
		})
	}
}

// A resumed run that showed nothing for long, so that the output was let out: the signal
// reaches the tool, whether the caller reads or not.
func TestTerminatedAfterTheGate(t *testing.T) {
	fake, err := os.ReadFile("../../testdata/fake/claude")
	if err != nil {
		t.Fatal(err)
	}
	cmd := shimmed(t, `case "$*" in *--resume*) : >up; yes '{"type":"x"}' | head -c 800000; exec sleep 60 ;; esac
`+string(fake), "-p", "You are the coder.\n\n"+strings.Repeat("Keep it small. ", 40), "--output-format", "stream-json", "--verbose")
	cmd.Env = append(cmd.Env, "FAKE="+cmd.Dir)
	config := filepath.Join(cmd.Dir, ".config/reprise/config.toml")
	if err := os.MkdirAll(filepath.Dir(config), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config, []byte("gate_timeout = \"200ms\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	first := *cmd
	if out, err := first.CombinedOutput(); err != nil {
		t.Fatalf("%s, %v", out, err)
	}
	cmd.Args[2] += "\n\nThat still fails: fix it."
	if ws := terminated(t, cmd, deaf,
		600*time.Millisecond, syscall.SIGTERM); ws.Signal() != syscall.SIGTERM {
		t.Errorf("%x", ws)
	}
	if _, err := os.Stat(filepath.Join(cmd.Dir, "2.args")); err == nil {
		t.Error("it was run again")
	}
}

// A caller that has closed its end: the tool's next write fails, be it the first since.
func TestTheToolLearnsThatTheCallerHasGone(t *testing.T) {
	cmd := shimmed(t,
		`trap '' PIPE; echo '{}'; until [ -e go ]; do sleep 0.02; done; echo '{}' || exit 77`,
		"-p", "hi", "--output-format", "stream-json", "--verbose")
	r := startPiped(t, cmd)
	if _, err := r.Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	r.Close()
	time.Sleep(300 * time.Millisecond)
	if err := os.WriteFile(filepath.Join(cmd.Dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != 77 {
		t.Errorf("%v", cmd.ProcessState)
	}
}

// A descriptor that the caller has closed is closed for the tool.
func TestClosedStaysClosed(t *testing.T) {
	for which, how := range []string{"<&-", ">&-", "2>&-"} {
		cmd := shimmed(t, fmt.Sprintf(`if [ -e /proc/$$/fd/%d ]; then exit 1; else exit 77; fi`,
			which),
			"-p", "hi", "--output-format", "stream-json", "--verbose")
		sh := exec.Command("bash", "-c", `exec -a claude "$0" "$@" `+how, cmd.Path)
		sh.Args = append(sh.Args, cmd.Args[1:]...)
		sh.Env, sh.Dir = cmd.Env, cmd.Dir
		if ws := ended(t, sh); ws.ExitStatus() != 77 {
			t.Errorf("%s: exit status %d", how, ws.ExitStatus())
		}
	}
}

// So it is in a resumed run, where the shim reads stderr.
func TestClosedStaysClosedInAResume(t *testing.T) {
	cmd := resumable(t,
		`[ -e /proc/$$/fd/2 ] && echo open >>"$DIR/seen"; echo run >>"$DIR/seen"; . "$DIR/fake.sh"`)
	sh := exec.Command("bash", "-c", `exec -a claude "$0" "$@" 2>&-`, cmd.Path)
	sh.Args = append(sh.Args, cmd.Args[1:]...)
	sh.Env, sh.Dir = cmd.Env, cmd.Dir
	ws := ended(t, sh)
	seen, err := os.ReadFile(filepath.Join(cmd.Dir, "seen"))
	args, errArgs := os.ReadFile(filepath.Join(cmd.Dir, "2.args"))
	if err != nil || errArgs != nil || ws.ExitStatus() != 0 ||
		strings.Count(string(seen), "open") != 1 || !strings.Contains(string(args), "--resume") {
		t.Errorf("exit status %d, %q, %q, %v, %v", ws.ExitStatus(), seen, args, err, errArgs)
	}
}

// resumable prepares a call that is resumed, of a script that runs the stand-in for claude as
// $DIR/fake.sh.
func resumable(t *testing.T, script string) *exec.Cmd {
	t.Helper()
	fake, err := os.ReadFile("../../testdata/fake/claude")
	if err != nil {
		t.Fatal(err)
	}
	prompt := "You are the coder.\n\n" + strings.Repeat("Keep it small. ", 40)
	cmd := shimmed(t, script, "-p", prompt)
	if err := os.WriteFile(filepath.Join(cmd.Dir, "fake.sh"), fake, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd.Env = append(cmd.Env, "FAKE="+cmd.Dir)
	first := *cmd
	if out, err := first.Output(); err != nil || string(out) != "answer 1\n" {
		t.Fatalf("%q, %v", out, err)
	}
	cmd.Args[2] += "\n\nYour change failed a test."
	return cmd
}

// A caller sees the end of a stream when the tool closes it, not only when the tool ends.
func TestTheToolClosesItsStdout(t *testing.T) {
	const rest = `; exec >&-; until [ -e "$DIR/seen" ]; do sleep 0.02; done; exit 7`
	fresh := func(format ...string) *exec.Cmd {
		return shimmed(t,
			"echo '"+claudeBegins+"'; echo '"+claudeSays+"'; echo '"+claudeEnds+"'"+rest,
			append([]string{"-p", "hi"}, format...)...)
	}
	for name, cmd := range map[string]*exec.Cmd{
		"stream-json": fresh("--output-format", "stream-json", "--verbose"),
		"text":        fresh(),
		"a resume":    resumable(t, `sh "$DIR/fake.sh" "$@"; [ -e "$DIR/2.args" ] || exit 0`+rest),
	} {
		t.Run(name, func(t *testing.T) {
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			late := false
			watchdog := time.AfterFunc(soon,
				func() { late = true; _ = os.WriteFile(filepath.Join(cmd.Dir, "seen"), nil, 0o600) })
			text, err := io.ReadAll(out)
			if !watchdog.Stop() || late || err != nil || len(text) == 0 {
				t.Errorf("%q, %v; the end came late: %v", text, err, late)
			}
			if err := os.WriteFile(filepath.Join(cmd.Dir, "seen"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // the state counts
			if code := cmd.ProcessState.ExitCode(); code != 7 {
				t.Errorf("exit status %d", code)
			}
		})
	}
}

// A caller that reads slowly after its signal, or begins a second late, gets all of it, in any
// format and with the tool's own status.
func TestSlowlyReadAfterASignal(t *testing.T) {
	const text = 150000
	script := `trap "asked=1" TERM; : >up; until [ "$asked" ]; do sleep 0.02; done
		X=$(head -c 150000 /dev/zero | tr '\0' x); echo "$BEGIN"
		printf '{"type":"assistant","message":{"model":"m","content":[{"type":"text","text":"%%s"}]},"session_id":"%%s"}\n' $X $ID
		printf '{"type":"result","subtype":"success","is_error":false,"result":"%%s","session_id":"%%s"}\n' $X $ID; exit %d`
	for name, args := range map[string][]string{"text": nil, "json": {"--output-format", "json"},
		"stream-json": {"--output-format", "stream-json", "--verbose"}} {
		for _, late := range []bool{false, true} {
			for _, exit := range []int{0, 1} {
				t.Run(fmt.Sprintf("%s, late %v, exit %d", name, late, exit), func(t *testing.T) {
					t.Parallel()
					cmd := shimmed(t, fmt.Sprintf(script, exit),
						append([]string{"-p", "hi"}, args...)...)
					cmd.Env = append(cmd.Env, "BEGIN="+claudeBegins, "ID="+voiceID)
					r := startPiped(t, cmd)
					waitUp(t, cmd)
					if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
						t.Fatal(err)
					}
					var err error
					total, pause := 0, 30*time.Millisecond
					if late {
						time.Sleep(time.Second)
						pause = 0
					}
					for piece := make([]byte, 4<<10); err == nil; time.Sleep(pause) {
						var n int
						n, err = r.Read(piece)
						total += n
					}
					_ = cmd.Wait() // its status is looked at
					if ws := cmd.ProcessState.Sys().(syscall.WaitStatus); total <= text ||
						ws.ExitStatus() != exit {
						t.Errorf("%d bytes, wait status %x", total, ws)
					}
				})
			}
		}
	}
}

// An answer that cannot be written is recorded as a failure: the caller's next call begins anew.
func TestAnAnswerIntoAFullDevice(t *testing.T) {
	fake, err := os.ReadFile("../../testdata/fake/claude")
	if err != nil {
		t.Fatal(err)
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	for _, format := range []string{"text", "json", "stream-json"} {
		cmd := shimmed(t, string(fake), "-p",
			"You are the coder.\n\n"+strings.Repeat("Keep it small. ", 40), "--output-format",
			format, "--verbose")
		cmd.Env = append(cmd.Env, "FAKE="+cmd.Dir)
		first := *cmd
		first.Stdout = full
		_ = first.Run() // its outcome is looked at
		cmd.Args[2] += "\n\nThat still fails: fix it."
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s, %v", out, err)
		}
		db, err := sql.Open("sqlite3", filepath.Join(cmd.Dir, ".local/state/reprise/ledger.db"))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		var outcome, mode string
		if err := db.QueryRow(`SELECT a.outcome, b.mode FROM calls a, calls b WHERE a.id = 1 AND b.id = 2`).Scan(&outcome, &mode); err != nil {
			t.Fatal(err)
		}
		if outcome == "ok" || mode != "fresh" { // where its next write fails the fake is killed
			t.Errorf("%s: %s, then %s", format, outcome, mode)
		}
	}
}
