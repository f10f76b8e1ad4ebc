package chaos

import (
	"bytes"
	"cmp"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"reprise/ledger/proc"
	"reprise/test/harness"
	"reprise/test/player"
)

// check checks a call that has ended: the caller got the tool's output, and the tool got the
// caller's input.
func (c *Call) check() {
	c.count()
	runs := c.toolRuns()
	for i := range runs {
		c.checkRun(i, &runs[i], runs)
	}
	c.checkStatus()
	if c.talk == nil {
		c.checkOutput()
	} else {
		c.checkTalk()
	}
	c.checkReason()
}

func (c *Call) fail(format string, args ...any) { c.world.violate(c, format, args...) }

func (c *Call) count() {
	t, tool := c.world.tally, c.thread.Tool
	leaves := ""
	if c.talk != nil {
		leaves = c.talk.leaves
	}
	for what, is := range map[string]bool{
		"calls":                              true,
		"calls of " + tool:                   true,
		"tool: " + string(c.Script.Ending):   len(c.runs) > 0 && c.Script.Ending != player.Well,
		"stopped for a while: " + c.Blow.Who: c.Blow.Stop > 0,
		fmt.Sprintf("signal to the %s: %v", c.Blow.Who, c.Blow.Signal): c.hit,
		"conversations":             c.talk != nil,
		"caller " + leaves:          leaves != "",
		"limit on the shim's files": c.limit > 0,
		"tool: very long line":      c.Script.Huge > 0,
		"tool: no final newline":    c.Script.NoFinal,
		"reader: " + readers[c.To]:  c.To != harness.Reader,
		"stdin: " + c.Stdin:         c.Stdin != "null",
	} {
		if is {
			t.add(what)
		}
	}
	for _, r := range c.runs {
		t.add("runs")
		if !r.Resumed {
			continue
		}
		t.add("resumes")
		t.add("resumes of " + tool)
		if r.Refused {
			// another run has deleted it
			t.add("resumes that the tool did not take: " +
				string(cmp.Or(c.Script.OnResume, player.Unknown)))
		}
	}
}

// checkRun is the oracle for safety. It compares the prompt of this run of the tool with
// the marks that the session knew.
func (c *Call) checkRun(i int, r *player.Run, runs []player.Run) {
	t, w := c.thread, c.world
	sent, told := player.Marks(c.Sent), player.Marks(r.Prompt)
	if !r.Resumed {
		// it was killed before it read, or reads nothing
		unread := r.Exit < 0 || c.talk != nil && c.Script.Ending == player.Early
		if r.Prompt != c.Sent && !(unread && r.Prompt == "") {
			c.fail("a fresh session is not sent the caller's prompt: %d bytes in place of %d",
				len(r.Prompt), len(c.Sent))
		}
		if len(r.Asked) > 0 && !r.Refused {
			c.fail("a fresh session has a history")
		}
	}
	if r.Busy {
		c.fail("two processes at one session")
	}
	// A binary that has not accepted additions yet runs once more as written if it fails with them.
	trial := i == 1 && runs[0].Exit > 0 && !slices.Equal(runs[0].Args, c.Args) &&
		slices.Equal(r.Args, c.Args)
	if i > 1 || i == 1 && !trial && (!runs[0].Resumed || r.Resumed) {
		c.fail("run too often")
	}
	if w.all && !slices.Equal(r.Args, c.Args) {
		c.fail("changed although it can only be passed through: %.200q", r.Args)
	}
	if !r.Resumed || r.Session == "" || r.Refused || r.Prompt == "" {
		return
	}
	known := append(slices.Clone(r.Asked), r.Said...)
	if len(known) == 0 {
		return // killed before it read
	}
	if foreign := w.marks.foreign(t, append(known, told...)); len(foreign) > 0 {
		c.fail("UNSAFE: the session has seen what is not of %s: %v", t.Key, foreign)
	}
	for _, m := range sent {
		if !slices.Contains(known, m) && !slices.Contains(told, m) {
			c.fail("LOST: %s is neither in the session nor in the prompt that it was sent", m)
		}
	}
	for _, m := range told {
		if !slices.Contains(sent, m) {
			c.fail("UNSAFE: told %s, which the caller did not send", m)
		}
	}
	if c.message.fresh || c.callers() {
		c.fail("UNSAFE: resumed although it must be fresh")
	}
	if c.own != "" && r.Session != c.own {
		c.fail("the session is %s, the caller chose %s", r.Session, c.own)
	}
	if !t.Named {
		c.checkHistory(r, sent)
	}
	if t.Style != Transcript {
		opening, _, _ := strings.Cut(c.Sent, "\n")
		if !strings.HasPrefix(r.Prompt, opening) ||
			!strings.Contains(r.Prompt[max(0, len(r.Prompt)-200):], "STATUS: REVIEW") {
			c.fail("LOST: opening or closing of the prompt")
		}
	}
	if before := w.before(r); before != nil && before.Exit != 0 &&
		before.Results != 1+len(before.Later) {
		c.fail("UNSAFE: resumed after a run that ended with %d (-1: it was killed)", before.Exit)
	}
	if w.stale[r.From] {
		c.fail("UNSAFE: resumed after the clock has jumped")
	}
}

// before returns the session's last run before this one, nil if there was none.
func (w *World) before(r *player.Run) (last *player.Run) {
	for _, other := range w.runs("*") {
		if other.Session == r.From && other.Start < r.Start && !other.Refused {
			last = &other
		}
	}
	return last
}

// checkHistory checks that without a name a session is continued only if the prompt repeats
// everything that it was sent and, in a conversation, everything that it answered.
func (c *Call) checkHistory(r *player.Run, sent []string) {
	must := r.Asked
	if c.thread.Style == Transcript {
		must = append(slices.Clone(must), r.Said...)
	}
	for _, m := range must {
		if !slices.Contains(sent, m) {
			c.fail("UNSAFE: the session knows %s, which this prompt takes back", m)
		}
	}
}

// checkStatus checks that the caller sees the tool's own exit code or signal.
func (c *Call) checkStatus() {
	ws, _ := c.State.Sys().(syscall.WaitStatus)
	if len(c.runs) == 0 {
		if !c.hit {
			c.fail("the tool was not run")
		}
		return
	}
	last := c.runs[len(c.runs)-1]
	last.Exit = c.exit(last)
	signaled := func(s syscall.Signal) bool { return ws.Signaled() && ws.Signal() == s }
	switch {
	case last.Exit >= 0 && !ws.Signaled() && ws.ExitStatus() == last.Exit:
	case c.hit && signaled(c.Blow.Signal):
	case last.Exit < 0 && c.Script.Ending == player.Died && !last.Refused &&
		signaled(c.Script.Signal):
	case last.Exit < 0 && c.listensBadly() && signaled(syscall.SIGPIPE):
	default:
		c.fail("another end than the tool's")
		return
	}
	if last.Refused && !c.hit {
		c.fail("the caller sees a refusal")
	}
}

// exit returns a run's exit code in the caller's format.
func (c *Call) exit(r player.Run) int {
	if c.Script.Ending == player.Limit && !r.Refused && r.Exit > 0 {
		return player.LimitExit(c.thread.Tool, c.thread.Format)
	}
	return r.Exit
}

func (c *Call) listensBadly() bool {
	return c.talk != nil && c.talk.leaves == leavesDead || c.To == harness.Leaves ||
		c.To == harness.Gone || c.To == harness.Closed
}

// checkOutput compares every byte of the tool's last run, in the requested format.
func (c *Call) checkOutput() {
	// all that a run prints that has no session yet
	ended, want := false, player.Shown{Stderr: player.Notice(c.thread.Tool, c.Args)}
	if len(c.runs) > 0 {
		last := c.runs[len(c.runs)-1]
		ended = c.State.ExitCode() >= 0 && c.exit(last) == c.State.ExitCode() ||
			c.Script.Ending == player.Died && !c.hit
		last.Args, last.Prompt = c.Args, c.Sent
		// A refusal must not be visible. But one of a killed call that has said nothing of it yet
		// cannot be recognized.
		silent := last.Refused && c.hit &&
			(c.Script.OnResume == player.Silent || c.Script.OnResume == player.OtherID)
		ended = ended && !silent
		if silent || !last.Refused && (last.Session != "" || c.Script.Ending == player.Early) {
			want = player.Show(c.thread.Tool, c.thread.Format, c.Script, last, 1)
			if last.Resumed && c.thread.Tool == "copilot" {
				want.Stderr = harness.WithoutFigures(want.Stderr)
			}
		}
	}
	stdout, stderr := []byte(c.Stdout), []byte(c.Stderr)
	if c.verbose {
		stderr = removeVerbose(stderr)
	}
	whole := ended && !c.listensBadly()
	c.compare("stdout", stdout, want.Stdout, whole)
	if c.To == harness.Leaves && ended && len(want.Stdout) > 0 && len(stdout) == 0 {
		c.fail("its first line is missing")
	}
	c.compare("stderr", stderr, want.Stderr, whole)
}

// removeVerbose removes the lines that REPRISE_VERBOSE adds.
func removeVerbose(stderr []byte) []byte {
	for bytes.HasPrefix(stderr, []byte("reprise: ")) {
		_, stderr, _ = bytes.Cut(stderr, []byte("\n"))
	}
	return stderr
}

func (c *Call) compare(what string, got []byte, want string, whole bool) {
	if whole && string(got) == want || !whole && strings.HasPrefix(want, string(got)) {
		return
	}
	c.fail("it is not the tool's (whole: %v): %q", whole, harness.Differ(what, want, string(got)))
}

// checkReason checks that no session is busy for a caller that has waited for its last call to end.
func (c *Call) checkReason() {
	for line := range strings.Lines(c.Stderr) {
		text, ours := strings.CutPrefix(line, "reprise: "+c.thread.Tool+": ")
		if !c.verbose || !ours {
			return
		}
		c.world.tally.add("decision: " + strings.TrimSpace(text))
		if strings.Contains(text, "(leased)") && !c.beside {
			c.fail("a lease is stuck: nobody else calls on this chain")
		}
	}
}

// checkRound checks the files and rows that a round has left behind.
func (w *World) checkRound() {
	w.checkFiles()
	if _, err := os.Stat(w.Ledger()); err != nil {
		return // there was none, or it was removed
	}
	db, err := harness.OpenLedger(w.Ledger())
	if err != nil {
		w.violate(nil, "open ledger: %v", err)
		return
	}
	defer db.Close()
	var result string
	if err := db.QueryRow("PRAGMA integrity_check").Scan(&result); err != nil || result != "ok" {
		w.violate(nil, "the ledger is not sound: %v %s", err, result)
		return
	}
	w.checkRows(db, "a row refers to one that is not there", "PRAGMA foreign_key_check")
	w.checkRows(db, "one session of the tool is live twice",
		"SELECT native_id, count(*) FROM sessions WHERE state = 'live' GROUP BY tool, native_id "+
			"HAVING count(*) > 1")
	w.checkRows(db, "a chain would not be found by how its session was begun",
		"SELECT c.id FROM chains c JOIN sessions s ON s.id = c.session_id WHERE c.task = '' AND "+
			"c.first_line <> substr(s.base, 1, 16)")
	// Each turn of the player costs a quarter of a dollar, with any costs of the session before.
	w.checkRows(db, "a call has another's cost",
		"SELECT id FROM calls WHERE tool = 'claude' AND cost % 250000000 <> 0")
	w.checkLeases(db)
}

// checkRows reports the rows that a query finds.
func (w *World) checkRows(db *sql.DB, what, query string) {
	rows, err := db.Query(query)
	if err != nil {
		w.violate(nil, "%s: %v", query, err)
		return
	}
	defer rows.Close()
	n := 0
	for rows.Next() {
		n++
	}
	if n > 0 {
		w.violate(nil, "%s: %d", what, n)
	}
}

// checkLeases checks that no session is held when no process is alive.
func (w *World) checkLeases(db *sql.DB) {
	rows, err := db.Query("SELECT session_id, boot, pid, pid_start, child, child_start FROM leases")
	if err != nil {
		w.violate(nil, "read leases: %v", err)
		return
	}
	defer rows.Close()
	for rows.Next() {
		var session int64
		var shim, tool proc.Process
		if err := rows.Scan(&session, &shim.Boot, &shim.PID, &shim.Start, &tool.PID,
			&tool.Start); err != nil {
			w.violate(nil, "read leases: %v", err)
			return
		}
		tool.Boot = shim.Boot
		if shim.Alive() || tool.Alive() {
			w.violate(nil, "the lease of session %d is stuck: %+v, %+v", session, shim, tool)
		}
	}
}

// checkFiles checks that no temporary files are left, and that our files contain no text of a
// prompt or an answer.
func (w *World) checkFiles() {
	left, _ := filepath.Glob(filepath.Join(w.Tmp, "*"))
	if len(left) > 0 && !w.killed {
		w.violate(nil, "temporary files are left: %v", left)
	}
	for _, path := range left {
		_ = os.RemoveAll(path) // of a shim that was killed between making and removing one
	}
	for _, exposed := range w.Exposed(player.Mark) {
		w.violate(nil, "%s", exposed)
	}
}
