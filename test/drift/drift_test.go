package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"reprise/internal/tested"
	"reprise/test/conformance/suite"
	"reprise/test/harness"
	"reprise/test/realcli"
	"reprise/test/toolbox"
)

// newer differs from older in everything that is compared.
const (
	older = `#!/bin/sh
case "$*" in
*--help*) printf 'usage: claude\n\n  -p, --print    Print the answer\n                 and exit\n  --legacy       As it was\n'; exit ;;
*--resume*) echo "the number is 7"; exit ;;
*stream-json*) echo '{"type":"result","subtype":"success","num_turns":1,"cost":{"usd":1}}'; exit ;;
esac
mkdir -p "$HOME/.claude/projects/p"
echo '{"type":"user","cwd":"x"}' >"$HOME/.claude/projects/p/11111111-2222-4333-8444-555555555555.jsonl"
echo "claude 1.0.0 says hi in $PWD"
`
	newer = `#!/bin/sh
case "$*" in
*--help*) printf 'usage: claude\n\n  -p, --print        Print the answer\n                     and exit\n  --brand-new FILE   Is new\n'; exit ;;
*--resume*) echo "no such session" >&2; exit 1 ;;
*stream-json*) echo '{"type":"result","subtype":"success","num_turns":1,"spent":{"usd":1}}'; exit ;;
*auto*) echo "Auto mode cannot check actions." >&2; echo "claude 1.0.1 says hi in $PWD"; exit 1 ;;
esac
mkdir -p "$HOME/.claude/projects/p" "$HOME/.claude/cache"
echo '{"type":"user","cwd":"x","origin":"y"}' >"$HOME/.claude/projects/p/11111111-2222-4333-8444-555555555556.jsonl"
echo >"$HOME/.claude/cache/x8f2.json"
echo "claude 1.0.1 says hi in $PWD"
`
	fickle = `#!/bin/sh
case "$*" in *--help*) exit ;; esac
echo "$$ $(date +%N)"
`
)

var cases = []suite.Case{
	{Name: "text", Calls: []harness.Call{{Args: []string{"-p", "hi"}}}},
	{Name: "stream", Calls: []harness.Call{
		{Args: []string{"-p", "hi", "--output-format", "stream-json"}}}},
	{Name: "own resume", Calls: []harness.Call{{Args: []string{"-p", "hi"}},
		{Args: []string{"-p", "which?", "--resume", "x"}}}},
	{Name: "refused work", Calls: []harness.Call{
		{Args: []string{"-p", "hi", "--permission-mode", "auto"}}}},
}

// fake is a version of claude that is a script.
func fake(t *testing.T, number, script string) version {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "claude"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return version{"claude", number, dir}
}

// compareScripts compares two versions of claude that are scripts.
func compareScripts(t *testing.T, older, newer string) report {
	t.Helper()
	both := [2]version{fake(t, "1.0.0", older), fake(t, "1.0.1", newer)}
	r := report{tool: "claude", old: both[0].number, new: both[1].number}
	r.compare(cases, both[0].observe, both[1].observe)
	r.compareOptions(both)
	return r
}

// The report has the visible differences first, then new options, and none that are only a name, a
// column or the version.
func TestReport(t *testing.T) {
	r := compareScripts(t, older, newer)
	const want = `## claude 1.0.1 (tested: 1.0.0): DIFFERS

### exit status

    - 0
        in: refused work
    - call 2: 0
        in: own resume
    + 1
        in: refused work
    + call 2: 1
        in: own resume

### stdout

    - call 2: the number is 7
        in: own resume

### stderr

    + Auto mode cannot check actions.
        in: refused work
    + call 2: no such session
        in: own resume

### order

    - transcripts: user
        in: refused work

### events

    - result/success cost object
        in: stream

### transcripts

    - user object
        in: refused work
    - { in a line
        in: refused work

### files in the home

    - .claude/projects/p/ID.jsonl
        in: refused work

### options

    - --legacy
        in: --help

### events, new

    + result/success spent object
        in: stream

### transcripts, new

    + user origin "y"
        in: text; own resume

### files in the home, new

    + .claude/cache/*.json
        in: text; own resume

### options, new

    + --brand-new
        in: --help
`
	if got := r.String(); got != want || r.outcome() != differs {
		t.Errorf("outcome %v, report\n%s", r.outcome(), got)
	}
}

// Two equal versions are clean, and so is a version that differs from itself.
func TestNothingDiffers(t *testing.T) {
	for _, script := range []string{strings.ReplaceAll(older, "claude 1.0.0", "claude"), fickle} {
		if r := compareScripts(t, script, script); r.outcome() != clean {
			t.Errorf("%v\n%s", r.outcome(), r)
		}
	}
}

// Lines that one run of the newer version has in another order are chance: vibe 3.0.3 makes two
// files in either order.
func TestOrderByChance(t *testing.T) {
	newer := []string{"b a", "a b"}
	observe := func(lines string) *seen {
		return &seen{lines: map[string][]string{"project's files": strings.Fields(lines)}}
	}
	r := report{tool: "claude"}
	r.compare(cases[:1], func(suite.Case) *seen { return observe("a b") },
		func(suite.Case) *seen {
			defer func() { newer = newer[1:] }()
			return observe(newer[0])
		})
	if r.outcome() != clean || len(newer) > 0 {
		t.Errorf("%s, runs left: %d", r, len(newer))
	}
}

// A difference that is accepted of a version is listed with its reason, and of another one it
// counts.
func TestAccepted(t *testing.T) {
	defer func(text []byte) { acceptedFile = text }(acceptedFile)
	acceptedFile = []byte(
		`[{"tool": "claude", "from": "9.9.9", "to": "9.9.12", "line": "num_turns", "reason": "it counts otherwise"}]`)
	for number, want := range map[string]outcome{"9.9.8": differs, "9.9.9": clean, "9.9.10": clean,
		"9.9.13": differs} {
		r := report{tool: "claude", old: "9.9.1", new: number}
		r.addLines("events", set{`result/success num_turns <n>`: {"json"}}, nil)
		if r.outcome() != want || want == clean &&
			!strings.Contains(r.String(), "### events, accepted\n\n    - result/success "+
				"num_turns <n>\n        it counts") {
			t.Errorf("%s: %s", number, r)
		}
	}
}

// Each difference that is accepted has a reason, and is of a version that can still come.
func TestAcceptedFile(t *testing.T) {
	all, err := readAccepted()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		if _, err := regexp.Compile(a.Line); err != nil || a.Reason == "" ||
			tested.Compare(a.From, a.To) > 0 ||
			tested.Compare(a.To, realcli.Pins[a.Tool].Version) <= 0 {
			t.Errorf("%+v: %v", a, err)
		}
	}
}

// A version that is not to be had is no difference, and not the absence of one.
func TestCouldNotTell(t *testing.T) {
	r := pair{old: realcli.Claude, new: realcli.Claude,
		why: errors.New("the registry\nis away")}.compare(nil, "")
	if r.outcome() != unknown ||
		!strings.Contains(r.String(), "COULD NOT TELL\n\n    the registry\n    is away\n") {
		t.Errorf("%v\n%s", r.outcome(), r)
	}
	r = report{tool: "claude"}
	missing := version{"claude", "1", "/nowhere"}
	r.compare(cases[:1], missing.observe, missing.observe)
	if r.outcome() != unknown {
		t.Errorf("a program that is missing: %v\n%s", r.outcome(), r)
	}
}

// Another system prompt has another number of tokens, also in colours; an answer's number stays.
func TestFigures(t *testing.T) {
	v, w := version{number: "1.0"}, &harness.World{Root: "/nowhere"}
	for text, want := range map[string]string{
		"7\ntokens used\n9,157\n7\n":            "7\ntokens used\n<n>\n7\n",
		"\x1b[2mtokens used\x1b[0m\n9,157\n7\n": "\x1b[<n>tokens used\x1b[<n>\n<n>\n7\n",
		"Tokens 12.7k in, 5 out\n7\n":           "Tokens <n> in, <n> out\n7\n",
		" exited 1 in 183ms:\n":                 " exited 1 in 0ms:\n",
		" succeeded in 2s:\n":                   " succeeded in 0ms:\n",
	} {
		if got := v.mask(w, text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// inList is a directory with a copy of the list.
func inList(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../..", list))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	toolbox.Write(t, list, string(text))
}

// A tool's pin that is replaced stays in the list as tried. An SDK's does not.
func TestPin(t *testing.T) {
	inList(t)
	for _, pins := range []map[string]realcli.Pin{realcli.Pins, realcli.ByJobs} {
		for _, pin := range pins {
			if err := (pair{old: pin, new: pin.At("999.0")}).pin(); err != nil {
				t.Fatal(err)
			}
		}
	}
	text, _ := os.ReadFile(list)
	var moved tested.Versions
	err := json.Unmarshal(text, &moved)
	for _, tool := range tested.BuiltIn().Tools {
		rows := moved.Tool(tool.Name).Rows()
		if now := rows[len(rows)-1].Version; now != "999.0" ||
			rows[len(rows)-2].Version != tool.Version() {
			t.Errorf("%s: pinned %s, %v", tool.Pin, now, err)
		}
	}
	for _, sdk := range tested.BuiltIn().SDKs {
		if now := moved.Tool(sdk.Name); now.Version() != "999.0" {
			t.Errorf("%s: pinned %s, %v", sdk.Pin, now.Pin, err)
		}
	}
}

// The jobs of kilo and the SDKs are run with the newer pin in the list, which is as before then. A
// version that is not there for this platform is listed, and run by nothing.
func TestJobsTryAPin(t *testing.T) {
	inList(t)
	before, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	toolbox.Program(t, bin, "go", "#!/bin/sh\necho \"$REPRISE_E2E $*\"\n! grep 999.0 "+list+"\n")
	sdk := realcli.ByJobs["agent-ts"]
	for _, test := range []struct {
		pair
		want outcome
		says string
	}{
		{pair{old: sdk, new: sdk.At("999.0")}, differs, "### jobs\n\n    1 test -count=1 "},
		{pair{old: sdk, new: sdk}, clean, "    all pass\n"},
		{pair{old: sdk, new: sdk.At("999.0"), unbuilt: true}, clean, "### not tried\n"},
	} {
		r := test.compare(nil, "")
		now, err := os.ReadFile(list)
		if r.outcome() != test.want || !strings.Contains(r.String(), test.says) ||
			string(now) != string(before) {
			t.Errorf("%v, the list is another: %v\n%s", err, string(now) != string(before), r)
		}
	}
}

func TestWorse(t *testing.T) {
	for _, test := range [][3]outcome{{clean, clean, clean}, {clean, unknown, unknown},
		{unknown, differs, differs}, {differs, unknown, differs}, {differs, clean, differs}} {
		if got := worse(test[0], test[1]); got != test[2] {
			t.Errorf("%v and %v: %v", test[0], test[1], got)
		}
	}
}

// With the real CLIs, claude's change is found: from 2.1.319 on, work that auto mode refuses
// ends with 1 and says why, but not in stream-json.
func TestFindsWhatClaudeChanged(t *testing.T) {
	if os.Getenv("REPRISE_E2E") != "1" {
		t.Skip("set REPRISE_E2E=1 to run the real CLIs")
	}
	for _, test := range []struct {
		old, new, run string
		want          []string
	}{
		{"2.1.318", "2.1.319", "^refused work, ", []string{
			"### exit status\n\n    - 0\n        in: refused work, json; refused work, text; " +
				"refused work, verbose\n",
			"    + Error: auto mode could not check some actions Claude tried",
		}},
		{"2.1.290", "2.1.330", "^refused work, text|^wrong rule, text|^own resume, text", []string{
			"### exit status\n\n    - 0\n        in: refused work, text\n",
			"    + Error: auto mode could not check some actions Claude tried",
			"    + These settings entries were skipped",
		}},
	} {
		var out strings.Builder
		came, err := options{tool: "claude", old: test.old, new: test.new, run: test.run}.main(&out)
		if err != nil || came != differs {
			t.Fatalf("%v, %v\n%s", came, err, out.String())
		}
		for _, want := range test.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s and %s: no %q in\n%s", test.old, test.new, want, out.String())
			}
		}
	}
}
