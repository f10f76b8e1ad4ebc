package prompt

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"reprise/rewrite/reason"
)

// longReply is an answer that no prompt holds by chance.
const longReply = "I changed the loop in src/retry.py and added a test."

// unnamedSent returns the stored texts of a session that was first sent root, then before.
func unnamedSent(root, before string, answers ...string) Sent {
	first := New(root, testKey).Footprint()
	sent := sentTo(before, answers...)
	sent.Named, sent.RootFirst, sent.Root = false, first.First, first.Blocks
	return sent
}

// A prompt without a name revises only if the first one is there whole, and the additions of later
// rounds are replaced.
func TestRoots(t *testing.T) {
	const root = "You are it.\n\nBuild the page.\n\nKeep it small."
	const before = root + "\n\nThe header is gone."
	for name, tt := range map[string]struct {
		after string
		want  reason.Code
	}{
		"later feedback replaced": {root + "\n\nThe footer is gone.", reason.Revises},
		"something new within": {strings.Replace(root, "\n\nKeep", "\n\nNow:\n\nKeep", 1) +
			"\n\nThe footer is gone.", reason.Revises},
		"the first prompt changed": {strings.Replace(root, "page", "cart", 1) +
			"\n\nThe header is gone.\n\nIt leaks.", reason.Unrelated},
		"a block of it gone": {
			"You are it.\n\nBuild the page.\n\nThe header is gone.\n\nIt leaks.", reason.Unrelated},
		"its blocks in another order": {
			"You are it.\n\nKeep it small.\n\nBuild the page.\n\nIt leaks.", reason.Unrelated},
		"below a line of its own": {"Original task:\n" + root + "\n\nThe footer is gone.",
			reason.Revises},
		"below a paragraph": {"Original task:\n\n" + root + "\n\nThe footer is gone.",
			reason.Revises},
		"below a text longer than it": {strings.Repeat("Other words. ", 20) + "\n\n" + root +
			"\n\nThe footer is gone.", reason.Unrelated},
		"all of it below a line": {"Original task:\n" + before, reason.Extends},
		"below as many blocks as may": {strings.Repeat("a\n\n", longestLeadIn) + root +
			"\n\nThe footer is gone.", reason.Revises},
		"below one block more": {strings.Repeat("a\n\n", longestLeadIn+1) + root +
			"\n\nThe footer is gone.", reason.Unrelated},
		"its first line within a fence": {"Task:\n```\nYou are it.\n```\n\nBuild the page.",
			reason.Unrelated},
	} {
		p := New(tt.after, testKey)
		c := Compare(unnamedSent(root, before, "Done."), p)
		if c.Replaced {
			c.Relation = reason.Unrelated // but for a few places
		}
		if c.Relation != tt.want || len(c.Has) != len(p.blocks) {
			t.Errorf("%s: %s, want %s; %d marks for %d blocks", name, c.Relation, tt.want,
				len(c.Has), len(p.blocks))
		}
	}
	sent := unnamedSent(root, before, "Done.")
	sent.Root, sent.RootFirst = nil, Digest{} // of an older ledger
	if c := Compare(sent, New(root+"\n\nThe footer is gone.", testKey)); !c.Replaced {
		t.Errorf("not knowing the first prompt: %s", c.Relation)
	}
	c := Compare(unnamedSent(root, before, "Done."), New("Original task:\n"+before, testKey))
	if c.BeginsAlike || !slices.Equal(c.Has, []bool{false, true, true, true}) {
		t.Errorf("begins alike %v, has %v", c.BeginsAlike, c.Has)
	}
	if c := Compare(unnamedSent(root, "Original task:\n\n"+root),
		New("Original task:\n"+root+"\n\nIt leaks.", testKey)); c.Relation != reason.Extends {
		t.Errorf("without the empty line: %s", c.Relation)
	}
	if c := Compare(unnamedSent(root, before, "Done."),
		New(before+"\n\nmore", testKey)); !c.BeginsAlike {
		t.Error("a prompt that begins alike does not")
	}
}

// A prompt is the same to every session, whichever it was compared with before.
func TestCuttingChangesNothing(t *testing.T) {
	const root = "Build the page.\nKeep it small."
	p := New("Original task:\n"+root, testKey)
	Compare(unnamedSent(root, root, "Done."), p)
	if c := compare(p.Text, p.Text); c.Relation != reason.Identical {
		t.Fatal(c.Relation)
	}
	if c := Compare(sentTo(p.Text), p); c.Relation != reason.Identical {
		t.Errorf("to itself, once it was cut: %s", c.Relation)
	}
	// The line of an earlier prompt can belong to no block: it is where a conversation in JSON
	// begins.
	for _, before := range []string{"", "intro\n\n"} {
		odd := New(before+"  {\n \"role\": \"user\", \"content\": \"x\"\n  }", testKey)
		if c := Compare(unnamedSent("  {\n not JSON", "  {\n not JSON"), odd); c.Relation !=
			reason.Unrelated {
			t.Errorf("behind %q: %s", before, c.Relation)
		}
		if cut, _ := odd.cutAt(testKey.Digester()(
			" \"role\": \"user\", \"content\": \"x\"")); cut != nil {
			t.Errorf("behind %q: a message is cut", before)
		}
	}
}

// A place that said that it was empty can be filled, and a cue can be answered.
func TestGrownBlocks(t *testing.T) {
	for name, tt := range map[string]struct {
		before, after string
		want          reason.Code
	}{
		"a slot of its own": {"a\n\n(none)\n\nb", "a\n\nIt leaks.\n\nb", reason.Revises},
		"a slot and more": {"a\n\n(none)\n\nb", "a\n\nIt leaks.\n\nFix it.\n\nb",
			reason.Revises},
		"below its line": {"a\n\nFeedback:\nNone yet.\n\nb",
			"a\n\nFeedback:\nIt leaks.\nFix it.\n\nb", reason.Revises},
		"behind its name": {"a\n\nFeedback: n/a\n\nb",
			"a\n\nFeedback: fix this: it leaks.\n\nb", reason.Revises},
		"behind another name": {"a\n\nFeedback: n/a\n\nb", "a\n\nHint: it leaks.\n\nb",
			reason.Unrelated},
		"a slot with words": {"a\n\nFeedback: all fine\n\nb",
			"a\n\nFeedback: it leaks.\n\nb", reason.Unrelated},
		"a text elsewhere": {"a\n\n(none)\n\nb\n\nc", "a\n\nb\n\nx\n\nc",
			reason.Unrelated},
		"a cue answered on its line": {"a\n\nQ: b\nAssistant:", "a\n\nQ: b\nAssistant: c\n\nQ: d",
			reason.Extends},
		"a cue of one line": {"a\n\nReport:", "a\n\nReport: c\n\nFix it.", reason.Extends},
		"no cue":            {"a\n\nReport: b", "a\n\nReport: c", reason.Unrelated},
		"another line over the cue": {"a\n\nQ: b\nReport:", "a\n\nQ: c\nReport: c",
			reason.Unrelated},
		"a heading with a colon": {"a\n\n## Report:", "a\n\n## Report: c", reason.Unrelated},
	} {
		sent := sentTo(tt.before, "c")
		sent.Named = false
		c := Compare(sent, New(tt.after, testKey))
		if c.Replaced {
			c.Relation = reason.Unrelated // but for a few places
		}
		if c.Relation != tt.want {
			t.Errorf("%s: %s, want %s", name, c.Relation, tt.want)
		}
	}
	if e := compare("a\n\nQ: b\nReport:", "a\n\nQ: b\nReport: "+longReply+"\n\nQ: d",
		longReply).Evidence; e.Answer != len(longReply) {
		t.Errorf("an answer behind its cue: %d bytes", e.Answer)
	}
	lines := []string{}
	c := compare("a\n\nWhat was said of the last one:\n(none)\n\nb",
		"a\n\nWhat was said of the last one:\nIt leaks where it should not at all.\n\nb", "c")
	for _, l := range c.Evidence.New() {
		lines = append(lines, l.Text)
	}
	if want := []string{"It leaks where it should not at all."}; !slices.Equal(lines, want) {
		t.Errorf("new where a slot was filled: %q", lines)
	}
}

// The words right before the answer, or a place that was left for it, say that it is the session's.
func TestOwnAnswers(t *testing.T) {
	const base = "You are the coder.\n\nBuild the page."
	two := longReply + "\nThe page is drawn from the cart."
	for name, tt := range map[string]struct {
		before, added, answer string
		length                int
		own                   bool
	}{
		"named": {base, "\n\nYour last report:\n" + longReply + "\n\nFix it.",
			longReply, len(longReply), true},
		"named on its line": {base, "\n\nYour last report: " + longReply + "\n\nFix it.",
			longReply, len(longReply), true},
		"named in Japanese": {base, "\n\nあなたの前回の報告：\n" + longReply, longReply,
			len(longReply), true},
		"a paragraph below": {base, "\n\nYour last report:\n\n" + longReply, longReply,
			len(longReply), true},
		"in a list": {base, "\n\nYour last report:\n- " + strings.ReplaceAll(two,
			"\n", "\n- "), two, len(two) - 1, true},
		"followed by something": {base, "\n\nYour last report: " + longReply + " Fix it.",
			longReply, len(longReply), false},
		"under no name": {base, "\n\n" + longReply + "\n\nFix it.", longReply,
			len(longReply), false},
		"under another's name": {base, "\n\nThe ticket:\n" + longReply, longReply,
			len(longReply), false},
		"half of it": {base, "\n\nYour last report:\n" + longReply, two, 0, false},
		"too short":  {base, "\n\nYour last report:\nDone.", "Done.", 0, false},
		"as long as must be": {base, "\n\nYour last report:\n" + strings.Repeat("a",
			distinctiveAnswer), strings.Repeat("a", distinctiveAnswer), distinctiveAnswer, true},
		"a byte shorter": {base, "\n\nYour last report:\n" + strings.Repeat("a",
			distinctiveAnswer-1), strings.Repeat("a", distinctiveAnswer-1), 0, false},
		"in a slot": {base + "\n\n(none)", base + "\n\n" + longReply, longReply,
			len(longReply), true},
		"a short one in a slot": {base + "\n\n(none)", base + "\n\nDone.", "Done.", 0, false},
		"where it was before": {base + "\n\n" + longReply, "\n\nFix it.", longReply, 0,
			false},
		"the name far above": {base, "\n\nYour last report was late.\n\nThe log:\n" +
			longReply, longReply, len(longReply), false},
		"at the very beginning": {"Build the page.", longReply + "\n\nFix it.", longReply,
			len(longReply), false},
		"a colon in the answer": {base, "\n\nNow:\nyour last report: " + longReply,
			"your last report: " + longReply, len("your last report: " + longReply), false},
		"not on a line that says it": {base, "\n\nYour last report: see below.\n\nThe ticket:\n" +
			longReply, longReply, len(longReply), false},
	} {
		after := tt.added
		if strings.HasPrefix(after, "\n") {
			after = tt.before + after
		}
		e := compare(tt.before, after, tt.answer).Evidence
		if e.Answer != tt.length || e.Own != tt.own {
			t.Errorf("%s: %d bytes, own %v; want %d, %v", name, e.Answer, e.Own, tt.length, tt.own)
		}
	}
}

// The words of another role of the task are no answer of the session.
func TestOtherRolesWords(t *testing.T) {
	key, roles := Key("a key for tests"), []string{"coder", "tester #0123", " #coder", ""}
	for added, want := range map[string]bool{
		"The coder said: it changed store.go.": false, "Coder report:\n\nDone.": false,
		"## The coder's last report\n\nDone.": false,
		"The developer said: it is done.":     true, "Your coder said: it is done.": true,
		"Your last report: done.": true, "Previous coder answer: done.": true,
		"The coder said: done.\n\nYour last report: done.": true,
	} {
		base := New("Review it.\n\nBe strict.", key)
		c := Compare(Sent{Base: base.Footprint(), RootFirst: base.Footprint().First,
			Root: base.Footprint().Blocks, Named: true, Others: roles},
			New(base.Text+"\n\n"+added, key))
		if (c.Evidence.Shown != "") != want {
			t.Errorf("%q is an answer of the session: %q", added, c.Evidence.Shown)
		}
	}
}

// An answer under the session's name that is not its newest one speaks against a resume.
func TestShownAnswers(t *testing.T) {
	const base = "You are the coder.\n\nBuild the page."
	for added, want := range map[string]string{
		"Your last report:\nI did something else.": "Your last report:",
		"Your last report: I did something else.": "Your last report: I did " +
			"something else.",
		"## Your last report\n\nI did something else.":         "## Your last report",
		"**Your last report**\n\nI did something else.":        "**Your last report**",
		"Dein letzter Bericht:\nAlles fertig.":                 "Dein letzter Bericht:",
		"你的报告：\n完成了。":                                          "你的报告：",
		"Your report:\nfirst\n\nYour summary:\nsecond":         "Your report:",
		"Your last report was late.":                           "",
		"Your last report":                                     "",
		"The ticket:\nI did something else.":                   "",
		"Your " + strings.Repeat("x", 44) + " last report:\nx": "",
		"Your " + strings.Repeat("x", 43) + " last report:\nx": "Your " +
			strings.Repeat("x", 43) + " last report:",
		"The reviewer rejected your last report: it is too long.": "",
	} {
		e := compare(base, base+"\n\n"+added, longReply).Evidence
		if e.Shown != want {
			t.Errorf("%q: %q, want %q", added, e.Shown, want)
		}
		if found := e.Against(nil); (ReasonAgainst(found) == reason.HistoryEdited) != (want != "") {
			t.Errorf("%q: %v", added, found)
		}
	}
	both := compare(base, base+"\n\nYour report:\n"+longReply+"\n\nYour summary:\nother\n\nFix it.",
		longReply).Evidence
	if found := both.Against(nil); both.Answer == 0 || both.Shown == "" || len(found) > 0 {
		t.Errorf("beside the session's own answer: %d bytes, %q, %v", both.Answer, both.Shown,
			found)
	}
}

// The name over the session's own answer is the caller's word on it.
func TestNameOverAnswer(t *testing.T) {
	const base = "You are the coder.\n\nBuild the page."
	for name, want := range map[string]string{
		"Answer to check:\n": "rival", "Un confrère a répondu :\n« ": "rival",
		"The author claims: \"": "rival", "Antwort, unabhängig zu prüfen:\n": "apart",
		"Your answer:\n": "", "The page: ": "",
	} {
		var kinds []string
		e := compare(base, base+"\n\n"+name+longReply+"\n\nGo on.", longReply).Evidence
		for _, f := range e.Against(nil) {
			kinds = append(kinds, f.Kind)
		}
		if got := strings.Join(kinds, " "); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	// A line that the session was sent, and now stands above the answer, is no name.
	const graded = base + "\n\nGrade the work."
	e := compare(graded, graded+"\n\n"+longReply+"\n\nGo on.", longReply).Evidence
	if found := e.Against(nil); e.Answer == 0 || len(found) > 0 {
		t.Errorf("below the session's prompt: %d bytes, %v", e.Answer, found)
	}
}

// New text can name a file or an item that the session touched.
func TestTraceNames(t *testing.T) {
	const base = "You are the coder.\n\nBuild src/old_page.go."
	sent := sentTo(base, "Done.")
	for _, name := range []string{"retry.py", "additem", "one.go", "two.go", "old_page.go"} {
		sent.Things = append(sent.Things, newWordDigest(testKey.Digester()(name)))
	}
	for added, want := range map[string]string{
		"See src/Retry.py:12, and retry.py too.":              "retry.py",
		"FAILED addItem":                                      "additem",
		"FAILED other.go":                                     "",
		"retry.go:1 one.go, two.go, retry.py, addItem.":       "one.go",
		"E  one.go\n\nE  two.go\n\nE  retry.py\n\nE  addItem": "one.go",
		"Keep in mind that retry.py is used elsewhere.":       "",
		"Relevant files:\nretry.py\naddItem":                  "",
		"Test output:\nretry.py is slow\n2 failed, 3 passed":  "retry.py",
		"1 failed\n\nretry.py":                                "",
		"retry.py failed":                                     "",
		"retry.py FAILED":                                     "retry.py",
		"  File \"retry.py\", line 3":                         "retry.py",
		"retry.py(12,3): no":                                  "retry.py",
		"panic: in addItem":                                   "additem",
		"error[E0502]: addItem":                               "additem",
		"--- FAIL: addItem (0.0s)":                            "additem",
		"KeyError: addItem":                                   "additem",
		"addItem: exit status 1":                              "additem",
		"addItem: exit status 0":                              "",
	} {
		if got := Compare(sent, New(base+"\n\n"+added, testKey)).Evidence.Trace; got != want {
			t.Errorf("%q: %q, want %q", added, got, want)
		}
	}
	sent.Answers = []Answer{NewAnswer(longReply+"\nSee retry.py.", nil, testKey)}
	e := Compare(sent, New(base+"\n\n"+longReply+"\nSee retry.py.", testKey)).Evidence
	if e.Trace != "" || e.Answer == 0 {
		t.Errorf("in the session's own answer: %q", e.Trace)
	}
}

// Words count in new text that the caller wrote, not in code, logs or quotations.
func TestWhereWordsCount(t *testing.T) {
	const base = "You are the coder.\n\nThe test still fails. Start over. Each request stands " +
		"alone.\n\nBuild the page."
	quoted := func(text string) bool {
		return text == "Start over, please." || text == "Log: Start over, now."
	}
	for added, want := range map[string]string{
		"It is red.":                   "past  against base",
		"The build still fails.":       "past still fails against base",
		"Start over.":                  "past  against clean base",
		"You are a judge. Start over.": "past  against role clean base",
		"Solve it on your own.":        "past  against apart base",
		"Grade the work of agent B.":   "past  against judge rival base",
		"Attempt 2 of 8.":              "past  against sample base",
		"Return a search query.":       "past  against meta base",
		"```\nStart over.\n```":        "past  against base",
		"```\nlog\n```\n\nStart over.": "past  against clean base",
		"~~~\n```\nStart over.\n~~~":   "past  against base",
		"Log:\n\n    Start over.":      "past  against base",
		"Log:\n\n\tStart over.":        "past  against base",
		"   Start over.":               "past  against clean base",
		"Start over, please.":          "past  against base",
		"- Start over, please.":        "past  against base",
		"Log: Start over, now.":        "past  against base",
		"Review: Start over, please.":  "past  against base",
	} {
		e := compare(base, base+"\n\n"+added, "Done.").Evidence
		got := "past " + e.Failure() + " against"
		for _, f := range e.Against(quoted) {
			got += " " + f.Kind
			if f.Words == "" {
				t.Errorf("%q: no words of %s", added, f.Kind)
			}
		}
		if strings.TrimSpace(got) != strings.TrimSpace(want) {
			t.Errorf("%q: %q, want %q", added, got, want)
		}
	}
	// The text that a revision keeps of later rounds is not new, but words there still count.
	const root = "You are the coder.\n\nBuild the page."
	sent := unnamedSent(root, root+"\n\nSolve it on your own.\n\nIt leaks.", "Done.")
	if e := Compare(sent, New(root+"\n\nSolve it on your own.\n\nIt drips.",
		testKey)).Evidence; len(e.Against(nil)) != 1 || e.Against(nil)[0].Kind != "apart" {
		t.Errorf("kept since the first prompt: %v", e.Against(nil))
	}
	// In a conversation a turn can ask for a judgement.
	talk := compare("Be kind.\n\nUser: one",
		"Be kind.\n\nUser: one\n\nAssistant: first\n\nUser: Grade the work of agent B. Start over.",
		"first").Evidence
	if found := talk.Against(nil); !talk.Transcript || len(found) != 1 || found[0].Kind != "clean" {
		t.Errorf("in a conversation: %v", found)
	}
}

func TestReasonAgainst(t *testing.T) {
	if why := ReasonAgainst(nil); why != "" {
		t.Errorf("nothing: %s", why)
	}
	for kind, want := range map[string]reason.Code{"role": reason.NewRole, "judge": reason.NewRole,
		"rival": reason.NewRole, "apart": reason.NewRole, "meta": reason.NewRole,
		"clean": reason.CleanStart, "base": reason.CleanStart, "sample": reason.NoEvidence,
		"arm": reason.NoEvidence, "shown": reason.HistoryEdited} {
		if why := ReasonAgainst([]Finding{{kind, "words"}, {"base", "words"}}); why != want {
			t.Errorf("%s: %s, want %s", kind, why, want)
		}
	}
}

// The lines by which others' answers are recognized are long enough not to recur, whatever stands
// before them.
func TestNewLines(t *testing.T) {
	const base = "You are the coder.\n\nBuild the page as the plan says."
	p := New(base+"\n\nFix it.\n- The **lock** is taken too late here!\nNote: three more "+
		"words\n\nReview: The lock is released too early.", testKey)
	e := compare(base, p.Text, "Done.").Evidence
	var got []string
	for _, l := range e.New() {
		got = append(got, l.Text)
		if want := newWordDigest(testKey.Digester()(plainLine(l.Text))); l.Digest != want {
			t.Errorf("%q has another mark", l.Text)
		}
	}
	want := []string{"The **lock** is taken too late here!",
		"- The **lock** is taken too late here!", "The lock is released too early.",
		"Review: The lock is released too early."}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	split := compare(base, base+"\n\nYour last report:\n"+longReply+"\nThis much is true, says "+
		"the log.\nThe page is drawn from the cart.",
		longReply+"\nThe page is drawn from the cart.").Evidence
	if lines := split.New(); len(lines) != 1 ||
		lines[0].Text != "This much is true, says the log." {
		t.Errorf("between the lines of the answer: %v", lines)
	}
	digest := testKey.Digester()
	marks := p.LineDigests()
	for line, want := range map[string]bool{"build the page as the plan says": true,
		"the lock is released too early": true, "review the lock is released too early": true,
		"you are the coder": false, "fix it": false} {
		if marks[newWordDigest(digest(line))] != want {
			t.Errorf("marks of %q: %v", line, !want)
		}
	}
}

// A heading that takes another's place begins another item; the number of a round does not.
func TestOtherItems(t *testing.T) {
	const rules = "You keep the shop.\n\nKeep changes small.\n\nRun the tests.\n\nMend it.\n\n"
	for _, test := range []struct {
		before, after string
		replaced      bool
	}{
		{"# Issue 12\n\nIt fails at a.go:3: x", "# Issue 13\n\nIt fails at a.go:7: y", false},
		{"# Issue 12\n\nIt fails at a.go:3: x", "# Issue 13\n\nSee below.\n\na.go:7: y", false},
		{"# Log of 2026-11-20\n\na.go:3: x", "# Log of 2026-11-21\n\na.go:7: y", false},
		{"# Notes\n\na.go:3: x", "# Tests\n\na.go:7: y", false},
		{"# Round 2\n\na.go:3: x", "# Round 3\n\na.go:7: y", true},
		{"# Notes\n\na.go:3: x", "# Notes\n\na.go:7: y", true},
		{"# Notes\n\na.go:3: x", "# Notes\n\na.go:7: y\n\n# More\n\nb.go:1: z", true},
	} {
		sent := unnamedSent(rules+test.before, rules+test.before, "Done.")
		c := Compare(sent, New(rules+test.after, testKey))
		if c.Replaced != test.replaced {
			t.Errorf("%q after %q: %+v", test.after, test.before, c)
		}
	}
}

func TestDistinctiveLines(t *testing.T) {
	for line, want := range map[string]bool{"one two three four five": true,
		"one two three four": false, "one two three four 5": false,
		strings.Repeat("a", 30): true, strings.Repeat("a", 29): false,
		strings.Repeat("1", 40): false, "": false} {
		if distinctiveLine(line) != want {
			t.Errorf("%q: %v", line, !want)
		}
	}
	for line, want := range map[string]string{"- a": "a", "> * a": "a", "12. a": "a", "3) a": "a",
		"12 a": "12 a", "1.5 a": "5 a", "# a ": "a", "a - b": "a - b"} {
		if got := listItem(line); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

// A line below the limit is a first line of an earlier prompt, one beyond is not.
func TestFirstLines(t *testing.T) {
	var text strings.Builder
	for i := range maxFirstLines + 1 {
		fmt.Fprintf(&text, "%d\n \n", i)
	}
	lines, digest := New(text.String(), testKey).FirstLines(), testKey.Digester()
	if len(lines) != maxFirstLines || lines[0] != digest("0") ||
		lines[maxFirstLines-1] != digest(fmt.Sprint(maxFirstLines-1)) {
		t.Errorf("%d lines", len(lines))
	}
}

// The test of a file that the session changed is a trace of it in a log.
func TestTestsOfChangedFiles(t *testing.T) {
	const root = "You mend the shop.\n\n"
	for log, changed := range map[string]string{
		"FAIL cart_test.go:3: x":     "shop/cart.go",
		"FAIL test_cart.py:3: x":     "shop/cart.py",
		"FAIL spec/cart_spec.rb:3 x": "lib/cart.rb",
		"FAIL cart.test.ts:3: x":     "cart.ts",
		"FAIL CartTest.java:3: x":    "src/Cart.java",
		"FAIL cart_test.go:7: x":     "",
		"FAIL bill_test.go:3: x":     "",
		"FAIL test.go:3: x":          "",
	} {
		c := Compare(unnamedSent(root, root, "Done."), New(root+log, testKey))
		c.Evidence.AddChanged([]string{cmp.Or(changed, "shop/other.go")})
		if got := c.Evidence.Trace != ""; got != (changed != "") {
			t.Errorf("%q: %q", log, c.Evidence.Trace)
		}
	}
}

// A session's answer can stand in quotation marks.
func TestAnswersInQuotationMarks(t *testing.T) {
	const root, answer = "You mend the shop.\n\n", "The carts are mended, nineteen of forty-six."
	for _, text := range []string{`"` + answer + `"`, "“" + answer + "”", "« " + answer + " »",
		`Your report: "` + answer + `"`} {
		c := Compare(unnamedSent(root, root, answer), New(root+text, testKey))
		if c.Evidence.Answer != len(answer) {
			t.Errorf("%q: %+v", text, c.Evidence)
		}
	}
}

// An item's ID in replaced text is another item, unless the rest of the prompt has it too.
func TestItems(t *testing.T) {
	const root = "You mend the shop. Epic SH-4.\n\n"
	sent := unnamedSent(root, root+"Ticket: SH-12\n\ncart.go:3: wrong", "Done.")
	for after, item := range map[string]string{
		"Ticket: SH-13\nbill.go:7: wrong":              "Ticket: SH-13",
		"Case #7001 (Bistro)\n\nbill.go:7: wrong":      "Case #7001 (Bistro)",
		"Pull request 13 by ada\n\nbill.go:7: wrong":   "Pull request 13 by ada",
		"F-2 a wrong sum":                              "F-2 a wrong sum",
		"Ticket: SH-12 fails\n\ncart.go:7: wrong":      "Ticket: SH-12 fails",
		"SH-4 is not done\n\ncart.go:7: wrong":         "",
		"Attempt 13 has failed\n\ncart.go:7: wrong":    "",
		"cart.go:7: wrong, see SH-13":                  "",
		"Coverage: 88 %\n\n12 files, #3 is cart.go:7:": "",
	} {
		c := Compare(sent, New(root+after, testKey))
		if c.Relation != reason.Revises || c.Evidence.item() != item {
			t.Errorf("%q: %s, %q", after, c.Relation, c.Evidence.item())
		}
	}
}

// A prompt with few new places can be a later round, with another log. Another text without a log
// can be another assignment, whatever log stands in another section.
func TestOtherAssignments(t *testing.T) {
	const rules = "You keep the shop.\n\nKeep changes small.\n\nRun the tests.\n\n"
	before := rules + "You work on carts.\n\n## Notes\n\nbill.go:3: wrong"
	for after, logs := range map[string]bool{
		"You work on carts.\n\n## Notes\n\nbill.go:7: missing":                       true,
		"You work on carts.\n\n## Notes\n\nIt fails.\n\nbill.go:7: missing":          true,
		"You work on bills.\n\n## Notes\n\nbill.go:7: missing":                       false,
		"You work on carts.\n\n## Notes\n\na.go:7: b\n\n## Task\n\nDo bills.":        false,
		"You work on carts.\n\n## Task\n\nDo bills.\n\n## Notes\n\na.go:7: b":        false,
		"You work on carts.\n\n## Review\n\nbill.go:7: a\n\n## Notes\n\na.go:7: b":   true,
		"You work on carts.\n\nUse euros.\n\n## Notes\n\nbill.go:3: it is wrong now": false,
	} {
		sent := unnamedSent(before, before, "Done.")
		if c := Compare(sent, New(rules+after, testKey)); !c.Replaced || c.Reassigned == logs {
			t.Errorf("%q: %+v", after, c)
		}
	}
}

// Of hundreds of sessions that were sent the same, each with an answer of its own, the words of the
// prompt are looked for once.
func TestWordsAreSearchedOnce(t *testing.T) {
	base := "You are the coder.\n\nFix the bug.\n\n"
	p := New(base+"It still fails.\n\nsrc/a.go:3: unexpected \"indent\"\n", testKey)
	searched := 0
	for i := range 5 {
		c := Compare(sentTo(base, fmt.Sprintf("I changed the loop, in try number %d.", i)), p)
		e := &c.Evidence
		if e.Failure() == "" || e.Rejected() || len(e.Against(nil)) > 0 {
			t.Errorf("%q, %v, %v", e.Failure(), e.Rejected(), e.Against(nil))
		}
		if searched == 0 {
			searched = len(p.found.values)
		}
	}
	if searched == 0 || len(p.found.values) != searched {
		t.Errorf("%d texts are searched for one session, %d for five", searched,
			len(p.found.values))
	}
}

// Of a long text, words are looked for at the beginning and at the end, as they stand in the whole
// text. The text between is not read: it would take time for each session.
func TestEndsOfLongText(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		var text strings.Builder
		for range random.IntN(1000) {
			line := strings.Repeat("wörter \"so\" ", 1+random.IntN(1<<random.IntN(8)))
			text.WriteString(line + strconv.Itoa(random.IntN(9)) + "\n\n")
		}
		p := New(text.String(), testKey)
		e := Evidence{prompt: p}
		for i := range p.lines {
			e.new = append(e.new, &p.lines[i])
		}
		var lines strings.Builder
		longest := 0
		for _, l := range e.new {
			lines.WriteString(l.line + "\n")
			longest = max(longest, len(l.line)+1)
		}
		want := plainWords(quotation().ReplaceAllString(lines.String(), ""))
		if got := plainWords(e.unquoted()); got != want {
			t.Fatalf("of %d bytes %d are searched, want %d", lines.Len(), len(got), len(want))
		}
		read := 0
		for i := range p.lines {
			if line := p.lines[i].bare.value; line != nil {
				read += len(*line)
			}
		}
		if most := 2 * (maxScanned + longest); read > most {
			t.Fatalf("of %d bytes %d are read, want at most %d", lines.Len(), read, most)
		}
	}
}
