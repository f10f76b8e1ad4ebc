package main

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// testedKinds are covered by ordinary tests: here they run once more and are counted.
var testedKinds = slices.Concat(
	[]kind{
		tested("signals", "the tool exits with each status, 0 to 255", "cmd/shim", "TestEveryExitCode"),
		tested("signals", "the tool dies by each signal, with and without cores", "cmd/shim", "TestEveryDeath"),
		tested("signals", "each signal, to us and to the group", "cmd/shim", "TestSignalsArriveOnce"),
		tested("signals", "each key and event of a terminal", "cmd/shim", "TestTerminalSignalsArriveOnce"),
		tested("signals", "to a tool that has handlers", "cmd/shim", "TestSignalsArePassedOn"),
		tested("signals", "TERM before a resume has shown anything", "cmd/shim", "TestStoppedResumeIsNotRunAgain"),
		tested("signals", "KILL to us: the tool goes too", "cmd/shim", "TestTheToolDiesWithUs"),
		tested("signals", "300 stops, each over at once", "cmd/shim", "TestShortStops"),
		tested("signals", "STOP and CONT to the tool alone", "cmd/shim", "TestToolStoppedAlone"),
		tested("signals", "TERM at 50 moments of each tool, the caller reads or not", "cmd/shim", "TestTerminatedAtAnyMoment"),
		tested("signals", "TERM while an answer waits for the caller", "cmd/shim", "TestTerminatedAfterTheToolsEnd"),
		tested("signals", "TERM after gate_timeout, no reader", "cmd/shim", "TestTerminatedAfterTheGate"),
	},
	cases("job control", "cmd/shim", "TestJobControl", "the group stops", "we are told to stop", "the group, then we go on",
		"all are stopped, we go on", "all are stopped"),
	cases("the caller", "cmd/shim", "TestInherited", "TERM ignored", "HUP and INT ignored", "PIPE ignored", "CHLD ignored",
		"TSTP, TTIN, TTOU ignored", "everything ignored", "USR1 and TERM blocked", "CHLD blocked", "PIPE and SEGV blocked",
		"a real-time one blocked", "few files", "cores allowed", "non-blocking stdin"),
	cases("passed through", "cmd/shim", "TestProbeSeesNoShim", "a closed stderr", "odd variables", "little memory", "a terminal"),
	[]kind{
		tested("probing", "a help that leaves a child behind", "shim", "TestAskWaitsForNoChild"),
		tested("probing", "a help that does not end", "shim", "TestAskKeepsItsLimit"),
	},
	cases("output", "cmd/shim", "TestStreamsArriveWhole", "10 MB of lines", "a line of 5 MB", "NUL bytes", "no last newline", "nothing",
		"only newlines", "invalid UTF-8", "deeply nested", "duplicate keys", "carriage returns", "escapes of a model"),
	cases("output", "cmd/shim", "TestMuchOutput", "1 GB of lines", "a line of 1 GB"),
	[]kind{
		tested("output", "a result of 3 MB", "cmd/shim", "TestScripts/longresult"),
		tested("output", "no reader for a while", "cmd/shim", "TestBackPressure"),
		tested("output", "its reader goes away, as head -1 does", "cmd/shim", "TestClosedStdout"),
		tested("output", "no reader from the start", "cmd/shim", "TestUnreadStdout"),
		tested("output", "its reader goes away between two words", "cmd/shim", "TestTheToolLearnsThatTheCallerHasGone"),
		tested("output", "its reader takes its time", "cmd/shim", "TestTheAnswerWaits"),
		tested("output", "its reader is slow or late after TERM", "cmd/shim", "TestSlowlyReadAfterASignal"),
		tested("output", "stdout is a full device", "cmd/shim", "TestAnAnswerIntoAFullDevice"),
		tested("output", "the tool is killed in the middle", "cmd/shim", "TestCutShort"),
		tested("output", "a grandchild keeps stdout open", "cmd/shim", "TestGrandchildHoldsStdout"),
		tested("output", "a grandchild writes after the end", "cmd/shim", "TestOutputAfterTheEnd"),
		tested("output", "a grandchild writes, the reader is gone", "cmd/shim", "TestOutputAfterTheEndUnread"),
		tested("output", "stdout is a terminal", "cmd/shim", "TestTerminalAsStdout"),
		tested("output", "a banner, no events, a crash in a line", "cmd/shim", "TestScripts/foreign"),
		tested("output", "no place to hold it", "shim", "TestNoRoomToHold"),
		tested("output", "the disk fills up that holds it", "shim", "TestDiskFillsUp"),
		tested("output", "a pipe of 64 kB, and a tool that does not wait", "shim", "TestAHastyToolLosesNothing"),
		tested("output", "our own code breaks down over it", "shim", "TestBreakingDownOverOutput"),
	},
	cases("streams", "cmd/shim", "TestNonBlockingStreams", "non-blocking pipes", "non-blocking sockets"),
	[]kind{tested("streams", "closed ones", "cmd/shim", "TestClosedStaysClosed")},
	cases("stdin", "cmd/shim", "TestStdinOfEveryKind", "a pipe", "a file read in part", "a socket"),
	[]kind{
		tested("stdin", "open and silent", "cmd/shim", "TestOpenSilentStdin"),
		tested("stdin", "too long to be a prompt", "shim", "TestTooMuchIsHandedOnWhole"),
		tested("stdin", "without an end", "cmd/shim", "TestEndlessStdin"),
		tested("stdin", "longer than ulimit -f", "shim", "TestStdinUnderALimitOnFiles"),
		tested("PATH", "wrappers, copies, links, mise, cmux, volta lead back", "cmd/shim", "TestScripts/loop"),
		tested("PATH", "tools that call themselves, generations of agents", "cmd/shim", "TestScripts/loop"),
		tested("PATH", "guards that are forged, foreign or cut", "shim", "TestGuard"),
		tested("PATH", "our directory twice, dangling links, directories", "shim", "TestResolve"),
		tested("PATH", "2000 mangled PATHs", "shim", "TestFindOddInput"),
		tested("PATH", "no tool on it", "cmd/shim", "TestScripts/notfound"),
		tested("PATH", "not set", "cmd/shim", "TestWithoutPATH"),
		tested("the tool's files", "below a home that reads as a pattern", "cmd/shim", "TestScripts/oddhome"),
		tested("the tool's files", "the same, by each tool's places", "rewrite", "TestSessionPathsInOddFolders"),
		tested("the log", "two shims set it aside at once", "shim", "TestTheLogIsSetAsideOnce"),
		tested("the log", "set aside while a chain is forgotten", "shim", "TestForgetWhileTheLogIsSetAside"),
		tested("names", "of tasks and roles, that move a terminal's cursor", "cmd/shim", "TestScripts/escapes"),
		tested("uninstalling", "a page of the user's among ours", "test", "TestRepository"),
		tested("a repository", "configuration, ledger, binary in the directory", "cmd/shim", "TestTheRepositoryChangesNothing"),
		tested("a repository", "pipes, devices, large files in the place of settings", "cmd/shim", "TestScripts/files"),
		tested("a repository", "programs named in its configuration", "shim", "TestGitRunsNothing"),
	},
	cases("a model says", "rewrite", "TestHostileAnswers", "a session id", "a banner", "a result event", "a result on a line", "an init event",
		"a refusal", "an overflow", "an option as id", "escapes", "NUL bytes", "separators", "no text", "deep nesting", "16 MB",
		"half an escape", "braces on their own"),
	cases("an event", "rewrite", "TestHostileEvents", "deep nesting", "deep objects", "another type of id", "an id as a number",
		"an id deep inside", "an array", "bad UTF-8 in the id", "cut short", "two on a line", "not JSON", "huge numbers"),
	[]kind{
		tested("output", "a long answer, of codex as text", "rewrite", "TestCodexLongAnswer"),
		tested("an event", "with a prompt that is no UTF-8", "rewrite", "TestAsAskedOfInvalidUTF8"),
		tested("an event", "two ids under one key", "rewrite", "TestDuplicateKeys"),
		tested("an event", "each field gone, null, of another type", "rewrite", "TestEventShapesDrift"),
		tested("an event", "not as expected: no ground to go on from", "rewrite", "TestOddEvents"),
		tested("ids", "of another form, in every place of an id", "rewrite", "TestHostileIDs"),
		tested("the ledger", "rows are removed while a call runs", "ledger", "TestARowIsNotUsedAgain"),
		tested("the ledger", "figures that cannot be added up", "ledger", "TestFiguresBeyondReason"),
		tested("ids", "of another form, in the ledger", "ledger", "TestNoIDOfAnotherFormIsResumed"),
		tested("a resume", "refused, by a tool that has children", "shim", "TestNothingOutlivesARunThatIsGivenUp"),
		tested("a resume", "refused, under another id, limited", "cmd/shim", "TestScripts/fallback"),
		tested("the tool's files", "their events get lost", "watch", "TestLostEvents"),
		tested("the tool's files", "no watches to be had", "watch", "TestNoWatchesToBeHad"),
		tested("the tool's files", "one that never rests", "watch", "TestAFileThatNeverRests"),
	},
)

// tested is a kind that a test tries, or one of its cases.
func tested(subject, name, pkg, test string) kind {
	return kind{subject, name, func(w *world) { w.test(pkg, test) }}
}

// cases are kinds that are cases of one test, by their names there.
func cases(subject, pkg, test string, names ...string) (kinds []kind) {
	for _, name := range names {
		kinds = append(kinds, tested(subject, name, pkg, test+"/"+name))
	}
	return kinds
}

// test runs a test. A missing test counts as a failure.
func (w *world) test(pkg, name string) {
	t, err := w.tests(pkg)
	if err != nil {
		w.must(err)
		return
	}
	name = strings.ReplaceAll(name, " ", "_")
	levels := strings.Split(regexp.QuoteMeta(name), "/")
	cmd := exec.Command(t.path, "-test.v", "-test.run", "^"+strings.Join(levels, "$/^")+"$")
	cmd.Dir = t.dir
	out, err := cmd.CombinedOutput()
	switch {
	case strings.Contains(string(out), "--- SKIP: "+name+" ("):
		w.skip(errors.New("its test does not run here"))
	case err != nil || !strings.Contains(string(out), "--- PASS: "+name+" ("):
		w.lose("%s in %s: %v: %s", name, pkg, err, out)
	}
}

// A testProgram has the tests of a package, and runs in its directory.
type testProgram struct{ path, dir string }

// tests compiles the tests of a package, once.
func (p programs) tests(pkg string) (t testProgram, err error) {
	if t, ok := p.compiled[pkg]; ok {
		return t, nil
	}
	t.path = filepath.Join(filepath.Dir(p.shims), filepath.Base(pkg)+".test")
	if out, err := exec.Command("go", "test", "-c", "-o", t.path, "reprise/"+pkg).CombinedOutput(); err != nil {
		return t, fmt.Errorf("compile the tests of %s: %w: %s", pkg, err, out)
	}
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", "reprise/"+pkg).Output()
	t.dir = strings.TrimSpace(string(dir))
	p.compiled[pkg] = t
	return t, err
}
