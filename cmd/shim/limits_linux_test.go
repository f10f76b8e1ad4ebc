package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// However few descriptors, processes or bytes of memory there are: where the tool alone runs, it
// runs behind the shim, with all of its stdin.
func TestTightLimits(t *testing.T) {
	const opening = `{"type":"control_request","request_id":"init","request":{"subtype":"initialize"}}` + "\n"
	frames := []string{"--output-format", "stream-json", "--verbose", "--input-format",
		"stream-json"}
	tests := []struct {
		name, stdin string
		args        []string
	}{
		{"a conversation", opening + `{"type":"user","message":{"role":"user","content":"hi"}}` +
			"\n", frames},
		{"a message of two parts", opening +
			`{"type":"user","message":{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}}` + "\n", frames},
		{"text", "fix it", []string{"-p"}},
		{"20 MB", strings.Repeat("x", 20<<20), []string{"-p"}},
	}
	limits := []struct {
		ulimit string
		leaked int
	}{
		{"-v 1000000", 0}, {"-d 60000", 0}, {"-n 1024", 990}, {"-n 1024", 1000},
		{"-n 1024", 1006}, {"-n 1024", 1010}, {"-n 1024", 1016},
	}
	for n := 12; n < 34; n++ {
		limits = append(limits, struct {
			ulimit string
			leaked int
		}{fmt.Sprint("-n ", n), 0})
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			cmd := shimmed(t, "echo $(wc -c) bytes\n", test.args...)
			link := filepath.Join(t.TempDir(), "claude")
			if err := os.Symlink(cmd.Path, link); err != nil {
				t.Fatal(err)
			}
			for _, limit := range limits {
				args := append([]string{"-c", "ulimit " + limit.ulimit +
					` && exec "$0" "$@"`, link}, cmd.Args[1:]...)
				limited := exec.Command("/bin/sh", args...)
				limited.Env, limited.Dir, limited.Stdin = cmd.Env, cmd.Dir,
					strings.NewReader(test.stdin)
				for range limit.leaked {
					limited.ExtraFiles = append(limited.ExtraFiles, os.Stderr)
				}
				out, err := limited.CombinedOutput()
				if want := fmt.Sprintf("%d bytes\n", len(test.stdin)); err != nil ||
					string(out) != want {
					t.Errorf("ulimit %s, %d descriptors open: %v, %.300s", limit.ulimit,
						limit.leaked, err, out)
				}
			}
		})
	}
}

// With few processes the shim becomes the tool at once, since Go's threads and a process that hands
// on stdin count too. The limit does not hold for root, so the ledger shows the decision.
func TestFewProcesses(t *testing.T) {
	for processes, managed := range map[string]bool{"32": false, "1000": true} {
		cmd := shimmed(t, "echo $(wc -c) bytes\n", "-p")
		args := append([]string{"-c", "ulimit -u " + processes + ` && exec "$0" "$@"`, cmd.Path},
			cmd.Args[1:]...)
		limited := exec.Command("/bin/bash", args...)
		limited.Args[3] = filepath.Join(t.TempDir(), "claude")
		if err := os.Symlink(cmd.Path, limited.Args[3]); err != nil {
			t.Fatal(err)
		}
		limited.Env, limited.Dir, limited.Stdin = cmd.Env, cmd.Dir, strings.NewReader("fix it")
		if out, err := limited.CombinedOutput(); err != nil || string(out) != "6 bytes\n" {
			t.Errorf("%s processes: %v, %.300s", processes, err, out)
		}
		if _, err := os.Stat(filepath.Join(cmd.Dir,
			".local/state/reprise/ledger.db")); (err == nil) != managed {
			t.Errorf("%s processes: managed %v, want %v", processes, err == nil, managed)
		}
	}
}

// Where /proc is missing and a signal is ignored, the tool cannot be started by way of the shim's
// own program: the shim becomes it, with all of stdin.
func TestWithoutProc(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root may mount over /proc")
	}
	for name, test := range map[string]struct {
		stdin string
		args  []string
	}{
		"text": {"fix it", []string{"-p"}},
		"a conversation": {`{"type":"user","message":{"role":"user","content":"hi"}}` + "\n",
			[]string{"--output-format", "stream-json", "--verbose",
				"--input-format", "stream-json"}},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := shimmed(t, "echo $(wc -c) bytes\n", test.args...)
			link := filepath.Join(t.TempDir(), "claude")
			if err := os.Symlink(cmd.Path, link); err != nil {
				t.Fatal(err)
			}
			args := append([]string{"-c",
				`/bin/mount -t tmpfs none /proc || exit 77; trap '' HUP; exec "$0" "$@"`, link},
				cmd.Args[1:]...)
			without := exec.Command("/bin/sh", args...)
			without.Env, without.Dir, without.Stdin = cmd.Env, cmd.Dir,
				strings.NewReader(test.stdin)
			// Go makes its mounts private
			without.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
			out, err := without.CombinedOutput()
			if without.ProcessState != nil && without.ProcessState.ExitCode() == 77 ||
				without.ProcessState == nil {
				t.Skipf("no mount here: %v", err)
			}
			if want := fmt.Sprintf("%d bytes\n", len(test.stdin)); err != nil ||
				string(out) != want {
				t.Errorf("%v, %.300s", err, out)
			}
		})
	}
}

// Arguments and environment that are just short enough for the system: the guard is left out.
func TestLongestEnvironment(t *testing.T) {
	for name, args := range map[string][]string{"before Go": {"mcp"},
		"in Go": {"-p", "hi", "--no-session-persistence"}} {
		t.Run(name, func(t *testing.T) {
			cmd := shimmed(t, "echo it runs\n", args...)
			link := filepath.Join(t.TempDir(), "claude")
			if err := os.Symlink(cmd.Path, link); err != nil {
				t.Fatal(err)
			}
			run := func(path string, fill int) ([]byte, error) {
				c := exec.Command("/bin/sh",
					append([]string{"-c", `ulimit -s 512 && exec "$0" "$@"`, path}, args...)...)
				c.Env, c.Dir = cmd.Env, cmd.Dir
				for ; fill > 0; fill -= 50_000 {
					c.Env = append(c.Env, strings.Repeat("x", min(fill, 50_000))+"=")
				}
				return c.CombinedOutput()
			}
			most := sort.Search(1<<20,
				func(fill int) bool { _, err := run(cmd.Dir+"/claude", fill); return err != nil }) - 1
			most -= max(0, len(link)-len(cmd.Dir+"/claude")) // the path counts too
			if out, err := run(link, most); err != nil || string(out) != "it runs\n" {
				t.Errorf("%d bytes: %v, %.200s", most, err, out)
			}
		})
	}
}

// Where a sandbox refuses a system call that the tool does not need, the call runs and ends.
func TestRefusedSystemCalls(t *testing.T) {
	refused := []uintptr{unix.SYS_KILL, unix.SYS_FACCESSAT, unix.SYS_PRCTL, unix.SYS_PIDFD_OPEN}
	if runtime.GOARCH == "amd64" {
		refused = append(refused, 21) // access, which other systems do not have
	}
	for _, number := range refused {
		cmd := twins(t, []string{"-d", fmt.Sprint(number)}, "exit 3").shim
		watchdog := time.AfterFunc(soon, func() { _ = cmd.Process.Kill() })
		ws := ended(t, cmd)
		watchdog.Stop()
		if ws.ExitStatus() == 99 {
			t.Skip("the system has no seccomp")
		}
		if !ws.Exited() || ws.ExitStatus() != 3 {
			t.Errorf("call %d: %x", number, ws)
		}
	}
}

// Programs that count the tool's processes by their name do not count the witness.
func TestTheWitnessHasANameOfItsOwn(t *testing.T) {
	const look = `PATH=/usr/bin:/bin; for i in 1 2 3 4 5 6 7 8 9 10; do for p in $(cat /proc/$PPID/task/*/children); do [ $p = $$ ] || cat /proc/$p/comm; done; sleep 0.2; done`
	out, err := shimmed(t, look, "-p", "hi", "--output-format", "stream-json", "--verbose").Output()
	if err != nil || !strings.HasSuffix(string(out), "reprise-witness\n") ||
		strings.Contains(string(out), "claude") {
		t.Errorf("%q, %v", out, err)
	}
}
