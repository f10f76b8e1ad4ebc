package replay

import (
	"fmt"
	"strings"
	"testing"

	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
)

// newCall makes a fresh call of a prompt whose blocks are the words of text.
func newCall(id int64, text string, change func(*call)) *call {
	blocks := strings.Join(strings.Fields(text), "\n\n")
	f := prompt.New(blocks, prompt.Key("a key for tests")).Footprint()
	c := &call{FreshCall: ledger.FreshCall{Tool: "claude", Cwd: "/work", Started: decide.Millis(1000 * id), LastUsed: decide.Millis(1000*id + 500), Session: id,
		Reason: reason.BaseChanged, Bytes: 9000, Good: true, Fingerprints: decide.Fingerprints{Model: "p"}, Footprint: f}}
	if change != nil {
		change(c)
	}
	return c
}

func newLedger(t *testing.T) *ledger.Ledger {
	t.Helper()
	l, err := ledger.OpenMemory()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func testCall(l *ledger.Ledger, text string, now decide.Millis) *ledger.Call {
	return &ledger.Call{
		Tool: "claude", Cwd: "/project", Home: "/home/.claude", Format: rewrite.Text, Now: now, Prompt: prompt.New(text, l.Key()),
		Limits: decide.Limits{TTL: 30 * 60_000, MaxAge: 24 * 3_600_000, ErrorLimit: 3, ContextShare: 0.8, MinBase: 200, Unnamed: decide.UnnamedExtends},
		Stored: func(string, string, decide.Stamp) decide.StoredState { return decide.StoredSame },
	}
}

func goodOutcome(id, answer string, now decide.Millis) *ledger.Outcome {
	return &ledger.Outcome{Now: now, Seen: rewrite.StreamState{ID: id, Final: true, Content: true, Answer: answer}, File: "/f", Stamp: "1"}
}

func TestTemplates(t *testing.T) {
	same := func(*call) {}
	calls := func(texts ...string) []string { return texts }
	rounds := calls("o a b c 1 z", "o a b c 2 z", "o a b c 3 z")
	for name, tt := range map[string]struct {
		prompts []string
		last    func(*call) // changes the last of them
		want    string
	}{
		"rounds":             {rounds, same, "place 4 after 1: 3 calls, 2 resumed, 0 late"},
		"a call alone":       {rounds[:2], same, ""},
		"the same again":     {calls(rounds[0], rounds[1], rounds[1]), same, ""},
		"only taken away":    {calls(rounds[0], rounds[1], "o a b c z"), same, ""},
		"another opening":    {calls(rounds[0], rounds[1], "x a b c 3 z"), same, ""},
		"little in common":   {calls(rounds[0], rounds[1], "o 4 5 6 7 8"), same, ""},
		"two places":         {calls(rounds[0], rounds[1], "o a 4 c 5 z"), same, ""},
		"another directory":  {rounds, func(c *call) { c.Cwd = "/other" }, ""},
		"another role":       {rounds, func(c *call) { c.Role = "reviewer" }, ""},
		"other settings":     {rounds, func(c *call) { c.Fingerprints.Model = "q" }, ""},
		"at the same time":   {rounds, func(c *call) { c.Started = 1100 }, ""},
		"asked to be fresh":  {rounds, func(c *call) { c.Reason = reason.ForcedFresh }, ""},
		"a clean start":      {rounds, func(c *call) { c.Reason = reason.CleanStart }, ""},
		"an edited history":  {rounds, func(c *call) { c.Reason = reason.HistoryEdited }, "place 4 after 1: 3 calls, 2 resumed, 0 late"},
		"no evidence":        {rounds, func(c *call) { c.Reason = reason.NoEvidence }, "place 4 after 1: 3 calls, 2 resumed, 0 late"},
		"a new role":         {rounds, func(c *call) { c.Reason = reason.NewRole }, "place 4 after 1: 3 calls, 2 resumed, 0 late"},
		"unnamed is off":     {rounds, func(c *call) { c.Reason = reason.UnnamedOff }, "place 4 after 1: 3 calls, 2 resumed, 0 late"},
		"too late":           {rounds, func(c *call) { c.Started += 100_000 }, "place 4 after 1: 3 calls, 1 resumed, 1 late"},
		"several new blocks": {calls(rounds[0], rounds[1], "o a b c 3 4 z"), same, "place 4 after 1: 3 calls, 2 resumed, 0 late"},
		"at the very end":    {calls("o a b 1", "o a b 2", "o a b 3"), same, "place 3 after 0: 3 calls, 2 resumed, 0 late"},
		"two jobs": {calls("o A b c d e 1 z", "o A b c d e 2 z", "o B b c d e 1 z", "o B b c d e 2 z", "o A b c d e 3 z"), same,
			"place 6 after 1: 5 calls, 3 resumed, 0 late; place 1 after 6: 4 calls, 2 resumed, 0 late"},
	} {
		f := newFinder(Naming{TTL: 60_000, MaxAge: 24 * 3_600_000})
		for i, text := range tt.prompts {
			change := same
			if i == len(tt.prompts)-1 {
				change = tt.last
			}
			f.add(newCall(int64(i+1), text, change))
		}
		var got []string
		for _, frame := range f.list() {
			got = append(got, fmt.Sprintf("place %d after %d: %d calls, %d resumed, %d late", frame.Place, frame.After, frame.Calls, frame.Resumed, frame.Late))
		}
		if strings.Join(got, "; ") != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// A section that is replaced, or grows, is one place however long it is, whatever of it stays the same.
func TestTemplatesOfSections(t *testing.T) {
	const before, after = "Coder. ## Task Build. ## Notes ", " ## Contract End."
	for name, tt := range map[string]struct {
		prompts []string
		want    string
	}{
		"replaced":         {[]string{before + "none" + after, before + "a b c d e f g h" + after, before + "i j k l m n o p" + after}, "place 4 after 2: 3 calls, 1 resumed"}, // of the third, most is new
		"its start stays":  {[]string{before + "said a b c d e f" + after, before + "said g h i j k l" + after, before + "said m n o p q r" + after}, "place 4 after 2: 3 calls, 2 resumed"},
		"its end stays":    {[]string{before + "a b c d e f said" + after, before + "g h i j k l said" + after, before + "m n o p q r said" + after}, "place 4 after 2: 3 calls, 2 resumed"},
		"it grows":         {[]string{before + "a" + after, before + "a b c d e f" + after, before + "a b c d e f g h i j" + after}, "place 4 after 2: 3 calls, 2 resumed"},
		"at the end":       {[]string{before + "a", before + "a b c d e f", before + "a b c d e f g h i j"}, "place 4 after 0: 3 calls, 2 resumed"},
		"two sections":     {[]string{before + "a b c" + after, before + "d e f ## More g h i j k l" + after, before + "m n ## Other o p q r s t" + after}, ""},
		"without headings": {[]string{"Coder. a b c d e", "Coder. f g h i j", "Coder. k l m n o"}, ""},
	} {
		f := newFinder(Naming{TTL: 60_000, MaxAge: 24 * 3_600_000})
		for i, text := range tt.prompts {
			c := newCall(int64(i+1), "", nil)
			// "##" begins a heading, which is a block with the word behind it.
			p := prompt.New(strings.ReplaceAll(strings.Join(strings.Fields(text), "\n\n"), "##\n\n", "## "), prompt.Key("a key for tests")).Footprint()
			c.Footprint = p
			f.add(c)
		}
		var got []string
		for _, frame := range f.list() {
			got = append(got, fmt.Sprintf("place %d after %d: %d calls, %d resumed", frame.Place, frame.After, frame.Calls, frame.Resumed))
			if frame.Latest.Started != 3000 {
				t.Errorf("%s: the latest is %+v", name, frame.Latest)
			}
		}
		if strings.Join(got, "; ") != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// A session that came to a bad end is not one to go on with.
func TestTemplatesOfBadRuns(t *testing.T) {
	f := newFinder(Naming{TTL: 60_000, MaxAge: 24 * 3_600_000})
	for i := range 4 {
		f.add(newCall(int64(i+1), fmt.Sprintf("o a b c %d z", i), func(c *call) { c.Good = false }))
	}
	if got := f.list(); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

// What a frame says that a name would have resumed is what it does resume. Two jobs
// take turns, the notes of each are replaced in every round, and one round comes
// too late. In the third round the notes grow by a block, which is resumed anyway.
func TestTemplatesKnowWhatANameResumes(t *testing.T) {
	run := func(name func(c *ledger.Call, job string)) (l *ledger.Ledger, resumed int) {
		l = newLedger(t)
		now := decide.Millis(1_800_000_000_000)
		for round, notes := range []string{"none", "the first", "the first\n\nand more", "the third", "the fourth", "the last"} {
			for job := range 2 {
				if now += 60_000; round == 4 && job == 0 {
					now += 3_600_000
				}
				prompt := fmt.Sprintf("You are the coder.\n\nTicket: %d\n\n%s\n\n## Notes\n\n%s\n\n## Contract\n\nPrint DONE.",
					job, strings.Repeat("Keep every function small.\n\n", 9), notes)
				c := testCall(l, prompt, now)
				c.Attempt = rewrite.NoAttempt
				name(c, fmt.Sprint(job))
				d, ticket, err := ledger.Begin(l, c)
				if err != nil {
					t.Fatal(err)
				}
				if d.Mode == rewrite.Resume {
					resumed++
				}
				if err := l.Finish(ticket, goodOutcome(fmt.Sprintf("00000000-0000-4000-8000-%012d", now%1e12), "done", now+1000)); err != nil {
					t.Fatal(err)
				}
			}
		}
		return l, resumed
	}
	l, unnamed := run(func(*ledger.Call, string) {})
	_, named := run(func(c *ledger.Call, job string) { c.Task = job })
	ruled, _ := run(func(c *ledger.Call, job string) { c.Rule, c.Scope, c.Task, c.Strict = "theirs", "theirs", job, true })
	frames := Templates(freshCalls(t, l, 0), Naming{TTL: 30 * 60_000, MaxAge: 24 * 3_600_000})
	if len(frames) == 0 || frames[0].Place != 12 || frames[0].Late != 2 || unnamed == 0 || unnamed+frames[0].Resumed != named {
		t.Errorf("%d are resumed without a name, with one %d: %+v", unnamed, named, frames)
	}
	if calls := freshCalls(t, l, 1_800_000_000_000+24*3_600_000); len(calls) != 0 {
		t.Errorf("of a time without calls: %v", calls)
	}
	if calls := freshCalls(t, ruled, 0); len(calls) != 0 {
		t.Errorf("calls that a rule has named: %+v", calls)
	}
}
