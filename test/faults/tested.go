package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// testedKinds are covered by ordinary tests, which say what they try: here they run once more and are counted.
var testedKinds = slices.Concat(
	tests("signals", "TestEveryExitCode", "TestEveryDeath", "TestSignalsArriveOnce", "TestTerminalSignalsArriveOnce",
		"TestSignalsArePassedOn", "TestStoppedResumeIsNotRunAgain", "TestTheToolDiesWithUs", "TestShortStops",
		"TestToolStoppedAlone", "TestTerminatedAtAnyMoment", "TestTerminatedAfterTheToolsEnd",
		"TestTerminatedAfterTheGate"),
	cases("job control", "TestJobControl", "the group stops", "we are told to stop", "the group, then we go on",
		"all are stopped, we go on", "all are stopped"),
	cases("the caller", "TestInherited", "TERM ignored", "HUP and INT ignored", "PIPE ignored", "CHLD ignored",
		"TSTP, TTIN, TTOU ignored", "everything ignored", "USR1 and TERM blocked", "CHLD blocked",
		"PIPE and SEGV blocked", "a real-time one blocked", "few files", "cores allowed", "non-blocking stdin"),
	cases("passed through", "TestProbeSeesNoShim", "a closed stderr", "odd variables", "little memory", "a terminal"),
	tests("probing", "TestAskWaitsForNoChild", "TestAskKeepsItsLimit"),
	cases("output", "TestStreamsArriveWhole", "10 MB of lines", "a line of 5 MB", "NUL bytes", "no last newline",
		"nothing", "only newlines", "invalid UTF-8", "deeply nested", "duplicate keys", "carriage returns",
		"escapes of a model"),
	cases("output", "TestMuchOutput", "1 GB of lines", "a line of 1 GB"),
	tests("output", "TestScripts/longresult", "TestBackPressure", "TestClosedStdout", "TestUnreadStdout",
		"TestTheToolLearnsThatTheCallerHasGone", "TestTheAnswerWaits", "TestSlowlyReadAfterASignal",
		"TestAnAnswerIntoAFullDevice", "TestCutShort", "TestGrandchildHoldsStdout", "TestOutputAfterTheEnd",
		"TestOutputAfterTheEndUnread", "TestManagedAtATerminal", "TestScripts/foreign", "TestNoRoomToHold",
		"TestDiskFillsUp", "TestAHastyToolLosesNothing", "TestBreakingDownOverOutput", "TestCodexLongAnswer"),
	cases("streams", "TestNonBlockingStreams", "non-blocking pipes", "non-blocking sockets"),
	tests("streams", "TestClosedStaysClosed"),
	cases("stdin", "TestStdinOfEveryKind", "a pipe", "a file read in part", "a socket"),
	tests("stdin", "TestOpenSilentStdin", "TestEndlessStdin", "TestTooMuchIsHandedOnWhole",
		"TestStdinUnderALimitOnFiles"),
	tests("PATH", "TestScripts/loop", "TestScripts/notfound", "TestWithoutPATH", "TestGuard", "TestResolve",
		"TestFindOddInput"),
	tests("the tool's files", "TestScripts/oddhome", "TestSessionPathsInOddFolders", "TestLostEvents",
		"TestNoWatchesToBeHad", "TestAFileThatNeverRests"),
	tests("the log", "TestTheLogIsSetAsideOnce", "TestForgetWhileTheLogIsSetAside"),
	tests("names", "TestScripts/escapes"),
	tests("uninstalling", "TestRepository"),
	tests("a repository", "TestTheRepositoryChangesNothing", "TestScripts/files", "TestGitRunsNothing"),
	cases("a model says", "TestHostileAnswers", "a session id", "a banner", "a result event", "a result on a line",
		"an init event", "a refusal", "an overflow", "an option as id", "escapes", "NUL bytes", "separators", "no text",
		"deep nesting", "16 MB", "half an escape", "braces on their own"),
	cases("an event", "TestHostileEvents", "deep nesting", "deep objects", "another type of id", "an id as a number",
		"an id deep inside", "an array", "bad UTF-8 in the id", "cut short", "two on a line", "not JSON", "huge numbers"),
	cases("a prompt", "TestWholeWhereADeltaMisleads", "no UTF-8"),
	tests("an event", "TestDuplicateKeys", "TestEventShapesDrift", "TestOddEvents"),
	tests("ids", "TestHostileIDs", "TestNoIDOfAnotherFormIsResumed"),
	tests("the ledger", "TestARowIsNotUsedAgain", "TestFiguresBeyondReason"),
	tests("a resume", "TestNothingOutlivesARunThatIsGivenUp", "TestScripts/fallback"),
)

// cases are kinds that are cases of one test, by their names there.
func cases(subject, test string, names ...string) []kind {
	for i, name := range names {
		names[i] = test + "/" + name
	}
	return tests(subject, names...)
}

// tests are kinds that tests try.
func tests(subject string, names ...string) (kinds []kind) {
	for _, name := range names {
		kinds = append(kinds, kind{subject, name[strings.LastIndexByte(name, '/')+1:], func(w *world) { w.test(name) }})
	}
	return kinds
}

// test runs a test. A missing test counts as a failure.
func (w *world) test(name string) {
	name = strings.ReplaceAll(name, " ", "_")
	levels := strings.Split(regexp.QuoteMeta(name), "/")
	t, err := w.compile(levels[0])
	if err != nil {
		w.lose("%s: %v", name, err)
		return
	}
	cmd := exec.Command(t.path, "-test.v", "-test.run", "^"+strings.Join(levels, "$/^")+"$")
	cmd.Dir, cmd.Env = t.dir, append(os.Environ(), "REPRISE_INSTALL=1") // some run only then, since they take long
	out, err := cmd.CombinedOutput()
	switch {
	case strings.Contains(string(out), "--- SKIP: "+name+" ("):
		w.skip(errors.New("its test does not run here"))
	case err != nil || !strings.Contains(string(out), "--- PASS: "+name+" ("):
		w.lose("%s in %s: %v: %s", name, t.dir, err, out)
	}
}

// A testProgram has the tests of a package, and runs in its directory.
type testProgram struct{ path, dir string }

// compile compiles the package that has a test, once.
func (p programs) compile(test string) (t testProgram, err error) {
	pkg, err := packageOf(test)
	if err != nil {
		return t, err
	}
	if t, ok := p.compiled[pkg]; ok {
		return t, nil
	}
	t.path = filepath.Join(filepath.Dir(p.shims), strings.ReplaceAll(pkg, "/", "-")+".test")
	if out, err := exec.Command("go", "test", "-c", "-o", t.path, pkg).CombinedOutput(); err != nil {
		return t, fmt.Errorf("compile the tests of %s: %w: %s", pkg, err, out)
	}
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", pkg).Output()
	t.dir = strings.TrimSpace(string(dir))
	p.compiled[pkg] = t
	return t, err
}

// packageOf returns the package that has a test: tests move.
func packageOf(test string) (string, error) {
	out, _ := exec.Command("git", "grep", "-l", "--full-name", "^func "+test+"(", "--", ":/*_test.go").Output()
	files := strings.Fields(string(out))
	if len(files) == 1 {
		return "reprise/" + path.Dir(files[0]), nil
	}
	return "", fmt.Errorf("find the package of %s: it is in %q", test, files)
}
