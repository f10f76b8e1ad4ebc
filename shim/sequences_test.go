package shim

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"reprise/config"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/ledger/proc"
	"reprise/rewrite"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
	"reprise/shim/git"
	"reprise/test/gitrepo"
)

// A sequence is one caller's prompts, call after call, with the decisions that must follow. Files
// of testdata/prompts hold them, one for each preset.
type sequence struct {
	Name    string
	Preset  string          // the rule that must hold for its calls, "" for none
	Unnamed rewrite.Unnamed // the proof that its calls need without a name, "" for the default
	Env     map[string]string
	Args    []string
	Calls   []sequenceCall

	// its project, if calls do something there
	dir string
	// if set, gets the text that is sent to a resumed session
	sent func(i int, prompt, text string, why reason.Code)
}

type sequenceCall struct {
	Prompt, Answer, Expect, Why, Cwd, Tool string
	Env                                    map[string]string // beside the sequence's
	Args                                   []string          // likewise
	// all the run's texts, where it has several
	Said []string
	// no session can have calls of two jobs
	Job string
	// the call with the session that it must continue, counted from 1; 0 for any
	Of int
	// the program's run that makes it, or several, the nearest first; "" for a person
	Caller json.RawMessage
	// seconds since the call before it ended, 0 for a minute
	After  float64
	Beside bool // it begins before that one ends
	// the files that its run changes by tools that say so
	Touched []string
	// a shell script: the run's changes to the project
	Does string
	// a shell script: changes to the project before the call
	Before string
	// it works by commands: no tool says which files it changes
	Shell bool
}

func TestSequences(t *testing.T) {
	files, err := filepath.Glob("../testdata/prompts/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no sequences: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var all []sequence
		if err := json.Unmarshal(text, &all); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, s := range all {
			t.Run(s.Name, func(t *testing.T) {
				t.Parallel()
				s.play(t)
			})
		}
	}
}

// play makes the sequence's calls one minute apart; each ends well. The rules, and how they apply
// to a call, are the shim's own.
func (s sequence) play(t *testing.T) {
	l, err := ledger.Open(filepath.Join(t.TempDir(), "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	now := decide.Millis(1_800_000_000_000)
	jobs := map[string]string{} // of each session
	for i := range s.Calls {
		now += 60_000
		id, job := s.call(t, l, i, now), s.Calls[i].Job
		if before, known := jobs[id]; known && before != job {
			t.Errorf("call %d of job %q is in a session of job %q", i+1, job, before)
		}
		jobs[id] = job
	}
}

// call makes call i, checks the decision on it, and returns the session that it ran in.
func (s sequence) call(t *testing.T, l *ledger.Ledger, i int, now decide.Millis) string {
	cfg := config.Default()
	cfg.Unnamed = rewrite.Unnamed(orElse(string(s.Unnamed), string(cfg.Unnamed)))
	call := s.Calls[i]
	d, rule := s.decide(t, l, cfg, i, now)
	if string(d.Mode) != call.Expect || string(d.Reason) != call.Why || rule != s.Preset {
		t.Errorf("call %d: %s (%s) by rule %q, want %s (%s) by %q",
			i+1, d.Mode, d.Reason, rule, call.Expect, call.Why, s.Preset)
	}
	return s.session(d, i)
}

func (s sequence) session(d decide.Decision, i int) string {
	return orElse(d.NativeID, fmt.Sprintf("00000000-0000-4000-8000-%012d", i))
}

// decide makes call i, which ends well, and returns the decision and the rule that held for it.
func (s sequence) decide(t *testing.T, l *ledger.Ledger, cfg config.Config,
	i int, now decide.Millis) (decide.Decision, string) {
	t.Helper()
	d, rule, end := s.begin(t, l, cfg, i, now)
	end()
	return d, rule
}

// begin begins call i, and returns the decision, the rule that holds for it, and a function that
// ends it well.
func (s sequence) begin(t *testing.T, l *ledger.Ledger, cfg config.Config,
	i int, now decide.Millis) (decide.Decision, string, func()) {
	t.Helper()
	call := s.Calls[i]
	project, cwd := "/project", orElse(call.Cwd, "/project")
	if s.dir != "" {
		project, cwd = s.dir, filepath.Join(s.dir, call.Cwd)
	}
	r := &ledger.Call{
		Record: ledger.Record{Tool: orElse(call.Tool, "claude"), Cwd: cwd, Caller: call.caller(t)},
		Home:   "/home",
		// no run changes a file, yet none counts as no progress
		Request: decide.Request{Now: now, Tree: func() string { return "tree" }},
		Prompt:  prompt.New(call.Prompt, l.Key()), Project: project,
		Stored: func(string, string, decide.Stamp) decide.StoredState { return decide.StoredSame },
	}
	env := func(name string) string { return orElse(call.Env[name], s.Env[name]) }
	m := cfg.Match(config.Subject{Tool: r.Tool, Cwd: r.Cwd, Env: env,
		Args: slices.Concat(s.Args, call.Args), Prompt: call.Prompt,
		Run: r.Caller.Run().Identity(), Digest: l.Key().Name})
	apply(m, cfg, r)
	r.Fingerprints = call.settings(r.Tool, r.Task != "")
	if s.sent != nil {
		r.Sends = func(d decide.Decision) (int, reason.Code) {
			plan := newTarget(r.Prompt, d).Plan(rewrite.CommandLine{})
			s.sent(i, call.Prompt, plan.Prompt, plan.WholeReason)
			return len(plan.Prompt), plan.WholeReason
		}
	}
	files := s.files(t, l, r, call)
	d, ticket, err := ledger.Begin(l, r)
	if err != nil {
		t.Fatal(err)
	}
	seen := rewrite.StreamState{Final: true, Content: true, Answer: orElse(call.Answer, "done"),
		Texts: call.Said,
		ID:    s.session(d, i), Files: call.Touched, Shell: call.Shell}
	o := &ledger.Outcome{Now: now + 1000, Seen: seen, File: "/f", Stamp: "1",
		Resets: m.ResetBy(seen.Answer)}
	return d, r.Rule, func() {
		t.Helper()
		files(ticket, o)
		if err := l.Finish(ticket, o); err != nil {
			t.Fatal(err)
		}
	}
}

// files has a call see the project, and returns the work of its run there.
func (s sequence) files(t *testing.T, l *ledger.Ledger,
	r *ledger.Call, call sequenceCall) func(*ledger.Ticket, *ledger.Outcome) {
	t.Helper()
	if s.dir == "" {
		return func(*ledger.Ticket, *ledger.Outcome) {}
	}
	d := guarded(t, l, s.dir, "/home")
	if call.Before != "" {
		gitrepo.Script(t, s.dir, call.Before)
	}
	if err := os.MkdirAll(r.Cwd, 0o700); err != nil {
		t.Fatal(err)
	}
	d.cwd, d.home, d.started = r.Cwd, r.Home, r.Now.Time()
	project := d.project()
	r.Revision, r.FindWork = d.revision(), project.Find
	r.WorkGone = func(left, commit string) bool { return project.Gone(left, commit) }
	r.History = func(commit string) error {
		return git.History(r.Cwd, commit, r.Revision.Head, d.env.Environ)
	}
	return func(ticket *ledger.Ticket, o *ledger.Outcome) {
		t.Helper()
		if call.Does != "" {
			time.Sleep(10 * time.Millisecond) // a file gets the time of the kernel's last tick
			gitrepo.Script(t, r.Cwd, call.Does)
			time.Sleep(10 * time.Millisecond)
		}
		d.ticket, o.Now, o.Revision = ticket, decide.MillisOf(time.Now()), d.revision()
		o.Left = (&ran{decided: d}).leftFiles(o, call.Touched)
	}
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// testCaller is the loop that makes the calls of a sequence.
var testCaller = decide.Caller{Processes: []decide.CallerProcess{{Process: proc.Process{Boot: "boot", Namespace: "pid", PID: 7, Start: 70}, Name: "loop.sh"}}}
