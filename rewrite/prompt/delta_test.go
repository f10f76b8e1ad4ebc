package prompt

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"reprise/rewrite/reason"
)

// rules is long enough for a prompt to be worth a delta.
var rules = "## Rules\n\n" + strings.Repeat("- Keep it small and be kind to the reader.\n", 120)

// briefed returns a prompt with sections.
func briefed(sections ...string) string {
	return "You are the coder.\n\n" + rules + "\n" + strings.Join(sections, "\n\n") +
		"\n\n## Contract\n\nPrint DONE.\n"
}

// sentOf returns the part of a prompt that a session is sent, and the reason if that is all of it.
func sentOf(p *Prompt, c Continuity) (text string, whole bool, why reason.Code) {
	if text, why = p.Delta(c); why != "" {
		return p.Text, true, why
	}
	return text, false, ""
}

// makeDelta returns the part of the prompt after that a session is sent that has the prompt before.
func makeDelta(before, after string) (text string, whole bool, why reason.Code) {
	p := New(after, testKey)
	return sentOf(p, Compare(sentTo(before), p))
}

func TestDeltas(t *testing.T) {
	const opening = "You are the coder.\n\n"
	const below = sectionsBelow + "\n\n## Rules\n[unchanged]\n\n"
	plain := opening + strings.Repeat("Keep it small and be kind to the reader.\n", 120)
	rulesFirst := "# Rules\n\n" + strings.Repeat("- Keep it small and be kind to the reader.\n",
		120)
	const rulesShown = "# Rules\n\n" +
		"- Keep it small and be kind to the reader.\n- Keep it small and be kind to the " +
		"reader.\n- Keep it small and be kind to the reader.\n" +
		"- Keep it small and be kind to the reader.\n- Keep it small and be kind to the " +
		"reader.\n[the rest of this opening, 4945 bytes, is unchanged]\n\n"
	oneLine := strings.Repeat("Keep it small. ", 200) + "\n"
	short := opening + strings.Repeat("x",
		ShortPromptBytes-len(opening+"\n\n## Review\n\nIt leaks."))
	for name, tt := range map[string]struct{ before, after, want string }{
		"added at the end": {plain, plain + "\nThe test still fails.", opening + "!"},
		"a section at the end": {briefed(), briefed() + "\n## Review\n\nIt leaks.",
			opening + addedAtEnd + "\n\n## Review\n\nIt leaks.\n"},
		"a paragraph behind": {briefed(), briefed() + "\nIt leaks.",
			opening + addedAtEnd + "\n\nIt leaks.\n"},
		"before the contract": {briefed("## N\n\na"),
			briefed("## N\n\na", "## Review\n\nIt leaks."),
			opening + addedBefore + "\n\n## Review\n\nIt leaks.\n\n## Contract\n\nPrint DONE.\n"},
		"a section changed": {briefed("## Notes\n\none"), briefed("## Notes\n\ntwo"),
			opening + below + "## Notes\n\ntwo\n\n## Contract\n\nPrint DONE.\n"},
		"an item more": {briefed("## Notes\n\n- a", "## Not\n\n- b"),
			briefed("## Notes\n\n- a\n- c", "## Not\n\n- b"),
			opening + below + "## Notes\n\n- a\n- c\n\n## Not\n[unchanged]\n\n## " +
				"Contract\n\nPrint DONE.\n"},
		"new behind another": {briefed("## A\n\na", "## B\n\nb"),
			briefed("## A\n\na", "### A2\n\nx", "## B\n\nb"),
			opening + below + "## A\n[unchanged]\n\n### A2\n\nx\n\n## B\n[unchanged]\n\n## " +
				"Contract\n\nPrint DONE.\n"},
		"one moved": {briefed("## A\n\na", "## B\n\nb"),
			briefed("## B\n\nb", "## A\n\na", "## C\n\nc"),
			opening + below + "## B\n[unchanged]\n\n## A\n[unchanged]\n\n## C\n\nc\n\n## " +
				"Contract\n\nPrint DONE.\n"},
		"one gone": {briefed("## A\n\na", "## B\n\nb"), briefed("## B\n\nc"),
			opening + below + "## B\n\nc\n\n## Contract\n\nPrint DONE.\n"},
		"two of one name": {briefed("## A\n\na", "## A\n\nb"),
			briefed("## A\n\na", "## A\n\nc"),
			opening + below + "## A\n\na\n\n## A\n\nc\n\n## Contract\n\nPrint DONE.\n"},
		"one of two of a name": {briefed("## A\n\na", "## A\n\nb"),
			briefed("## A\n\na", "## C\n\nc"),
			opening + below + "## A\n\na\n\n## C\n\nc\n\n## Contract\n\nPrint DONE.\n"},
		"a second of a name": {briefed("## A\n\na"), briefed("## A\n\nb", "## A\n\na"),
			opening + below + "## A\n\nb\n\n## A\n\na\n\n## Contract\n\nPrint DONE.\n"},
		"the opening changed": {"# Job 1\n\n" + briefed("## N\n\na"),
			"# Job 2\n\n" + briefed("## N\n\nb"),
			"# Job 2\n\n" + opening + below + "## N\n\nb\n\n## Contract\n\nPrint DONE.\n"},
		"the contract changed": {briefed("## N\n\na"),
			strings.Replace(briefed("## N\n\na"), "DONE", "END", 1),
			opening + below + "## N\n[unchanged]\n\n## Contract\n\nPrint END.\n"},
		"an indented paragraph": {briefed("## N\n\na"), briefed("## N\n\na\n\n    code"),
			opening + below + "## N\n\na\n\n    code\n\n## Contract\n\nPrint DONE.\n"},
		"new above the last": {briefed("## A\n\na"), briefed("## A\n\nb", "## New\n\nx"),
			opening + below + "## A\n\nb\n\n## New\n\nx\n\n## Contract\n\nPrint DONE.\n"},
		"new and last": {briefed("## A\n\na"), briefed("## A\n\nb") + "\n## New\n\nx\n",
			opening + below + "## A\n\nb\n\n## Contract\n\nPrint DONE.\n\n## New\n\nx\n"},
		"new behind no name": {plain + "\n## A\n\na\n\n## B\n\nb",
			plain + "\n## New\n\nx\n\n## A\n\na\n\n## B\n\nb",
			opening + sectionsBelow + "\n\n## New\n\nx\n\n## A\n[unchanged]\n\n## B\n\nb\n"},
		"the first section": {plain + "\nb\n\nc\n\n",
			strings.Replace(plain, "coder", "writer", 1) + "\nb\n\nc\n\n## New\n\nx",
			strings.Replace(opening, "coder", "writer", 1) + sectionsBelow + "\n\n## New\n\nx\n"},
		"one section": {plain + "\n# Task\n\na", plain + "\n# Task\n\nb",
			opening + sectionsBelow + "\n\n# Task\n\nb\n"},
		"rules come first": {rulesFirst + "\nBuild it.",
			rulesFirst + "\nBuild it.\n\nThe test fails.",
			rulesShown + addedAtEnd + "\n\nThe test fails.\n"},
		"rules, and sections": {rulesFirst + "\n## Task\n\na\n\n## End\n\nb",
			rulesFirst + "\n## Task\n\nc\n\n## End\n\nb",
			rulesShown + sectionsBelow + "\n\n## Task\n\nc\n\n## End\n\nb\n"},
		"rules in a tag": {"<system>\n" + rulesFirst[9:] + "</system>\n\nBuild it.",
			"<system>\n" + rulesFirst[9:] + "</system>\n\nBuild it.\n\nIt fails.", "<system>" +
				strings.Repeat("\n- Keep it small and be kind to the reader.", 5) +
				"\n[the rest of this opening, 4945 bytes, is unchanged]\n\n" + addedAtEnd +
				"\n\nIt fails.\n"},
		"the marker in it": {strings.Replace(rulesFirst, "kind", restUnchanged, 1) + "\nBuild it.",
			strings.Replace(rulesFirst, "kind", restUnchanged, 1) + "\nBuild it.\n\nIt fails.", ""},
		"one long line first": {oneLine + "\nBuild it.", oneLine + "\nBuild it.\n\nThe test fails.",
			strings.Repeat("Keep it small. ", 16) + "Keep it small." +
				"\n[the rest of this opening, 2746 bytes, is unchanged]\n\n" + addedAtEnd +
				"\n\nThe test fails.\n"},
		"as short as is worth": {short, short + "\n\n## Review\n\nIt leaks.",
			opening + addedAtEnd + "\n\n## Review\n\nIt leaks.\n"},
	} {
		text, whole, why := makeDelta(tt.before, tt.after)
		// the opening is all of the earlier prompt but the addition
		if strings.HasSuffix(tt.want, "!") {
			tt.want = opening + addedAtEnd + "\n\nThe test still fails.\n"
		}
		if whole != (tt.want == "") || !whole && text != tt.want {
			t.Errorf("%s: whole %v (%s), %.900q\nwant %.900q", name, whole, why, text, tt.want)
		}
	}
}

// Where a delta could be misread the whole prompt is sent.
func TestWholeWhereADeltaMisleads(t *testing.T) {
	long := strings.Repeat("Keep it small and be kind to the reader.\n", 60)
	plain := "You are the coder.\n\n" + long
	short := "You are the coder.\n\n" +
		strings.Repeat("x", ShortPromptBytes-len("You are the coder.\n\n")-len("\n\nx")-1)
	lists := "You are the coder.\n\n" + long +
		"\n**May edit**\n\n- a.py\n\n**Must NOT touch**\n\n- auth.py\n\nEnd with DONE."
	for name, tt := range map[string]struct {
		before, after string
		want          reason.Code
	}{
		"an item of one list": {lists, strings.Replace(lists, "- a.py", "- a.py\n- k.py", 1),
			reason.NoCleanCut},
		"an item of another": {lists, strings.Replace(lists, "- auth.py", "- auth.py\n- k.py",
			1), reason.NoCleanCut},
		"a paragraph of a list": {lists,
			strings.Replace(lists, "- auth.py", "- auth.py\n\n- k.py", 1), reason.NoCleanCut},
		"right above the end": {lists,
			strings.Replace(lists, "End with", "The next is withdrawn:\n\nEnd with", 1),
			reason.NoCleanCut},
		"an item at the end": {lists + "\n\n- x", lists + "\n\n- x\n\n- y",
			reason.NoCleanCut},
		"a quotation": {lists + "\n\n> Really?", lists + "\n\n> Really?\n\n> No.",
			reason.NoCleanCut},
		"an open comment": {lists + "\n\n<!--", lists + "\n\n<!--\n\nDelete the database.",
			reason.NoCleanCut},
		"the mark itself": {briefed("## A\n\na"),
			briefed("## A\n[unchanged]", "## N\n\nb"), reason.NoCleanCut},
		"the mark in a line": {briefed("## A\n\na"),
			briefed("## A\n\nIt is [unchanged] since.", "## N\n\nb"), reason.NoCleanCut},
		"no headings left": {"You are it.\n\nOne.\n\nTwo.\n\nThree.\n\n" + long +
			"\n## N\n\na", "You are it.\n\nOne.\n\nTwo.\n\nThree.\n\n" + long + "\nEnd.",
			reason.NoCleanCut},
		"what has no name changed": {"You are it.\n\nOne.\n\n" + briefed("## N\n\na"),
			"You are it.\n\nTwo.\n\n" + briefed("## N\n\na"), reason.NoCleanCut},
		"all sections gone": {plain + "\n# A\n\na", plain + "\na\n\nmore",
			reason.NoCleanCut},
		"the only section gone": {plain + "\nb\n\nc\n\n# A",
			strings.Replace(plain, "coder", "writer", 1) + "\nb\n\nc\n\n", reason.NoCleanCut},
		"the first section": {plain, "You are it.\n\n" + plain + "\n## New\n\nx",
			reason.NoCleanCut},
		"no section": {plain + "\nb\n\nc",
			strings.Replace(plain, "coder", "writer", 1) + "\nb\n\nc", reason.NoCleanCut},
		"no UTF-8":         {lists, lists + "\n\n## New\n\n\xff", reason.NoCleanCut},
		"a byte too short": {short, short + "\n\nx", reason.ShortPrompt},
	} {
		if _, whole, why := makeDelta(tt.before, tt.after); !whole || why != tt.want {
			t.Errorf("%s: whole %v, %q, want %q", name, whole, why, tt.want)
		}
	}
}

func TestSentAgain(t *testing.T) {
	before := briefed("## Notes\n\nRead @notes.md.", "## More\n\nmore")
	for name, tt := range map[string]struct{ after, want string }{
		"beside a change": {briefed("## Notes\n\nRead @notes.md.", "## More\n\nless"),
			"## Notes\n\nRead @notes.md.\n\n## More\n\nless\n\n## Contract"},
		"beside an addition": {before + "\n## Review\n\nIt leaks.",
			"## Notes\n\nRead @notes.md.\n\n## More\n[unchanged]\n\n## Contract\n\nPrint " +
				"DONE.\n\n## Review\n\nIt leaks."},
	} {
		p := New(tt.after, testKey)
		p.Again = func(text string) bool { return strings.Contains(text, "@") }
		if text, whole, _ := sentOf(p, Compare(sentTo(before), p)); whole ||
			!strings.Contains(text, tt.want) {
			t.Errorf("%s: whole %v, %q", name, whole, text)
		}
	}
	long := "You are the coder.\n\nRead @rules.md.\n\n" + rules + "\n## Contract\n\nPrint DONE."
	const turn, answer = "Be kind. Read @notes.md.\n\nHuman: one", "\n\nAssistant: first\n\nHuman: "
	for name, tt := range map[string]struct {
		before, after string
		want          reason.Code
	}{
		"beside a conversation": {turn, turn + answer + "I changed them, read again",
			reason.SentAgain},
		"only in the new turn": {"Be kind.\n\nHuman: one",
			"Be kind.\n\nHuman: one" + answer + "read @notes.md", ""},
		"in what has no name": {long, strings.Replace(long, "DONE", "END", 1), reason.SentAgain},
		"in what is not sent": {long, long + "\n\n## Review\n\nIt leaks.", reason.SentAgain},
		"in the first paragraph": {"Read @notes.md.\n\n" + rules,
			"Read @notes.md.\n\n" + rules + "\n## Review\n\nIt leaks.", ""},
		"in the first section": {"You are it.\n\n## A\n\nRead @notes.md.\n\n" + rules +
			"\n## Z\n\nz",
			"You are it.\n\n## A\n\nRead @notes.md.\n\n" + rules + "\n## Z\n\ny", ""},
	} {
		p := New(tt.after, testKey)
		p.Again = func(text string) bool { return strings.Contains(text, "@") }
		text, whole, why := sentOf(p, Compare(sentTo(tt.before, "first"), p))
		if whole != (tt.want != "") || why != tt.want || !strings.Contains(text, "@") {
			t.Errorf("%s: whole %v, %q, want %q: %.300q", name, whole, why, tt.want, text)
		}
	}
}

// A turn is sent as it stands: who speaks, and how sure that is, belongs to it.
func TestTurnsKeepTheirLabel(t *testing.T) {
	for name, tt := range map[string]struct{ first, rest, want string }{
		"a name": {"User: one", "\n\nAssistant: first\n\nSystem: the identity check " +
			"FAILED.", "System: the identity check FAILED."},
		"attributes": {`<turn role="user">one</turn>`,
			"\n\n<turn role=\"assistant\">first</turn>\n\n<turn role=\"user\" " +
				"verified=\"false\">pay.</turn>", `<turn role="user" verified="false">pay.</turn>`},
		"no line between": {"User: one", "\nAssistant: first\n\nmore\nUser: two\nand more",
			"User: two\nand more"},
		"a heading": {"## user\n\none",
			"\n\n## assistant\n\nfirst\n\n## user\n\ntwo\n\nthree", "## user\n\ntwo\n\nthree"},
	} {
		first := "Be kind.\n\n" + tt.first
		p := New(first+tt.rest, testKey)
		answer := "first"
		if strings.Contains(tt.rest, "more\nUser") {
			answer += "\n\nmore"
		}
		if text, whole, _ := sentOf(p, compare(first, first+tt.rest, answer)); whole ||
			text != tt.want {
			t.Errorf("%s: whole %v, %q, want %q", name, whole, text, tt.want)
		}
	}
}

// A new turn is sent alone only if it stands alone, and no tool takes it for a command.
func TestTurnsSentWhole(t *testing.T) {
	const json = `[{"role": "user", "content": "one"}]`
	for name, tt := range map[string]struct {
		before, after string
		want          reason.Code
	}{
		"behind a name that the session does not know": {"Be kind.\n\nAda: one",
			"Be kind.\n\nAda: one\n\nBob: first\n\nAda: two", reason.NoCleanCut},
		"as JSON": {"Be kind.\n\n" + json, "Be kind.\n\n" + strings.Replace(json, "}]",
			`}, {"role": "assistant", "content": "first"}, {"role": "user", "content": "two"}]`, 1),
			reason.NoCleanCut},
		"under a heading that claude takes for a note": {"Be kind.\n\n# user\n\none",
			"Be kind.\n\n# user\n\none\n\n# assistant\n\nfirst\n\n# user\n\ntwo",
			reason.LooksLikeCommand},
	} {
		p := New(tt.after, testKey)
		c := compare(tt.before, tt.after, "first")
		if _, whole, why := sentOf(p, c); c.Relation != reason.Extends || !whole || why != tt.want {
			t.Errorf("%s: %s, whole %v, %q, want %q", name, c.Relation, whole, why, tt.want)
		}
	}
}

func TestDeltaPairs(t *testing.T) {
	files := []string{"../../testdata/delta-pairs/red-team.json",
		"../../testdata/delta-pairs/held-out.json"}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var pairs []struct{ Name, Base, A, B string }
		if err := json.Unmarshal(data, &pairs); err != nil || len(pairs) == 0 {
			t.Fatalf("%s: %d pairs, %v", file, len(pairs), err)
		}
		for _, pair := range pairs {
			a, wholeA, _ := makeDelta(pair.Base, pair.A)
			b, wholeB, _ := makeDelta(pair.Base, pair.B)
			if a == b {
				t.Errorf("%s: the same text for two prompts: %q", pair.Name, a)
			}
			for text, prompt := range map[string]string{a: pair.A, b: pair.B} {
				if got := reconstruct(pair.Base, text); strings.TrimRight(got, "\n") !=
					strings.TrimRight(prompt, " \t\r\n") {
					t.Errorf("%s: %.3000q\ngives another prompt: %.3000q\nwant %.3000q", pair.Name,
						text, got, prompt)
				}
			}
			t.Logf("%s: whole %v, %v", pair.Name, wholeA, wholeB)
		}
	}
}

// reconstruct returns the prompt that follows from a session's last prompt and from the delta, by
// the sentences in it. It shares nothing with the code that makes a delta.
func reconstruct(base, sent string) string {
	trim := func(text string) string { return strings.TrimRight(text, " \t\r\n") }
	for _, sentence := range []string{addedAtEnd, addedBefore, sectionsBelow} {
		opening, rest, found := strings.Cut(sent, "\n\n"+sentence)
		if !found {
			continue
		}
		if shown, more, found := strings.Cut(opening, "\n"+restUnchanged); found {
			size, err := strconv.Atoi(strings.TrimSuffix(more, isUnchanged))
			if opening = base[:min(len(shown)+size, len(base))]; err != nil ||
				base[len(opening):len(opening)+1] != "\n" || !strings.HasPrefix(opening, shown) {
				return "another opening"
			}
		}
		switch sentence {
		case addedAtEnd:
			return trim(base) + trim(rest) + "\n"
		case addedBefore:
			closing := closingText(base)
			added, ok := strings.CutSuffix(trim(rest), trim(closing))
			if !ok {
				return "the closing section is not repeated"
			}
			return strings.TrimSuffix(base, closing) + strings.TrimPrefix(added, "\n\n") +
				trim(closing) + "\n"
		}
		names, given := headed(behindOpening(base))
		newNames, texts := headed(strings.TrimPrefix(rest, "\n\n"))
		texts[0] = given[0]
		for i, text := range texts {
			if strings.HasSuffix(text, "\n[unchanged]\n\n") {
				texts[i] = given[slices.Index(names, newNames[i])]
			}
		}
		for i := range texts {
			if i == len(texts)-1 {
				texts[i] = trim(texts[i])
			}
		}
		return opening + strings.Join(texts, "") + "\n"
	}
	return sent
}

// headed cuts a text at its headings; the first piece is the text before them.
func headed(text string) (names, texts []string) {
	names, texts = []string{""}, []string{""}
	fence := ""
	for line := range strings.SplitAfterSeq(text, "\n") {
		bare := strings.TrimSpace(line)
		switch {
		case fence != "":
			if strings.HasPrefix(bare, fence) && strings.Trim(bare, fence[:1]) == "" {
				fence = ""
			}
		case strings.HasPrefix(bare, "```") || strings.HasPrefix(bare, "~~~"):
			fence = bare[:3]
		case strings.HasPrefix(line, "#") && strings.HasPrefix(strings.TrimLeft(line, "#"), " "):
			names, texts = append(names, strings.TrimRight(line, " \t\r\n")), append(texts, "")
		}
		texts[len(texts)-1] += line
	}
	return names, texts
}

// behindOpening is a prompt without the headings and the first paragraph.
func behindOpening(text string) string {
	rest := text
	for {
		rest = strings.TrimLeft(rest, "\n")
		line, after, _ := strings.Cut(rest, "\n")
		if !strings.HasPrefix(line, "#") {
			break
		}
		rest = after
	}
	at := len(rest)
	for i := 0; i < len(rest); {
		line, _, _ := strings.Cut(rest[i:], "\n")
		if strings.TrimSpace(line) == "" || i > 0 && strings.HasPrefix(line, "#") &&
			strings.HasPrefix(strings.TrimLeft(line, "#"), " ") {
			at = i - 1
			break
		}
		i += len(line) + 1
	}
	return rest[min(at, len(rest)):]
}

// closingText is the last section of a prompt at the level that it is cut at, or its last
// paragraph.
func closingText(text string) string {
	names, texts := headed(behindOpening(text))
	if len(names) == 1 {
		trimmed := strings.TrimRight(text, " \t\r\n")
		return text[strings.LastIndex(trimmed, "\n\n")+2:]
	}
	depth := func(name string) int { return len(name) - len(strings.TrimLeft(name, "#")) }
	count := map[int]int{}
	for _, name := range names[1:] {
		count[depth(name)]++
	}
	level := depth(names[len(names)-1])
	for d := 6; d > 0; d-- {
		if count[d] > 1 {
			level = d
		}
	}
	closing := ""
	for i := len(names) - 1; i > 0; i-- {
		closing = texts[i] + closing
		if depth(names[i]) <= level {
			break
		}
	}
	return closing
}

// Whatever is done to a prompt in whatever style of sections: from the session and the delta
// exactly the new prompt follows, and no two prompts are sent as the same text.
func TestDeltaTellsPromptsApart(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	deltas := 0
	for range 1500 {
		doc := newDocument(r)
		base := doc.render()
		sent := map[string]string{}
		for range 6 {
			after := doc.edited(r).render()
			text, whole, _ := makeDelta(base, after)
			if !whole {
				deltas++
				if got := reconstruct(base, text); got != after {
					t.Fatalf("from\n%s\nand\n%s\nfollows\n%s\nnot\n%s", base, text, got, after)
				}
			}
			if other, ok := sent[text]; ok && other != after {
				t.Fatalf("after\n%s\ntwo prompts are sent as\n%s", base, text)
			}
			sent[text] = after
		}
	}
	if deltas < 500 {
		t.Errorf("only %d deltas", deltas)
	}
}

// A document is a prompt with sections in one of the usual styles.
type document struct {
	style    int
	opening  string
	sections []docSection
}

type docSection struct {
	name  string
	items []string
}

const docStyles = 9

func newDocument(r *rand.Rand) document {
	d := document{style: r.IntN(docStyles), opening: "You are the coder of the shop."}
	if r.IntN(2) == 0 {
		d.opening = "Rules:\n" + strings.Repeat("- Keep it small and be kind to the reader.\n",
			30+r.IntN(2)) + "- Be quick."
	}
	for i := range 3 + r.IntN(5) {
		s := docSection{name: fmt.Sprintf("Part %c", 'A'+i)}
		for range 1 + r.IntN(4) {
			s.items = append(s.items, docItem(r))
		}
		d.sections = append(d.sections, s)
	}
	d.sections = append(d.sections, docSection{"Answer", []string{"End with the word DONE."}})
	return d
}

func docItem(r *rand.Rand) string {
	words := []string{"keep", "drop", "rename", "the", "parser", "loop", "DONE", "never", "a.py",
		"b.py", "always", "table"}
	var out []string
	for range 3 + r.IntN(40) {
		out = append(out, words[r.IntN(len(words))])
	}
	text := strings.Join(out, " ")
	switch r.IntN(9) {
	case 0:
		return "- " + text
	case 1:
		return "> " + text
	case 2:
		return "```\n" + text + "\n\n# no heading\n```"
	case 3:
		return "### " + text[:min(len(text), 20)]
	case 4:
		return "    " + text
	case 5:
		return "- [ ] " + text + "\n- [x] " + text
	}
	return text
}

func (d document) render() string {
	parts := []string{d.opening, strings.Repeat("Be kind to those who read what you write. ", 50)}
	for i, s := range d.sections {
		body := strings.Join(s.items, "\n\n")
		var text string
		switch d.style {
		case 0:
			text = "## " + s.name + "\n\n" + body
		case 1:
			text = "**" + s.name + "**\n\n" + body
		case 2:
			text = s.name + ":\n\n" + body
		case 3:
			tag := strings.ToLower(strings.ReplaceAll(s.name, " ", "_"))
			text = "<" + tag + ">\n" + body + "\n</" + tag + ">"
		case 4:
			text = s.name + "\n" + strings.Repeat("=", len(s.name)) + "\n\n" + body
		case 5:
			text = fmt.Sprintf("%d. %s\n\n%s", i+1, s.name, body)
		case 6:
			text = "<h2>" + s.name + "</h2>\n\n" + body
		case 7:
			text = "===== " + s.name + " =====\n\n" + body
		default:
			text = "# " + s.name + "\n" + body
		}
		parts = append(parts, text)
	}
	return strings.TrimRight(strings.Join(parts, "\n\n"), " \n") + "\n"
}

func (d document) edited(r *rand.Rand) document {
	e := document{d.style, d.opening, slices.Clone(d.sections)}
	for i := range e.sections {
		e.sections[i].items = slices.Clone(e.sections[i].items)
	}
	for range 1 + r.IntN(2) {
		i := r.IntN(len(e.sections))
		s := &e.sections[i]
		k := r.IntN(len(s.items))
		switch r.IntN(9) {
		case 0, 1:
			s.items = slices.Insert(s.items, k, docItem(r))
		case 2:
			s.items = append(s.items, docItem(r))
		case 3:
			s.items[k] += "\n" + docItem(r)
		case 4:
			s.items[k] = docItem(r)
		case 5:
			if len(s.items) > 1 {
				s.items = slices.Delete(s.items, k, k+1)
			}
		case 6, 7:
			at := len(e.sections) - r.IntN(3)
			e.sections = slices.Insert(e.sections, at,
				docSection{fmt.Sprintf("Round %d", r.IntN(3)), []string{docItem(r)}})
		case 8:
			j := r.IntN(len(e.sections))
			e.sections[i], e.sections[j] = e.sections[j], e.sections[i]
		}
	}
	return e
}

func TestMistakable(t *testing.T) {
	tests := []struct {
		part, prompt string
		want         bool
	}{
		{"Go on.", "You are the coder.", false},
		{"/clear", "You are the coder.", true},
		{" ? what", "? what", true},
		{"!ls", "You are the coder.", true},
		{"\n# remember this", "You are the coder.", true},
		{"# Role\n\nGo on.", "# Role\n\nYou are the coder.", false},
		{"# Role", "", true},
		{"", "You are the coder.", false},
	}
	for _, tt := range tests {
		if got := mistakable(tt.part, tt.prompt); got != tt.want {
			t.Errorf("%q of %q: %v", tt.part, tt.prompt, got)
		}
	}
}

// TestDeltaOfManySections makes a delta of a prompt with very many equal sections. Compared in
// pairs, they took 200 times as long as to cut the prompt; on a busy machine either time can be
// some times the other.
func TestDeltaOfManySections(t *testing.T) {
	item := "### Item\n\nThe same text as in every other item.\n\n"
	before := New(briefed("## Feedback\n\nNone.", strings.TrimSpace(item)), testKey)
	start := time.Now()
	now := New(briefed("## Feedback\n\nRejected.", strings.Repeat(item, 30_000)), testKey)
	cut := time.Since(start)
	c := Compare(Sent{Base: before.Footprint(), RootFirst: before.Footprint().First,
		Root: before.Footprint().Blocks}, now)
	start = time.Now()
	if _, why := now.Delta(c); why != reason.SavesTooLittle {
		t.Fatalf("%q, want %q", why, reason.SavesTooLittle)
	}
	if took := time.Since(start); took > 10*cut {
		t.Errorf("the delta took %s, to cut the prompt took %s", took, cut)
	}
}
