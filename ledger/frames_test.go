package ledger

import (
	"fmt"
	"strings"
	"testing"

	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
)

// newFreshCall makes a fresh call of a prompt whose blocks are the words of text.
func newFreshCall(id int64, text string, change func(*freshCall)) *freshCall {
	blocks := strings.Join(strings.Fields(text), "\n\n")
	f := prompt.New(blocks, prompt.Key("a key for tests")).Footprint()
	c := &freshCall{tool: "claude", cwd: "/work", started: decide.Millis(1000 * id), lastUsed: decide.Millis(1000*id + 500), session: id,
		reason: reason.BaseChanged, bytes: 9000, good: true, fingerprints: decide.Fingerprints{Model: "p"}, blocks: f.Blocks, opening: f.Opening}
	if change != nil {
		change(c)
	}
	return c
}

func TestFrames(t *testing.T) {
	same := func(*freshCall) {}
	calls := func(texts ...string) []string { return texts }
	rounds := calls("o a b c 1 z", "o a b c 2 z", "o a b c 3 z")
	for name, tt := range map[string]struct {
		prompts []string
		last    func(*freshCall) // changes the last of them
		want    string
	}{
		"rounds":             {rounds, same, "place 4 after 1: 3 calls, 2 resumed, 0 late"},
		"a call alone":       {rounds[:2], same, ""},
		"the same again":     {calls(rounds[0], rounds[1], rounds[1]), same, ""},
		"only taken away":    {calls(rounds[0], rounds[1], "o a b c z"), same, ""},
		"another opening":    {calls(rounds[0], rounds[1], "x a b c 3 z"), same, ""},
		"little in common":   {calls(rounds[0], rounds[1], "o 4 5 6 7 8"), same, ""},
		"two places":         {calls(rounds[0], rounds[1], "o a 4 c 5 z"), same, ""},
		"another directory":  {rounds, func(c *freshCall) { c.cwd = "/other" }, ""},
		"another role":       {rounds, func(c *freshCall) { c.role = "reviewer" }, ""},
		"other settings":     {rounds, func(c *freshCall) { c.fingerprints.Model = "q" }, ""},
		"at the same time":   {rounds, func(c *freshCall) { c.started = 1100 }, ""},
		"asked to be fresh":  {rounds, func(c *freshCall) { c.reason = reason.ForcedFresh }, ""},
		"a clean start":      {rounds, func(c *freshCall) { c.reason = reason.CleanStart }, ""},
		"an edited history":  {rounds, func(c *freshCall) { c.reason = reason.HistoryEdited }, "place 4 after 1: 3 calls, 2 resumed, 0 late"},
		"no evidence":        {rounds, func(c *freshCall) { c.reason = reason.NoEvidence }, "place 4 after 1: 3 calls, 2 resumed, 0 late"},
		"a new role":         {rounds, func(c *freshCall) { c.reason = reason.NewRole }, "place 4 after 1: 3 calls, 2 resumed, 0 late"},
		"unnamed is off":     {rounds, func(c *freshCall) { c.reason = reason.UnnamedOff }, "place 4 after 1: 3 calls, 2 resumed, 0 late"},
		"too late":           {rounds, func(c *freshCall) { c.started += 100_000 }, "place 4 after 1: 3 calls, 1 resumed, 1 late"},
		"several new blocks": {calls(rounds[0], rounds[1], "o a b c 3 4 z"), same, "place 4 after 1: 3 calls, 2 resumed, 0 late"},
		"at the very end":    {calls("o a b 1", "o a b 2", "o a b 3"), same, "place 3 after 0: 3 calls, 2 resumed, 0 late"},
		"two jobs": {calls("o A b c d e 1 z", "o A b c d e 2 z", "o B b c d e 1 z", "o B b c d e 2 z", "o A b c d e 3 z"), same,
			"place 6 after 1: 5 calls, 3 resumed, 0 late; place 1 after 6: 4 calls, 2 resumed, 0 late"},
	} {
		f := templateFinder{ttl: 60_000, early: map[string][]*freshCall{}, frames: map[frameKey]*PromptTemplate{}}
		for i, text := range tt.prompts {
			change := same
			if i == len(tt.prompts)-1 {
				change = tt.last
			}
			f.add(newFreshCall(int64(i+1), text, change))
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
func TestFramesOfSections(t *testing.T) {
	const before, after = "Coder. ## Task Build. ## Notes ", " ## Contract End."
	for name, tt := range map[string]struct {
		prompts []string
		want    string
	}{
		"replaced":         {[]string{before + "none" + after, before + "a b c d e f g h" + after, before + "i j k l m n o p" + after}, "place 4 after 2: 3 calls, 2 resumed"},
		"its start stays":  {[]string{before + "said a b c d e f" + after, before + "said g h i j k l" + after, before + "said m n o p q r" + after}, "place 4 after 2: 3 calls, 2 resumed"},
		"its end stays":    {[]string{before + "a b c d e f said" + after, before + "g h i j k l said" + after, before + "m n o p q r said" + after}, "place 4 after 2: 3 calls, 2 resumed"},
		"it grows":         {[]string{before + "a" + after, before + "a b c d e f" + after, before + "a b c d e f g h i j" + after}, "place 4 after 2: 3 calls, 2 resumed"},
		"at the end":       {[]string{before + "a", before + "a b c d e f", before + "a b c d e f g h i j"}, "place 4 after 0: 3 calls, 2 resumed"},
		"two sections":     {[]string{before + "a b c" + after, before + "d e f ## More g h i j k l" + after, before + "m n ## Other o p q r s t" + after}, ""},
		"without headings": {[]string{"Coder. a b c d e", "Coder. f g h i j", "Coder. k l m n o"}, ""},
	} {
		f := templateFinder{ttl: 60_000, early: map[string][]*freshCall{}, frames: map[frameKey]*PromptTemplate{}}
		for i, text := range tt.prompts {
			c := newFreshCall(int64(i+1), "", nil)
			// "##" begins a heading, which is a block with the word behind it.
			p := prompt.New(strings.ReplaceAll(strings.Join(strings.Fields(text), "\n\n"), "##\n\n", "## "), prompt.Key("a key for tests")).Footprint()
			c.blocks, c.lines, c.opening = p.Blocks, p.Lines, p.Opening
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
func TestFramesOfBadRuns(t *testing.T) {
	f := templateFinder{ttl: 60_000, early: map[string][]*freshCall{}, frames: map[frameKey]*PromptTemplate{}}
	for i := range 4 {
		f.add(newFreshCall(int64(i+1), fmt.Sprintf("o a b c %d z", i), func(c *freshCall) { c.good = false }))
	}
	if got := f.list(); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

// What a frame says that a name would have resumed is what it does resume. Two jobs
// take turns, the notes of each are replaced in every round, and one round comes
// too late. In the third round the notes grow by a block, which is resumed anyway.
func TestFramesKnowWhatANameResumes(t *testing.T) {
	run := func(name func(c *Call, job string)) (l *Ledger, resumed int) {
		l, _ = newLedger(t)
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
				d, ticket, err := Begin(l, c)
				if err != nil {
					t.Fatal(err)
				}
				if d.Mode == rewrite.Resume {
					resumed++
				}
				finish(t, l, ticket, goodOutcome(fmt.Sprintf("00000000-0000-4000-8000-%012d", now%1e12), "done", now+1000))
			}
		}
		return l, resumed
	}
	l, unnamed := run(func(*Call, string) {})
	_, named := run(func(c *Call, job string) { c.Task = job })
	ruled, _ := run(func(c *Call, job string) { c.Rule, c.Scope, c.Task, c.Strict = "theirs", "theirs", job, true })
	frames, err := l.Frames(0, 30*60_000)
	if err != nil {
		t.Fatal(err)
	}
	if len(frames) == 0 || frames[0].Place != 12 || frames[0].Late != 2 || unnamed == 0 || unnamed+frames[0].Resumed != named {
		t.Errorf("%d are resumed without a name, with one %d: %+v", unnamed, named, frames)
	}
	if frames, err := l.Frames(1_800_000_000_000+24*3_600_000, 30*60_000); len(frames) != 0 || err != nil {
		t.Errorf("of a time without calls: %v, %v", frames, err)
	}
	if frames, err := ruled.Frames(0, 0); len(frames) != 0 || err != nil {
		t.Errorf("of calls that a rule has named: %+v, %v", frames, err)
	}
}

func BenchmarkFrames(b *testing.B) {
	l, err := OpenMemory()
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	const sessions, blocks = 100_000, 60
	tx, err := l.db.Begin()
	if err != nil {
		b.Fatal(err)
	}
	digest := l.key.Digester()
	base := make([]prompt.Digest, blocks)
	for i := range sessions {
		for j := range base {
			base[j] = digest(fmt.Sprintf("block %d of job %d", j, i/1000))
		}
		base[blocks/2] = digest(fmt.Sprint(i))
		for _, q := range []struct {
			text string
			args []any
		}{
			{"INSERT INTO chains (id, tool, cwd, home, task, role, created, updated) VALUES (?, 'claude', ?, '', '', '', ?, ?)",
				[]any{i, fmt.Sprintf("/work/%d", i%50), i, i}},
			{`INSERT INTO sessions (id, chain_id, tool, state, created, last_used, settings, model, runtime, auth, base, base_opening, base_bytes)
				VALUES (?, ?, 'claude', 'live', ?, ?, '', '', '', '', ?, 1, 5000)`, []any{i, i, i, i, encodeDigests(base)}},
			{`INSERT INTO invocations (chain_id, session_id, tool, cwd, started, mode, reason, format, prompt_bytes, sent_bytes)
				VALUES (?, ?, 'claude', ?, ?, 'fresh', 'base_changed', 'text', 5000, 5000)`, []any{i, i, fmt.Sprintf("/work/%d", i%50), i}},
		} {
			if _, err := tx.Exec(q.text, q.args...); err != nil {
				b.Fatal(err)
			}
		}
	}
	if err := tx.Commit(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if frames, err := l.Frames(0, sessions); err != nil || len(frames) == 0 {
			b.Fatal(frames, err)
		}
	}
}
