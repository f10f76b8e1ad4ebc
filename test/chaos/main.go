// Command chaos runs callers of many kinds against the shims and fake tools while things go wrong:
// signals, full disks, broken ledgers, failing tools. After each call and each round it checks the
// invariants (docs/internals/chaos.md).
//
// The same program, under a tool's name, is that tool.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"reprise/test/harness"
)

// roundsPerWorld is how many rounds a world lasts.
const roundsPerWorld = 10

func main() {
	if name := filepath.Base(os.Args[0]); fakes[name] != nil {
		os.Exit(play(name))
	}
	seed := flag.Uint64("seed", 1, "what the dice begin with")
	length := flag.Duration("for", time.Minute, "how long worlds are begun")
	first := flag.Int("epoch", 0, "the first world")
	flag.Parse()
	// A parent such as nohup or a shell's & may have us ignore these signals, and our children
	// would inherit that.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT)
	go func() {
		for sig := range caught {
			if sig != syscall.SIGHUP {
				os.Exit(1)
			}
		}
	}()
	t := &tally{counts: map[string]int{}}
	broken, root, err := soak(*seed, *first, *length, t)
	for _, line := range t.report() {
		fmt.Println(line)
	}
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(2)
	case broken:
		fmt.Println("seed", *seed, "has violations, see above; their worlds are in", root)
		os.Exit(1)
	}
	fmt.Println("seed", *seed, "has no violations")
	_ = os.RemoveAll(root) // a directory for temporary files
}

// soak plays one world after the other until the time is up. It reports a world in which an
// invariant is violated, and stops there.
func soak(seed uint64, first int, length time.Duration, t *tally) (broken bool, root string, err error) {
	if root, err = os.MkdirTemp("", "chaos-"); err != nil {
		return false, "", err
	}
	shims, tools := filepath.Join(root, "shims"), filepath.Join(root, "tools")
	for _, dir := range []string{shims, tools} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return false, root, err
		}
	}
	if err := harness.Build(shims); err != nil {
		return false, root, err
	}
	self, err := os.Executable()
	if err != nil {
		return false, root, err
	}
	for name := range fakes {
		if name == "gemini" || name == "qwen" {
			continue
		}
		file := name
		if name == "claude" { // a version that resumes in a copy
			file = claudeVersion
			if err := os.Symlink(file, filepath.Join(tools, name)); err != nil {
				return false, root, err
			}
		}
		if err := copyProgram(self, filepath.Join(tools, file)); err != nil {
			return false, root, fmt.Errorf("install the fake %s: %w", name, err)
		}
	}
	if err := errors.Join(installPackage(self, tools, "gemini", geminiVersion), installPackage(self, tools, "qwen", qwenVersion)); err != nil {
		return false, root, fmt.Errorf("install the fakes: %w", err)
	}
	if err := installVibe(tools); err != nil {
		return false, root, fmt.Errorf("install the fake vibe: %w", err)
	}
	if err := installCopilot(tools); err != nil {
		return false, root, fmt.Errorf("install the fake copilot: %w", err)
	}
	if err := installOpencode(tools); err != nil {
		return false, root, fmt.Errorf("install the fake opencode: %w", err)
	}
	for epoch, began := first, time.Now(); time.Since(began) < length || epoch == first; epoch++ {
		dir := filepath.Join(root, fmt.Sprint("world", epoch))
		w, err := newWorld(dir, shims, tools, seed, epoch, t)
		if err != nil {
			return false, root, err
		}
		for round := range roundsPerWorld {
			if err := w.play(round); err != nil {
				return false, root, err
			}
			if len(w.found) > 0 {
				break
			}
		}
		if w.report() {
			broken = true
			continue // its directory is evidence
		}
		if err := os.RemoveAll(dir); err != nil {
			return broken, root, err
		}
	}
	return broken, root, nil
}

func copyProgram(from, to string) error {
	if out, err := exec.Command("cp", from, to).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}
