// Package toolbox makes tests independent of the environment that runs them: it builds a PATH from
// scratch, and restores the signals that a foreground shell would leave.
package toolbox

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// usual are the programs that scripts can expect everywhere. No installed tool is among them, so
// that none can run by mistake.
var usual = []string{
	"awk", "basename", "bash", "cat", "chmod", "cksum", "cmp", "cp", "cut", "date", "dd", "diff",
	"dirname", "echo", "env", "expr",
	"false", "find", "grep", "head", "id", "kill", "ln", "ls", "mkdir", "mkfifo", "mktemp", "mv",
	"od", "paste", "printf", "ps",
	"pwd", "readlink", "realpath", "rm", "rmdir", "sed", "seq", "setsid", "sh", "sleep", "sort",
	"stat", "stty", "tail", "tee",
	"test", "timeout", "touch", "tr", "true", "uname", "uniq", "wc", "xargs", "yes",
}

// Make fills a directory with links to the usual programs and to those named. PATH needs only this
// directory after the programs under test. Programs that this machine lacks are left out.
func Make(dir string, more ...string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make directory: %w", err)
	}
	for _, name := range append(more, usual...) {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		if path, err = filepath.Abs(path); err != nil {
			return fmt.Errorf("find %s: %w", name, err)
		}
		if err := os.Symlink(path, filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("link %s: %w", name, err)
		}
	}
	return nil
}

// Home returns an environment with a home directory. Without the other variables the shim would
// also look below the home of the account, which can be a developer's.
func Home(dir string) []string {
	return []string{"HOME=" + dir, "XDG_CONFIG_HOME=" + filepath.Join(dir, ".config"),
		"XDG_STATE_HOME=" + filepath.Join(dir, ".local/state")}
}

// RestoreSignals lets the programs that this process starts get the signals that a shell ignores
// for a job in the background. A caught signal has its default action in a new program, an ignored
// one stays ignored.
func RestoreSignals() {
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGHUP} {
		if signal.Ignored(sig) {
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
}

// Nobody is the user as whom root runs programs that root's privileges would distort.
var Nobody = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}

// Unprivileged reports whether a test can continue. Root can read and write everything, so it runs
// the test again as nobody instead.
func Unprivileged(t *testing.T) bool {
	t.Helper()
	if os.Geteuid() != 0 {
		return true
	}
	// Not by its path, which nobody might not be allowed to follow.
	cmd := exec.Command("/proc/self/exe", "-test.v", "-test.run", "^"+t.Name()+"$")
	cmd.Env, cmd.SysProcAttr = []string{"PATH=" + os.Getenv("PATH")}, Nobody
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("as nobody: %v: %s", err, out)
	}
	return false
}

// A Tests runs tests with the signals restored, one more at once than Go uses processors: some only
// wait. The command line overrides that, as it is parsed later.
type Tests struct{ M interface{ Run() int } }

// Run runs the tests.
func (t Tests) Run() int {
	RestoreSignals()
	if err := flag.Set("test.parallel", fmt.Sprint(runtime.GOMAXPROCS(0)+1)); err != nil {
		panic(err) // the package testing has this flag
	}
	return t.M.Run()
}
