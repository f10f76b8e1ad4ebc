package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"reprise/internal/standin"
	"reprise/scripts/parity"
	"reprise/scripts/realcli"
)

// agents are the SDKs that speak stream-json with claude.
var agents = map[string]struct {
	sdk    realcli.SDK
	script string
}{
	"typescript": {realcli.AgentTS, "agent.mjs"},
	"python":     {realcli.AgentPython, "agent.py"},
}

// A job of three rounds is resumed from the second on, and what the caller sees is what it sees
// without the shim: message by message, and each callback as often. With the session gone, there is one
// clean fresh answer.
func TestAgentSDKs(t *testing.T) {
	for name, agent := range agents {
		for _, mode := range []string{"string", "callbacks", "partial"} {
			t.Run(name+", "+mode, func(t *testing.T) {
				t.Parallel()
				job := newSDKJob(t, agent.sdk, agent.script, standin.Options{})
				job.env = []string{"REPRISE_TASK=job"}
				for round, addition := range rounds {
					job.compare(t, fmt.Sprint("round ", round+1), mode, "RUNTOOL\n\n"+basePrompt+addition)
				}
				if got := strings.Count(job.shimmed.log(), "\tresume: "); got != len(rounds)-1 {
					t.Errorf("%d calls were resumed:\n%s", got, job.shimmed.log())
				}
				for _, file := range job.shimmed.transcripts() {
					if err := os.Remove(file); err != nil {
						t.Fatal(err)
					}
				}
				job.compare(t, "without a session", mode, "RUNTOOL\n\n"+basePrompt+"The reviewer has one more remark: name the limits.")
				if !strings.Contains(job.shimmed.log(), "session_file_gone") {
					t.Errorf("the session that is gone was not missed:\n%s", job.shimmed.log())
				}
			})
		}
	}
}

var basePrompt = "Write the parser of the grammar in grammar.txt.\n\n" + strings.Repeat("It reports each error with its line and its column. ", 8) + "\n\n"

var rounds = []string{
	"",
	"The reviewer rejected your last submission: the test of the empty file still fails. Fix it.",
	"The reviewer rejected your last submission once more: a comment at the end of the file is lost.",
}

// An sdkJob is a caller with the shim, and the same without it.
type sdkJob struct {
	direct, shimmed *world
	program, script string
	sdk             string
	env             []string
}

func newSDKJob(t *testing.T, sdk realcli.SDK, script string, model standin.Options) *sdkJob {
	t.Helper()
	dir, err := realcli.InstallSDK(sdk)
	if errors.Is(err, realcli.ErrNoPython) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	job := &sdkJob{direct: newWorldWith(t, "claude", false, model), shimmed: newWorldWith(t, "claude", true, model), sdk: dir}
	job.program = filepath.Join(dir, "bin", "python")
	if !sdk.Python {
		if job.program, err = exec.LookPath("node"); err != nil {
			t.Fatal(err)
		}
	}
	if job.script, err = filepath.Abs(filepath.Join("testdata", script)); err != nil {
		t.Fatal(err)
	}
	return job
}

// run runs the caller in a world.
func (j *sdkJob) run(w *world, args ...string) result {
	w.t.Helper()
	r := w.run(j.program, parity.Call{
		Args: append([]string{j.script}, args...),
		Env:  append([]string{"SDK=" + j.sdk, "CLAUDE=" + w.Lookup("claude")}, j.env...),
	})
	if r.Exit != 0 || r.Stderr != "" {
		w.t.Fatalf("exit %d, stderr %s", r.Exit, r.Stderr)
	}
	return r
}

func (j *sdkJob) compare(t *testing.T, what string, args ...string) {
	t.Helper()
	direct := j.run(j.direct, args...)
	same(t, what, direct.Stdout, j.run(j.shimmed, args...).Stdout)
}

// log is what shimctl shows of the calls.
func (w *world) log() string { return w.run("shimctl", parity.Call{Args: []string{"log"}}).Stdout }

// A conversation that the AI SDK's provider sends whole each time, without a name: its own answers in it
// show whose it is, and only the new turn is sent.
func TestAISDK(t *testing.T) {
	t.Parallel()
	job := newSDKJob(t, realcli.AISDK, "aisdk.mjs", standin.Options{Reply: func(r standin.Request) (standin.Reply, bool) {
		prompt := standin.LastUser(r)
		switch {
		case strings.Contains(prompt, "a comment at the end"):
			return standin.Reply{Text: "The lexer hands on what stands behind the last line, and there is a test for it too."}, true
		case strings.Contains(prompt, "of the empty file"):
			return standin.Reply{Text: "Empty input is accepted since the loop looks for the end of the input first."}, true
		}
		return standin.Reply{Text: "The parser is in parser.go now, and its tests are in parser_test.go beside it."}, true
	}})
	turns := []string{basePrompt, "The test of the empty file still fails. Fix it.", "Thank you. Now a comment at the end of the file is lost."}
	direct := job.run(job.direct, turns...)
	shimmed := job.run(job.shimmed, turns...)
	same(t, "the answers", direct.Stdout, shimmed.Stdout)
	if got := strings.Count(job.shimmed.log(), "\tresume: "); got != len(turns)-1 {
		t.Errorf("%d calls were resumed:\n%s", got, job.shimmed.log())
	}
	last := standin.LastUser(shimmed.last(t))
	if strings.Contains(last, "grammar.txt") || !strings.Contains(last, "comment at the end") {
		t.Errorf("the last prompt was %q", last)
	}
}
