package jobs

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reprise/test/harness"
	"reprise/test/realcli"
)

// A pruning is a way to call a tool, with the calls that still have to work when some of its
// sessions are gone. ID stands for a session.
type pruning struct {
	call   func(prompt string) []string
	resume []string            // a given session
	latest []string            // the latest one
	list   func(*world) string // the tool's own list, nil where it has none for programs
}

var pruned = map[string]pruning{
	"claude": {
		call:   func(p string) []string { return []string{"-p", p} },
		resume: list("-p|--resume|ID|what number was it?"),
		latest: list("-p|-c|what number was it?"),
	},
	"codex": {
		call:   func(p string) []string { return []string{"exec", p} },
		resume: list("exec|resume|ID|what number was it?"),
		latest: list("exec|resume|--last|what number was it?"),
		list:   (*world).codexThreads,
	},
	"copilot": {
		call:   func(p string) []string { return []string{"-s", "-p", p} },
		resume: list("--resume|ID|-s|-p|what number was it?"),
		latest: list("--continue|-s|-p|what number was it?"),
	},
	"gemini": {
		call:   func(p string) []string { return []string{"-p", p} },
		resume: list("--resume|ID|-p|what number was it?"),
		latest: list("--resume|latest|-p|what number was it?"),
		list: func(w *world) string {
			r := w.run("gemini", harness.Call{Args: list("--list-sessions"),
				Env: list("REPRISE_OFF=1")})
			return r.Stdout + r.Stderr
		},
	},
	"qwen": {
		call:   func(p string) []string { return []string{"-p", p} },
		resume: list("--resume|ID|-p|what number was it?"),
		latest: list("-c|-p|what number was it?"),
	},
	"vibe": {
		call:   func(p string) []string { return []string{"-p", p} },
		resume: list("--resume|ID|-p|what number was it?"),
		latest: list("-c|-p|what number was it?"),
	},
}

// After some of its sessions were pruned a tool finds, lists and resumes the others,
// and the chain goes on.
func TestPrune(t *testing.T) {
	each(t, pruned, func(t *testing.T, tool string, does pruning) {
		w := newWorld(t, tool, true)
		off, again := []string{"REPRISE_OFF=1"}, []string{"REPRISE_TASK=job", "REPRISE_ROLE=coder",
			"REPRISE_FRESH=1"}
		started := func(env []string, prompt string) string {
			before := w.transcripts()
			if r := w.run(tool, harness.Call{Args: does.call(prompt), Env: env}); r.Exit != 0 {
				t.Fatalf("exit %d, stderr %q", r.Exit, r.Stderr)
			}
			if n := len(w.transcripts()); n != len(before)+1 {
				t.Fatalf("%d sessions, then %d", len(before), n)
			}
			id, err := w.NewestID()
			if err != nil {
				t.Fatal(err)
			}
			return id
		}
		theirs := started(off, strings.ReplaceAll(round(), "4711", "12"))
		var ours []string
		for range 3 {
			ours = append(ours, started(again, round()))
		}
		if r := w.run("shimctl", harness.Call{
			Args: list("prune|--keep-last|1|--yes")}); r.Exit != 0 ||
			!strings.Contains(r.Stdout, "\nremoved 2 sessions ") {
			t.Fatalf("exit %d\n%s%s", r.Exit, r.Stdout, r.Stderr)
		}
		for _, id := range ours[:2] {
			if left := w.naming(id); len(left) > 0 {
				t.Errorf("%s is left in %v", id, left)
			}
		}
		resuming := func(id string) []string {
			args := slices.Clone(does.resume)
			args[slices.Index(args, "ID")] = id
			return args
		}
		answers := func(want string, args []string, env ...string) {
			t.Helper()
			if r := w.run(tool, harness.Call{Args: args, Env: env}); r.Exit != 0 ||
				!strings.Contains(r.Stdout, want) {
				t.Errorf("%q: exit %d, %q, stderr %q", args, r.Exit, r.Stdout, r.Stderr)
			}
		}
		// Before the list: gemini writes a summary into a session that it lists.
		answers("4711", does.call(round("what number was it?")), "REPRISE_TASK=job",
			"REPRISE_ROLE=coder")
		w.statusSays(`"resumed": 1`)
		if does.list != nil {
			listed := does.list(w)
			for id, want := range map[string]bool{theirs: true, ours[0]: false, ours[1]: false,
				ours[2]: true} {
				if strings.Contains(listed, id) != want {
					t.Errorf("listed %s: %v, want %v\n%s", id, !want, want, listed)
				}
			}
		}
		// Each of them once, and theirs last: gemini deletes a session that was
		// resumed without the shim (docs/internals/gemini.md).
		answers("4711", does.latest, off...)
		answers("12", resuming(theirs), off...)
		if r := w.run(tool, harness.Call{Args: resuming(ours[0]), Env: off}); r.Exit == 0 {
			t.Errorf("a pruned session is resumed: %q", r.Stdout)
		}
	})
}

// A thread that was forked from is kept, and with it the fork.
func TestPruneKeepsTheParentOfAFork(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "codex", true)
	again := []string{"REPRISE_TASK=job", "REPRISE_ROLE=coder", "REPRISE_FRESH=1"}
	w.run("codex", harness.Call{Args: []string{"exec", round()}, Env: again})
	fork := w.call("exec", "fork", "{id}", "what number was it?")
	if fork.Exit != 0 {
		t.Fatalf("exit %d, stderr %q", fork.Exit, fork.Stderr)
	}
	child, err := w.NewestID()
	if err != nil {
		t.Fatal(err)
	}
	w.run("codex", harness.Call{Args: []string{"exec", round()}, Env: again})
	if r := w.run("shimctl", harness.Call{
		Args: list("prune|--keep-last|1|--yes")}); !strings.Contains(r.Stdout, "\tkeep\tforked\n") {
		t.Errorf("%s%s", r.Stdout, r.Stderr)
	}
	if r := w.call("exec", "resume", child, "what number was it?"); r.Stdout != "4711\n" {
		t.Errorf("the fork: exit %d, %q, stderr %q", r.Exit, r.Stdout, r.Stderr)
	}
}

// naming lists the session files with the word in name or text.
func (w *world) naming(word string) (found []string) {
	w.t.Helper()
	for _, file := range w.transcripts() {
		text, err := os.ReadFile(file)
		if err != nil {
			w.t.Fatal(err)
		}
		if strings.Contains(file+string(text), word) {
			found = append(found, file)
		}
	}
	return found
}

// codexThreads asks codex's app server for its list. It ends with its stdin, so that
// must stay open until the answer is there.
func (w *world) codexThreads() string {
	w.t.Helper()
	real, err := realcli.Install(realcli.Pins["codex"])
	if err != nil {
		w.t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(real, "codex"), "app-server")
	home := filepath.Join(w.Root, "home")
	cmd.Env = append(os.Environ(), "HOME="+home, "CODEX_HOME="+filepath.Join(home, ".codex"),
		"OPENAI_API_KEY=none")
	in, err := cmd.StdinPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	defer cmd.Wait()
	defer in.Close()
	for _, message := range []string{
		`{"id":1,"method":"initialize","params":{"clientInfo":{"name":"test","version":"1"}}}`,
		`{"method":"initialized"}`,
		`{"id":2,"method":"thread/list","params":{"sourceKinds":["exec"]}}`,
	} {
		fmt.Fprintln(in, message)
	}
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if err != nil || strings.Contains(line, `"id":2`) {
			return line
		}
	}
}
