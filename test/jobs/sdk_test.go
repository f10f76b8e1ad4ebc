package jobs

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"reprise/internal/standin"
	"reprise/test/harness"
	"reprise/test/markers"
	"reprise/test/realcli"
)

// An agent is an SDK and a script that asks it once.
type agent struct {
	sdk    sdk
	script string
}

// The SDKs that speak stream-json with claude, and the versions of a year before.
var (
	agents = map[string]agent{"typescript": {agentTS, "agent.mjs"},
		"python": {agentPython, "agent.py"}}
	oldAgents = map[string]agent{"typescript": {oldAgentTS, "agent.mjs"},
		"python": {oldAgentPython, "agent.py"}}
)

// agentModes are the modes of agent.mjs and agent.py.
var agentModes = []string{"string", "callbacks", "partial"}

// A job of three rounds is resumed from the second on, and the caller sees the same as without the
// shim: message by message, and each callback as often. With the session gone, there is one clean
// fresh answer.
func TestAgentSDKs(t *testing.T) {
	eachMode(t, agents)
}

// The same for the SDKs of a year before.
func TestOldAgentSDKs(t *testing.T) {
	eachMode(t, oldAgents)
}

func eachMode(t *testing.T, agents map[string]agent) {
	cases := map[string]func(*testing.T){}
	for name, a := range agents {
		for _, mode := range agentModes {
			cases[name+", "+mode] = func(t *testing.T) { a.play(t, mode) }
		}
	}
	each(t, cases, func(t *testing.T, _ string, play func(*testing.T)) { play(t) })
}

func (a agent) play(t *testing.T, mode string) {
	job := newSDKJob(t, a.sdk, a.script, markers.Options{})
	job.env = []string{"REPRISE_TASK=job", "REPRISE_ROLE=coder"}
	job.kills = a.sdk.version == oldAgentPython.version && mode != "string"
	job.playRounds(t, func(round int) []string {
		news := rounds[round]
		if job.kills { // a session that began in a later round has that round's prompt as its first
			news = strings.Join(rounds[:round+1], "\n\n")
		}
		return []string{mode, "RUNTOOL\n\n" + basePrompt + news}
	})
}

// A caller of the Python SDK is resumed unchanged, and without a name, where the SDK was installed
// as docs/how-to/agent-sdks.md says.
func TestUnchangedPythonSDK(t *testing.T) {
	job := newSDKJob(t, agentPythonBuilt, "unchanged.py", markers.Options{})
	for round := range 2 {
		job.compare(t, fmt.Sprint("round ", round+1),
			basePrompt+strings.Join(rounds[:round+1], "\n\n"))
	}
	if got := job.shimmed.continued(); got != 1 {
		t.Errorf("%d calls were resumed:\n%s", got, job.shimmed.log())
	}
}

// The same for codex's SDKs that run codex exec, without a name.
func TestCodexSDKs(t *testing.T) {
	each(t, map[string]agent{"typescript": {codexTS, "codex.mjs"},
		"python": {codexPython, "codex.py"}},
		func(t *testing.T, _ string, a agent) {
			job := newSDKJob(t, a.sdk, a.script, markers.Options{})
			job.playRounds(t, func(round int) []string {
				return []string{"RUNTOOL\n\n" + basePrompt + strings.Join(rounds[:round+1], "\n\n")}
			})
		})
}

// playRounds plays all rounds, the last one with the session gone.
func (j *sdkJob) playRounds(t *testing.T, args func(round int) []string) {
	t.Helper()
	last := len(rounds) - 1
	for round := range last {
		j.compare(t, fmt.Sprint("round ", round+1), args(round)...)
	}
	fresh := 0
	if j.kills {
		fresh = strings.Count(j.shimmed.log(), "\tfresh: previous_failed")
	}
	if got := j.shimmed.continued(); got+fresh != last-1 {
		t.Errorf("%d calls were resumed:\n%s", got, j.shimmed.log())
	}
	for _, file := range j.shimmed.transcripts() {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	j.compare(t, "without a session", args(last)...)
	if !j.kills && !strings.Contains(j.shimmed.log(), "session_file_gone") {
		t.Errorf("the session that is gone was not missed:\n%s", j.shimmed.log())
	}
}

var basePrompt = "Write the parser of the grammar in grammar.txt.\n\n" +
	strings.Repeat("It reports each error with its line and its column. ", 8) + "\n\n"

var rounds = []string{
	"",
	"## Rejection 1\n\nThe reviewer rejected your last submission: the test of the empty file " +
		"still fails. Fix it.",
	"## Rejection 2\n\nThe reviewer rejected your last submission once more: a comment at the " +
		"end of the file is lost.",
	"## Rejection 3\n\nThe reviewer rejected your last submission again: it does not name the " +
		"limits.",
}

// An sdkJob is a caller with the shim, and the same without it.
type sdkJob struct {
	direct, shimmed *world
	program, script string
	sdk             string
	cli             string // the program that the caller runs, "" for the tool
	env             []string
	// the caller kills the tool after its answer, so that the next call can be fresh
	kills bool
}

func newSDKJob(t *testing.T, sdk sdk, script string, model markers.Options) *sdkJob {
	t.Helper()
	dir, err := installSDK(sdk)
	if errors.Is(err, realcli.ErrNoPython) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	job := &sdkJob{direct: newWorldWith(t, sdk.cli, false, model),
		shimmed: newWorldWith(t, sdk.cli, true, model), sdk: dir}
	job.program = filepath.Join(dir, "bin", "python")
	if !sdk.python {
		// of an SDK that needs a newer one
		own := filepath.Join(dir, "node_modules", ".bin", "node")
		node, err := exec.LookPath("node")
		if _, missing := os.Stat(own); missing == nil {
			node = own
		} else if err != nil {
			t.Fatal(err)
		}
		job.program = node
	}
	if job.script, err = filepath.Abs(filepath.Join("testdata", script)); err != nil {
		t.Fatal(err)
	}
	return job
}

// run runs the caller in a world.
func (j *sdkJob) run(w *world, args ...string) result {
	w.t.Helper()
	r := w.run(j.program, harness.Call{
		Args: append([]string{j.script}, args...),
		Env:  append([]string{"SDK=" + j.sdk, "CLI=" + cmp.Or(j.cli, w.Lookup(w.Tool))}, j.env...),
	})
	if r.Exit != 0 {
		w.t.Fatalf("exit %d, stderr %s", r.Exit, r.Stderr)
	}
	return r
}

func (j *sdkJob) compare(t *testing.T, what string, args ...string) {
	t.Helper()
	direct, shimmed := j.run(j.direct, args...), j.run(j.shimmed, args...)
	same(t, what, direct.Stdout+direct.Stderr, shimmed.Stdout+shimmed.Stderr)
}

// continued returns how many calls went on with an earlier session. A call that begins while the
// call before it winds down is a fork.
func (w *world) continued() int {
	log := w.log()
	return strings.Count(log, "\tresume: ") + strings.Count(log, "\tfork: ")
}

// log has the calls as shimctl shows them.
func (w *world) log() string { return w.run("shimctl", harness.Call{Args: []string{"log"}}).Stdout }

// The AI SDK's providers send a conversation whole each time, without a name: the answers in it
// show which session it belongs to, and only the new turn is sent.
func TestAISDK(t *testing.T) {
	each(t, map[string]sdk{
		"new": aiSDK, "node 20": aiSDKNode20, "old": oldAISDK,
		"codex": aiSDKCodex,
	}, func(t *testing.T, _ string, sdk sdk) {
		job := newSDKJob(t, sdk, "aisdk.mjs", markers.Options{Reply: answerTurns})
		turns := []string{basePrompt, "The test of the empty file still fails. Fix it.",
			"Thank you. Now a comment at the end of the file is lost."}
		direct, shimmed := job.run(job.direct, turns...), job.run(job.shimmed, turns...)
		same(t, "the answers", direct.Stdout+direct.Stderr, shimmed.Stdout+shimmed.Stderr)
		if got := job.shimmed.continued(); got != len(turns)-1 {
			t.Errorf("%d calls were resumed:\n%s", got, job.shimmed.log())
		}
		last := standin.LastUser(shimmed.last(t))
		if strings.Contains(last, "grammar.txt") || !strings.Contains(last, "comment at the end") {
			t.Errorf("the last prompt was %q", last)
		}
	})
}

// answerTurns is the model of TestAISDK.
func answerTurns(r standin.Request) (standin.Reply, bool) {
	prompt := standin.LastUser(r)
	switch {
	case strings.Contains(prompt, "a comment at the end"):
		return standin.Reply{Text: "The lexer hands on what stands behind the last line, and " +
			"there is a test for it too."}, true
	case strings.Contains(prompt, "of the empty file"):
		return standin.Reply{Text: "Empty input is accepted since the loop looks for the end of " +
			"the input first."}, true
	}
	return standin.Reply{Text: "The parser is in parser.go now, and its tests are in " +
		"parser_test.go beside it."}, true
}
