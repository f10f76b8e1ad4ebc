package shim

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"reprise/config"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/ledger/proc"
	"reprise/rewrite"
	"reprise/rewrite/reason"
	"reprise/shim/work"
	"reprise/test/gitrepo"
	"reprise/test/toolbox"
)

// The sequences of testdata/evidence were written to be resumed wrongly, or by callers who want a
// resume: for each file how many of the calls that must be fresh can be resumed, and how many of
// the wanted ones are at least. No run leaves a file here: whether the work stood is not labelled,
// and to say so for the wanted calls alone would count the answer twice.
var evidenceSets = map[string]struct{ wrong, wanted int }{
	"red-team.json":    {0, 1},
	"callers.json":     {0, 8},
	"held-out.json":    {0, 17},
	"blind.json":       {0, 14},
	"evidence.json":    {0, 62},
	"attack.json":      {4, 39},
	"adversarial.json": {0, 1},
}

func TestEvidence(t *testing.T) {
	for file, allowed := range evidenceSets {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			var s score
			for _, one := range readSequences(t, file) {
				s.add(t, one)
			}
			s.check(t, allowed.wrong, allowed.wanted)
		})
	}
}

// In the jobs of these sets runs change files. Under a constant task they can join two jobs of one
// template.
func TestWork(t *testing.T) {
	inRepositories(t)
	task := map[string]string{"REPRISE_TASK": "job"}
	for _, tt := range []struct {
		name, file    string
		env           map[string]string
		shell         bool
		wrong, wanted int
	}{
		{"no name", "work.json", nil, false, 0, 46},
		{"no name, by commands", "work.json", nil, true, 0, 45},
		{"one task round all", "work.json", task, false, 1, 52},
		// Payloads and an optimizer's advice behind the same prompt: nothing that happened tells
		// them from a loop's next round.
		{"agents", "agents.json", nil, false, 2, 8},
		{"agents, by commands", "agents.json", nil, true, 2, 8},
		{"agents, one task round all", "agents.json", task, false, 4, 8},
		// Written by three who did not know the rules. The task of those in its second third is a
		// whole exam, an ablation or a desk: no caller would name it so.
		{"drivers", "drivers.json", nil, false, 0, 130},
		{"drivers, one task round all", "drivers.json", task, false, 7, 150},
		{"attacks", "attacks.json", nil, false, 3, 0},
		{"attacks, by commands", "attacks.json", nil, true, 2, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.shell || tt.env != nil {
				toolbox.Long(t)
			}
			t.Parallel()
			var sum score
			for _, one := range readSequences(t, tt.file) {
				one.Env = tt.env
				t.Run(one.Name, func(t *testing.T) {
					for i := range one.Calls {
						if c := &one.Calls[i]; tt.shell {
							c.Shell, c.Touched = true, nil
						}
					}
					if slices.ContainsFunc(one.Calls, func(c sequenceCall) bool {
						return c.Does != "" || c.Before != ""
					}) {
						one.dir = gitrepo.Init(t)
					}
					sum.add(t, one)
				})
			}
			sum.check(t, tt.wrong, tt.wanted)
		})
	}
}

// inRepositories prepares a test for parallel ones that begin repositories by gitrepo.Init, on a
// busy machine too.
func inRepositories(t *testing.T) {
	t.Helper()
	limit := work.Timeout
	work.Timeout = time.Minute
	t.Cleanup(func() { work.Timeout = limit })
	t.Setenv("XDG_STATE_HOME", t.TempDir())
}

func readSequences(t *testing.T, file string) (all []sequence) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../testdata/evidence", file))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &all); err != nil || len(all) == 0 {
		t.Fatalf("%d sequences, %v", len(all), err)
	}
	return all
}

// A score counts how many calls are resumed: of those that want it, and of those that must be
// fresh.
type score struct{ wanted, taken, must, wrong int }

// add plays a sequence and counts its calls.
func (sum *score) add(t *testing.T, s sequence) {
	t.Helper()
	sessions := s.decisions(t)
	for i, d := range sessions {
		c := s.Calls[i]
		resumed := d.Mode.Continues()
		if d.Reason == reason.NoProgress {
			t.Errorf("%s: call %d counts as no progress", s.Name, i+1)
		}
		right := resumed && (c.Of == 0 || d.session == sessions[c.Of-1].session)
		switch {
		case c.Expect == "resume" && (right || !resumed):
			sum.wanted++
			if right {
				sum.taken++
			} else {
				t.Logf("%s: call %d is fresh (%s)", s.Name, i+1, d.Reason)
			}
		case c.Expect == "resume" || c.Expect == "fresh":
			sum.must++
			if resumed {
				sum.wrong++
				t.Logf("%s: call %d is wrongly resumed (%s): %v", s.Name, i+1, d.Reason,
					d.Evidence.Sentences())
			}
		}
	}
}

// check fails if too many calls are resumed that must be fresh, or too few of the wanted ones.
func (sum *score) check(t *testing.T, wrong, wanted int) {
	t.Helper()
	t.Logf("of %d wanted calls %d are resumed, of %d others %d", sum.wanted, sum.taken, sum.must,
		sum.wrong)
	if sum.wrong > wrong || sum.taken < wanted {
		t.Errorf("of %d wanted calls %d are resumed, want %d; of %d others %d, want %d", sum.wanted,
			sum.taken, wanted, sum.must, sum.wrong, wrong)
	}
}

// A sequenceEnd is a decision and the session that the call ran in.
type sequenceEnd struct {
	decide.Decision
	session string
}

// decisions plays the sequence in a ledger of its own, and returns the decision on each call.
func (s sequence) decisions(t *testing.T) (out []sequenceEnd) {
	t.Helper()
	l, err := ledger.OpenMemory()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	now := decide.Millis(1_800_000_000_000)
	end := func() {}
	for i, c := range s.Calls {
		if !c.Beside {
			end()
			end = func() {}
		}
		now += 60_000
		if c.After > 0 {
			now += decide.Millis(c.After*1000) - 60_000
		}
		if s.dir != "" { // its files have true times
			now = decide.MillisOf(time.Now())
		}
		d, _, finish := s.begin(t, l, config.Default(), i, now)
		before := end
		end = func() { before(); finish() }
		out = append(out, sequenceEnd{d, s.session(d, i)})
	}
	end()
	return out
}

// caller returns the processes that a call names.
func (c sequenceCall) caller(t *testing.T) decide.Caller {
	t.Helper()
	if c.Caller == nil {
		return testCaller
	}
	var names []string
	var name string
	if json.Unmarshal(c.Caller, &name) == nil {
		names = []string{name}
	} else if err := json.Unmarshal(c.Caller, &names); err != nil {
		t.Fatal(err)
	}
	caller := decide.Caller{}
	for _, name := range names {
		if name == "" {
			return decide.Caller{Person: true, Shell: testCaller.Processes[0]}
		}
		hash := fnv.New32a()
		hash.Write([]byte(name))
		program, _, _ := strings.Cut(name, "#")
		process := proc.Process{Boot: "boot", Namespace: "pid", PID: int(hash.Sum32() >> 8),
			Start: 70}
		caller.Processes = append(caller.Processes,
			decide.CallerProcess{Process: process, Name: program})
	}
	return caller
}

// settings returns the settings that the options and variables of a call change.
func (c sequenceCall) settings(tool string, named bool) decide.Fingerprints {
	known, _ := rewrite.Lookup(tool)
	var environ []string
	for name, value := range c.Env {
		environ = append(environ, name+"="+value)
	}
	slices.Sort(environ)
	var settings, auth []decide.NamedDigest
	for _, s := range rewrite.Environment(known, environ, named) {
		d := decide.NamedDigest{Guard: s.Guard, Name: s.Name, Value: fmt.Sprintf("%x", s.Value)}
		if s.Guard == reason.AuthChanged {
			auth = append(auth, d)
		} else {
			settings = append(settings, d)
		}
	}
	if len(c.Args) > 0 {
		settings = append(settings, decide.NamedDigest{Guard: reason.SettingsChanged,
			Name: "options", Value: fmt.Sprintf("%x", c.Args)})
	}
	return decide.Fingerprints{Settings: decide.NewDigests(settings), Auth: decide.NewDigests(auth)}
}
