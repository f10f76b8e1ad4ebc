package ledger

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
	"reprise/test/toolbox"
)

var propertyKey = prompt.Key("a key for tests")

// A piece is the text between two blank lines of a generated prompt.
type piece struct {
	text string
	said bool // it belongs to a turn of the assistant
	tool bool // or to one of a tool
	cue  bool // it is nothing but a name, which at the end of a prompt asks for the answer
	at   int  // where it stands in the prompt, set by added
	head int  // length of the name over a turn that it starts with
}

// A job is a session as the generator knows it: its last prompt and the answer.
type job struct {
	sent       []piece
	answer     []piece // the turn as a transcript shows it
	raw        string  // the answer as the tool gave it
	earlier    []string
	transcript bool
}

type generator struct {
	*rand.Rand
	label func(name string) (label string, sameBlock bool)
}

var notations = []func(string) (string, bool){
	func(name string) (string, bool) { return "## " + name, false },
	func(name string) (string, bool) { return name + ": ", true },
	func(name string) (string, bool) { return "**" + strings.ToUpper(name) + ":** ", true },
	func(name string) (string, bool) { return "[08:15] " + name + "> ", true },
	func(name string) (string, bool) { return "<turn speaker=\"" + name + "\">\n", true },
	func(name string) (string, bool) { return "<|im_start|>" + name + "\n", true },
	func(name string) (string, bool) { return "--- " + name + " ---", false },
}

func (g *generator) word() string {
	const letters = "bcdfghklmnprstvz"
	n := 2 + g.IntN(3)
	var w strings.Builder
	for range n {
		w.WriteByte(letters[g.IntN(len(letters))])
		w.WriteByte("aeo"[g.IntN(3)])
	}
	return w.String() + strconv.Itoa(g.IntN(100))
}

func (g *generator) sentence() string {
	words := make([]string, 1+g.IntN(8))
	for i := range words {
		words[i] = g.word()
	}
	return strings.Join(words, " ") + "."
}

func (g *generator) paragraph() string {
	switch g.IntN(8) {
	case 0:
		return "## " + g.sentence()
	case 1:
		return "```\n" + g.sentence() + "\n\n    " + g.sentence() + "\n```"
	case 2:
		return "- " + g.sentence() + "\n- " + g.sentence() + "\n  - " + g.sentence()
	case 3:
		return "| " + g.word() + " | " + strconv.Itoa(g.IntN(10)) + " |"
	case 4:
		return fmt.Sprintf("{%q: %d}", g.word(), g.IntN(1000))
	}
	return g.sentence() + "\n" + g.sentence()
}

// turn writes a turn in the notation at hand.
func (g *generator) turn(name string, paragraphs ...string) []piece {
	said, tool := name == "assistant", name == "tool"
	label, sameBlock := g.label(name)
	if strings.HasPrefix(paragraphs[0], "#") || strings.HasPrefix(paragraphs[0], "```") {
		paragraphs = slices.Insert(slices.Clone(paragraphs), 0, g.sentence())
	}
	if !sameBlock {
		paragraphs = slices.Insert(slices.Clone(paragraphs), 0, label)
	} else {
		paragraphs = slices.Clone(paragraphs)
		paragraphs[0] = label + paragraphs[0]
	}
	var pieces []piece
	for i, p := range paragraphs {
		head := 0
		if i == 0 {
			head = len(label)
		}
		pieces = append(pieces, piece{text: p, said: said, tool: tool, cue: p == label, head: head})
	}
	return pieces
}

func (g *generator) answer() []string {
	paragraphs := []string{g.sentence()}
	for range g.IntN(3) {
		paragraphs = append(paragraphs, g.paragraph())
	}
	return paragraphs
}

// job makes up a session: a prompt, or a conversation of some turns.
func (g *generator) job() job {
	g.label = notations[g.IntN(len(notations))]
	j := job{sent: []piece{{text: "You are " + g.sentence()},
		{text: strings.Repeat(g.sentence()+"\n", 1+g.IntN(9)) + "So."}}}
	for range g.IntN(5) {
		j.sent = append(j.sent, piece{text: g.paragraph()})
	}
	if g.IntN(3) == 0 {
		a := g.answer()
		j.raw = strings.Join(a, "\n\n")
		j.answer = g.turn("assistant", a...)
		return j
	}
	for range g.IntN(3) {
		a := g.answer()
		j.sent = append(j.sent, g.turn("user", g.sentence())...)
		j.sent = append(j.sent, g.turn("assistant", a...)...)
		j.earlier = append(j.earlier, strings.Join(a, "\n\n"))
		j.transcript = true
	}
	j.sent = append(j.sent, g.turn("user", g.sentence())...)
	a := g.answer()
	j.raw, j.answer = strings.Join(a, "\n\n"), g.turn("assistant", a...)
	return j
}

// next makes up the caller's next prompt: sometimes as it should be, mostly
// with something done to it.
func (g *generator) next(j job) []piece {
	after := slices.Clone(j.sent)
	if g.IntN(3) > 0 {
		after = append(after, j.answer...)
	}
	if g.IntN(4) > 0 {
		after = append(after, g.turn("user", g.sentence())...)
	}
	for range g.IntN(4) {
		if len(after) < 2 {
			break
		}
		after = g.edit(after)
	}
	return named(after)
}

// editTemplate changes something before the first turn.
func (g *generator) editTemplate(sent []piece) []piece {
	turns := slices.IndexFunc(sent, func(p piece) bool { return p.head > 0 })
	if turns < 0 {
		turns = len(sent)
	}
	kept := slices.Clone(sent[turns:])
	edited := g.edit(slices.Clone(sent[:turns]))
	return named(append(slices.DeleteFunc(edited, func(p piece) bool {
		return p.head > 0
	}), kept...))
}

// named takes the speaker from pieces that have lost the name over them.
func named(after []piece) []piece {
	var turn piece
	for i := range after {
		p := &after[i]
		if p.head > 0 {
			turn = *p
		}
		p.said, p.tool = p.said && turn.said, p.tool && turn.tool
	}
	return after
}

func (g *generator) edit(after []piece) []piece {
	i, k := g.IntN(len(after)), g.IntN(len(after))
	switch g.IntN(14) {
	case 0, 1:
		return append(after, piece{text: g.paragraph()})
	case 2:
		return slices.Insert(after, i, piece{text: g.paragraph()})
	case 3:
		after[i] = piece{text: g.paragraph(), said: after[i].said && after[i].head == 0}
	case 4:
		return slices.Delete(after, i, i+1)
	case 5:
		after[i], after[k] = after[k], after[i]
	case 6:
		return after[:i+1]
	case 7:
		after[i].otherSign(g, unicode.IsDigit, func(r rune) rune { return '0' + (r-'0'+1)%10 })
	case 8:
		after[i].otherSign(g, unicode.IsLower, unicode.ToUpper)
	case 9:
		return slices.Insert(after, k, after[i])
	case 10: // space at the ends of lines says nothing
		after[i].text = strings.ReplaceAll(after[i].text, "\n", " \t\r\n") + " "
	case 11:
		after[i].otherSign(g, func(r rune) bool { return r == ' ' },
			func(rune) rune { return '\t' })
	case 12:
		return append(after, g.turn("assistant", g.answer()...)...)
	case 13:
		return slices.Insert(after, i, g.turn("tool", g.sentence())...)
	}
	return after
}

// otherSign changes one sign of the piece's text.
func (p *piece) otherSign(g *generator, is func(rune) bool, change func(rune) rune) {
	runes := []rune(p.text[p.head:])
	var at []int
	for i, r := range runes {
		if is(r) {
			at = append(at, i)
		}
	}
	if len(at) > 0 {
		i := at[g.IntN(len(at))]
		runes[i] = change(runes[i])
	}
	p.text = p.text[:p.head] + string(runes)
}

func render(pieces []piece) string {
	texts := make([]string, len(pieces))
	for i, p := range pieces {
		texts[i] = p.text
	}
	return strings.Join(texts, "\n\n")
}

func bare(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t\r")
	}
	return strings.Join(lines, "\n")
}

// added returns the pieces that a prompt has beyond the session's last one; ok reports that it has
// all of the last one's, in order.
func (j job) added(after []piece) (added []piece, ok bool) {
	next, tool, apart, torn := 0, false, false, false
	for i, p := range after {
		p.said = p.said && !(p.cue && i == len(after)-1)
		if next < len(j.sent) && bare(p.text) == bare(j.sent[next].text) {
			// within an answer
			torn = torn || apart && j.transcript && j.sent[next].said && j.sent[next].head == 0
			next, tool, apart = next+1, false, false
			continue
		}
		apart = true
		if p.head == 0 {
			p.tool = tool // a text under a tool's name is a tool's
		}
		tool = p.tool
		p.at = i
		added = append(added, p)
	}
	return added, next == len(j.sent) && !torn
}

// continues is the oracle: whether a prompt goes on where the session stands.
func (j job) continues(after []piece) bool {
	added, ok := j.added(after)
	return ok && len(added) > 0 && bare(after[0].text) == bare(j.sent[0].text) && j.ownTurns(added)
}

// ownTurns reports whether the added pieces show no turn of the assistant but the session's answer,
// and show that one if the prompt is a conversation.
func (j job) ownTurns(added []piece) bool {
	hasTurn := func(pieces []piece) bool { return slices.ContainsFunc(pieces, func(p piece) bool { return p.said }) }
	// a name and nothing said
	added = slices.DeleteFunc(added, func(p piece) bool { return p.cue && !p.said })
	rest := added
	for len(rest) > 0 && rest[0].tool {
		rest = rest[1:]
	}
	if startWith(rest, j.answer) {
		return !hasTurn(rest[len(j.answer):])
	}
	tools := len(added) - len(rest)
	underTool := tools > 0 && len(rest) > 0 && rest[0].at == added[tools-1].at+1
	if j.answer[0].cue && !underTool { // its name is left out, or nobody knows it
		body := j.answer[1:]
		if !startWith(rest, body) && len(rest) > 0 && !rest[0].said &&
			!strings.Contains(rest[0].text, "\n") &&
			(len(rest) == 1 || rest[1].at == rest[0].at+1) {
			rest = rest[1:]
		}
		if startWith(rest, body) {
			return !hasTurn(rest[len(body):])
		}
	}
	return !j.transcript && !hasTurn(added)
}

// startsWithAnswer reports whether a prompt's added pieces begin with the session's answer as a
// turn.
func startsWithAnswer(j job, after []piece) bool {
	added, _ := j.added(after)
	return startWith(added, j.answer)
}

// addsTurn reports whether a prompt adds a turn of anybody.
func addsTurn(j job, after []piece) bool {
	added, _ := j.added(after)
	return slices.ContainsFunc(added, func(p piece) bool { return p.head > 0 })
}

// quoted reports whether the answer stands in a piece that a tool or nobody says.
func (j job) quoted(after []piece) bool {
	added, _ := j.added(after)
	return slices.ContainsFunc(added, func(p piece) bool {
		return !p.said && strings.Contains(j.raw, strings.TrimSpace(bare(p.text)))
	})
}

func startWith(pieces, start []piece) bool {
	return len(pieces) >= len(start) &&
		slices.EqualFunc(pieces[:len(start)], start, func(a, b piece) bool {
			return bare(a.text) == bare(b.text)
		})
}

func (j job) facts(chain int64, p *prompt.Prompt) decide.ChainFacts {
	base := prompt.New(render(j.sent), propertyKey).Footprint()
	sent := prompt.Sent{Base: base, RootFirst: base.First, Root: base.Blocks,
		Transcript: j.transcript}
	for _, a := range append(slices.Clone(j.earlier), j.raw) {
		sent.Answers = append(sent.Answers, prompt.NewAnswer(a, nil, propertyKey))
	}
	s := decide.SessionRecord{NativeID: strconv.FormatInt(chain, 10), State: decide.Live,
		Created:  99 * hour,
		LastUsed: 100*hour - minute, BaseBytes: sent.Base.Bytes}
	return decide.ChainFacts{Chain: chain, Session: chain, SessionRecord: s,
		Continuity: prompt.Compare(sent, p)}
}

// Whatever is done to a prompt, no session is resumed that it does not continue,
// and none where two could be meant. REPRISE_SEED sets the seed.
func TestNoUnsafeResume(t *testing.T) {
	cases, seed := toolbox.Part(20_000), uint64(1)
	if n, err := strconv.ParseUint(os.Getenv("REPRISE_SEED"), 10, 64); err == nil {
		seed = n
	}
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 0))}
	limits := decide.Limits{TTL: 30 * minute, MaxAge: 24 * hour, MinBase: 1,
		Unnamed: rewrite.UnnamedExtends}
	safe, taken, resumed := 0, 0, 0
	for n := range cases {
		jobs := []job{g.job()}
		for range g.IntN(3) { // siblings, made from the first
			sibling := jobs[0]
			sibling.sent = g.editTemplate(sibling.sent)
			jobs = append(jobs, sibling)
		}
		after := g.next(jobs[g.IntN(len(jobs))])
		p := prompt.New(render(after), propertyKey)
		f := decide.Facts{Request: decide.Request{Now: 100 * hour, Limits: limits}}
		var fits, unclear []int64
		for i, j := range jobs {
			f.Chains = append(f.Chains, j.facts(int64(i+1), p))
			// An answer shown under another's name can be taken for one or not.
			if j.continues(after) && !(!j.transcript && j.quoted(after)) {
				fits = append(fits, int64(i+1))
			} else if j.continues(after) {
				unclear = append(unclear, int64(i+1))
			}
		}
		addEvidence(&Call{Request: f.Request}, f.Chains, nil)
		d := decide.Decide(f)
		// Of two sessions with one answer neither is taken where one of them can be meant, and
		// turns without the answer between them are another history.
		if clear := len(jobs) == 1 && len(fits) == 1 &&
			(startsWithAnswer(jobs[0], after) || !addsTurn(jobs[0], after)); clear {
			safe++
			if d.Mode == rewrite.Resume {
				taken++
			}
		}
		if d.Mode == rewrite.Resume {
			resumed++
			if len(fits) > 1 || !slices.Contains(append(fits, unclear...), d.Session) ||
				len(fits) == 1 && fits[0] != d.Session {
				t.Fatalf("seed %d, case %d: session %d is resumed (%s); those that fit: %v\n--- "+
					"it was sent\n%s\n--- and answered\n%s\n--- the prompt\n%s",
					seed, n, d.Session, d.Reason, fits, render(jobs[d.Session-1].sent),
					jobs[d.Session-1].raw, render(after))
			}
			checkDelta(t, jobs[d.Session-1], after, p, d)
		}
		checkEvidence(t, jobs, after, f, append(slices.Clone(fits), unclear...))
		checkDecision(t, g, f, d)
		checkCopy(t, g, f, d, p)
		checkAlike(t, jobs, f, d, p)
		checkNamed(t, jobs[0], after, f)
	}
	t.Logf("seed %d: %d cases, %d resumed; %d of %d that are clear", seed, cases, resumed, taken,
		safe)
	if taken*10 < safe*8 {
		t.Errorf("of %d clear cases only %d are resumed", safe, taken)
	}
}

// checkEvidence: where evidence is asked for, only a conversation that goes on is any for words
// that mean nothing.
func checkEvidence(t *testing.T, jobs []job, after []piece, f decide.Facts, fits []int64) {
	t.Helper()
	f.Limits.Unnamed = rewrite.UnnamedEvidence
	if d := decide.Decide(f); d.Mode == rewrite.Resume &&
		!(slices.Contains(fits, d.Session) && (d.Evidence.Transcript || d.Evidence.Answer)) {
		j := jobs[d.Session-1]
		t.Fatalf("session %d is resumed by %v; those that fit: %v history:\n%s\n--- "+
			"answered\n%s\n--- the prompt\n%s",
			d.Session, d.Evidence, fits, render(j.sent), j.raw, render(after))
	}
	f.Limits.Unnamed = rewrite.UnnamedOff
	if d := decide.Decide(f); d.Mode == rewrite.Resume {
		t.Fatalf("resumed by %v although switched off", d.Evidence)
	}
}

func sent(t rewrite.Target) (text string, whole bool) {
	plan := t.Plan(rewrite.CommandLine{})
	return plan.Prompt, plan.Whole
}

// checkDelta: every piece that the session lacks is sent.
func checkDelta(t *testing.T, j job, after []piece, p *prompt.Prompt, d decide.Decision) {
	t.Helper()
	text, whole := sent(rewrite.ToResume(d.NativeID, p, d.Continuity, d.Whole))
	if whole && text != render(after) {
		t.Fatalf("the whole prompt is not the prompt: %q", text)
	}
	added, _ := j.added(after)
	for _, a := range added {
		for line := range strings.SplitSeq(a.text[a.head:], "\n") {
			words := strings.Fields(line)
			if a.cue {
				continue // a name with nothing said, or the one over the new turn, which needs none
			}
			if len(words) > 0 && strings.Contains(j.raw, words[len(words)-1]) {
				continue // its own answer
			}
			if len(words) > 0 && !strings.Contains(text, words[len(words)-1]) {
				t.Fatalf("%q is not sent:\n%s\n--- of\n%s", line, text, render(after))
			}
		}
	}
}

// checkDecision: equal facts decide equally, the order of chains and the time within
// its limits do not count, and only a resume names a session.
func checkDecision(t *testing.T, g *generator, f decide.Facts, d decide.Decision) {
	t.Helper()
	if again := decide.Decide(f); !reflect.DeepEqual(again, d) {
		t.Fatalf("%v, then %v", d, again)
	}
	if (d.Mode == rewrite.Resume) != (d.Session != 0) ||
		(d.Mode == rewrite.Resume) != (d.NativeID != "") {
		t.Fatalf("%s names session %d %q", d.Mode, d.Session, d.NativeID)
	}
	f.Chains = slices.Clone(f.Chains)
	g.Shuffle(len(f.Chains), func(i, k int) { f.Chains[i], f.Chains[k] = f.Chains[k], f.Chains[i] })
	f.Now += decide.Millis(g.Int64N(int64(29*minute + 1)))
	if again := decide.Decide(f); !reflect.DeepEqual(again, d) {
		t.Fatalf("%v, in another order and later %v", d, again)
	}
	f.Now = 100*hour + 29*minute + 1
	if again := decide.Decide(f); again.Mode == rewrite.Resume {
		t.Fatalf("resumed although idle: %v", again)
	}
}

// checkAlike: chains that begin otherwise than the prompt need not be looked at.
func checkAlike(t *testing.T, jobs []job, f decide.Facts, d decide.Decision, p *prompt.Prompt) {
	t.Helper()
	first := func(p *prompt.Prompt) []byte {
		return encodeDigests([]prompt.Digest{p.Footprint().First})
	}
	var alike []decide.ChainFacts
	for i, j := range jobs {
		if bytes.Equal(first(p), first(prompt.New(render(j.sent), propertyKey))) {
			alike = append(alike, f.Chains[i])
		}
	}
	f.Chains, f.Others = alike, true
	again := decide.Decide(f)
	if again.Mode == rewrite.Fresh {
		again.Evidence = d.Evidence // pieces that another session lacks do not count
	}
	switch {
	case d.Mode == rewrite.Fresh && again.Mode == rewrite.Fresh && len(alike) < len(jobs),
		len(alike) == 0 && again.Reason == reason.NewJob && d.Mode == rewrite.Fresh:
		again.Reason = d.Reason // of another job nobody needs to know
	}
	if !reflect.DeepEqual(again, d) {
		t.Fatalf("%v, and %v by those that begin alike", d, again)
	}
}

// checkCopy: where a session is resumed it is also copied, and cut off where somebody has
// written to it. The copy is sent exactly the text that the session would be sent. Where it cannot
// be, the call is fresh, and sent all of its prompt.
func checkCopy(t *testing.T, g *generator, f decide.Facts, d decide.Decision, p *prompt.Prompt) {
	t.Helper()
	last := ""
	f.ForkPoint = func(string, decide.Stamp) (string, reason.Code) { return last, "" }
	f.Copies, f.Chains = true, slices.Clone(f.Chains)
	copied := decide.Decide(f)
	want := d
	if want.Copy = d.Mode == rewrite.Resume; !reflect.DeepEqual(copied, want) {
		t.Fatalf("%v in place, %v in a copy", d, copied)
	}
	cut := g.IntN(2) > 0
	for i := range f.Chains {
		f.Chains[i].Stored = decide.StoredChanged
	}
	if cut {
		last = "last"
	}
	forked := decide.Decide(f)
	target := rewrite.ToFork(forked.NativeID, forked.ForkAt, p, forked.Continuity, forked.Whole)
	text, whole := sent(target)
	if d.Mode != rewrite.Resume || !cut {
		if forked.Mode != rewrite.Fresh || forked.NativeID != "" || forked.ForkAt != "" ||
			text != p.Text || !whole || target.Plan(rewrite.CommandLine{}).Resume != "" {
			t.Fatalf("%v where nobody has used it, else %v, sent %q", d, forked, text)
		}
		return
	}
	want.Mode, want.ForkAt = rewrite.Fork, "last"
	if !reflect.DeepEqual(forked, want) {
		t.Fatalf("%v where nobody has used it, else %v", d, forked)
	}
	if want, all := sent(rewrite.ToResume(d.NativeID, p, d.Continuity, d.Whole)); text != want ||
		whole != all || target.ForkAt != "last" {
		t.Fatalf("a resume is sent %q, a fork %q", want, text)
	}
}

// checkNamed: where the task is named more is resumed, but never the same prompt
// again, nor another history.
func checkNamed(t *testing.T, j job, after []piece, f decide.Facts) {
	t.Helper()
	f.Named, f.Chains = true, f.Chains[:1]
	d := decide.Decide(f)
	if d.Mode != rewrite.Resume {
		return
	}
	added, kept := j.added(after)
	switch {
	case len(added) == 0:
		t.Fatalf("named: resumed (%s) by a prompt that says nothing new:\n%s", d.Reason,
			render(after))
	case (j.transcript && !j.continues(after) || kept && !j.ownTurns(added)) &&
		!j.turns().continues(fromTurns(after)):
		t.Fatalf("named: resumed (%s) with another history:\n%s\n--- answered\n%s\n--- the "+
			"prompt\n%s", d.Reason, render(j.sent), j.raw, render(after))
	}
}

// turns is the job without the frame of the conversation: under a name that can change from turn to
// turn.
func (j job) turns() job {
	j.sent = fromTurns(j.sent)
	return j
}

// fromTurns is a prompt from its first turn on.
func fromTurns(pieces []piece) []piece {
	for i, p := range pieces {
		if p.head > 0 && !p.tool {
			return pieces[i:]
		}
	}
	return pieces
}
