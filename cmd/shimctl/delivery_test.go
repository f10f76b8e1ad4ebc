package main

import (
	"database/sql"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A listener is how a caller takes what is written for it.
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
		piece = piece[:1000]
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

// terminated starts a call, sends a signal some time after the tool has come up, which it
// tells by the file "up", and returns how the call ended.
func terminated(t *testing.T, cmd *exec.Cmd, l listener, after time.Duration, sig syscall.Signal) syscall.WaitStatus {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	done := make(chan struct{})
	defer close(done)
	go l.take(r, done)
	waitUp(t, cmd)
	time.Sleep(after)
	if err := cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	watchdog := time.AfterFunc(soon, func() {
		t.Error("it goes on")
		_ = cmd.Process.Kill()
	})
	_ = cmd.Wait() // its status is looked at
	watchdog.Stop()
	return cmd.ProcessState.Sys().(syscall.WaitStatus)
}

// waitUp waits until the tool has told that it has come up.
func waitUp(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	up := filepath.Join(cmd.Dir, "up")
	for begun := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		if err := os.Remove(up); err == nil {
			break
		}
		if time.Since(begun) > soon {
			_ = cmd.Process.Kill()
			t.Fatal("the tool does not come up")
		}
	}
}

// However the caller listens and whenever it sends a signal, it sees the end that it would
// have seen without us, and as soon.
func TestTerminatedAtAnyMoment(t *testing.T) {
	tool, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	tools := map[string]string{
		"writes on":              `: >up; exec yes '{"type":"x"}'`,
		"writes 800 KB, rests":   `: >up; yes '{"type":"x"}' | head -c 800000; exec sleep 60`,
		"writes little, rests":   `echo '{"type":"x"}'; : >up; exec sleep 60`,
		"has a handler, writes":  "TOOL=handle exec " + tool,
		"has a handler, rests":   `trap 'exit 7' TERM; : >up; while :; do sleep 0.01; done`,
		"has a handler, answers": `trap 'echo "{}"; exit 0' TERM; : >up; while :; do sleep 0.01; done`,
	}
	names := slices.Sorted(maps.Keys(tools))
	const seed = 14
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, seed))
	for i := range 30 {
		name, l := names[i%len(names)], []listener{deaf, slow, eager}[rng.IntN(3)]
		after := time.Duration(rng.IntN(500)) * time.Millisecond
		t.Run(fmt.Sprintf("%d", i), func(t *testing.T) {
			t.Parallel()
			shim := shimmed(t, tools[name], "-p", "hi", "--output-format", "stream-json", "--verbose")
			direct := &exec.Cmd{Path: filepath.Join(shim.Dir, "claude"), Args: shim.Args, Env: shim.Env, Dir: shim.Dir}
			want := terminated(t, direct, l, after, syscall.SIGTERM)
			if got := terminated(t, shim, l, after, syscall.SIGTERM); got != want {
				t.Errorf("a tool that %s, a caller that listens %s, SIGTERM after %v: %x, want %x", name, l, after, got, want)
			}
		})
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
	rows, err := db.Query(`SELECT coalesce(exit_code, -1), coalesce(signal, -1) FROM invocations ORDER BY id DESC`)
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

const longAnswer = `printf '{"type":"result","subtype":"success","is_error":false,"result":"'
	head -c 400000 /dev/zero | tr '\0' x; echo '"}'; : >up`

// A tool that has ended while its output waits for a caller that does not read: a
// terminating signal ends us then, in its place.
func TestTerminatedAfterTheToolsEnd(t *testing.T) {
	for _, format := range []string{"text", "json"} {
		for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT} {
			t.Run(fmt.Sprint(format, " ", int(sig)), func(t *testing.T) {
				t.Parallel()
				cmd := shimmed(t, longAnswer, "-p", "hi", "--output-format", format)
				if ws := terminated(t, cmd, deaf, 300*time.Millisecond, sig); ws.Signal() != sig {
					t.Errorf("%x", ws)
				}
				if got, want := outcomes(t, cmd.Dir)[0], fmt.Sprintf("exit 0, signal %d", sig); got != want {
					t.Errorf("recorded: %s, want %s", got, want)
				}
			})
		}
	}
}

// Without a signal the answer waits for a caller that takes its time, and so it does if the
// tool was asked to end, and came to its own end some time later all the same.
func TestTheAnswerWaits(t *testing.T) {
	for name, script := range map[string]string{"not asked": longAnswer, "asked": `trap : HUP; kill -HUP $PPID; sleep 2; ` + longAnswer} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := shimmed(t, script, "-p", "hi")
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			cmd.Stdout = w
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			w.Close()
			waitUp(t, cmd)
			time.Sleep(time.Second)
			got, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err != nil || len(got) != 400001 {
				t.Errorf("%d bytes arrive, %v", len(got), err)
			}
		})
	}
}

// A resumed run whose output was let out since it showed nothing for long: the signal
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
	if ws := terminated(t, cmd, deaf, 600*time.Millisecond, syscall.SIGTERM); ws.Signal() != syscall.SIGTERM {
		t.Errorf("%x", ws)
	}
	if _, err := os.Stat(filepath.Join(cmd.Dir, "2.args")); err == nil {
		t.Error("it was run again")
	}
}

// A caller that has closed its end: the tool's next write fails, be it the first since.
func TestTheToolLearnsThatTheCallerHasGone(t *testing.T) {
	cmd := shimmed(t, `trap '' PIPE; echo '{}'; until [ -e go ]; do sleep 0.02; done; echo '{}' || exit 77`,
		"-p", "hi", "--output-format", "stream-json", "--verbose")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
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
		cmd := shimmed(t, fmt.Sprintf(`if [ -e /proc/$$/fd/%d ]; then exit 1; else exit 77; fi`, which),
			"-p", "hi", "--output-format", "stream-json", "--verbose")
		sh := exec.Command("bash", "-c", `exec -a claude "$0" "$@" `+how, cmd.Path)
		sh.Args = append(sh.Args, cmd.Args[1:]...)
		sh.Env, sh.Dir = cmd.Env, cmd.Dir
		if ws := ended(t, sh); ws.ExitStatus() != 77 {
			t.Errorf("%s: exit status %d", how, ws.ExitStatus())
		}
	}
}
