package prompt

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"reprise/rewrite/reason"
)

// Evidence is a session's events as a prompt shows them: facts that the prompt and the ledger's
// record of the session can show. The callers and the answers of other sessions are known
// elsewhere.
type Evidence struct {
	// Transcript reports that the prompt shows every answer of the session, unchanged and as turns
	// of a conversation, and a new turn.
	Transcript bool
	// Newest reports that the prompt shows the session's newest answer, which can be as short as
	// "Done.".
	Newest bool
	// Answer is the length in bytes of the session's newest answer if the prompt shows it whole
	// where it was not sent before, and it is too long to be a coincidence; 0 otherwise.
	Answer int
	// Own reports that the words right before that answer say that it is the session's: "Your last
	// report:".
	Own bool
	// Trace is a name in a new log or finding that the session's runs touched or the answers said
	// first, "" for none. In other text a name shows nothing: any first prompt can name a file.
	Trace string
	// Shown is a name over an answer that is not the session's newest one, "" if there is none.
	Shown string

	// Log reports that the prompt adds a log or a finding at a line of a file.
	Log bool

	alone  bool     // the answer stands on lines of its own
	names  []string // the names in the lines of the answer
	goesOn bool     // a conversation had begun before: its speakers can ask for anything
	prompt *Prompt
	added  []int         // the lines that the session was not sent
	new    []*promptLine // of these, those that are not the answer
	since  []*promptLine // new since the first prompt, if later ones are replaced
	// the prompt replaces text of later rounds
	revises bool
}

// A Finding is a piece of a prompt that speaks for or against a resume.
type Finding struct {
	Kind  string `json:"kind" doc:"its kind"` // as listed in words.tsv, or shown
	Words string `json:"words,omitempty" doc:"words found in the prompt"`
}

// kindShown is the kind of an answer in the prompt that is not the session's own.
const kindShown = "shown"

// kindItem is the kind of an item's ID in replaced text.
const kindItem = "item"

// distinctiveAnswer is the least length in bytes of an answer that recurs in a prompt by no chance.
const distinctiveAnswer = 40

// LongAnswer is the least length in bytes of an answer that identifies the session by itself, if
// the prompt shows nothing else that the session was sent.
const LongAnswer = 200

// evidence collects a prompt's evidence about a session.
func (p *Prompt) evidence(c *Continuity, h *history) Evidence {
	sent := &c.sent
	e := Evidence{prompt: p, added: c.new, Transcript: h.proven, goesOn: h.proven &&
		(sent.Transcript || sent.Base.Shape.FirstTurn >= 0 || c.cue > 0), Newest: h.newest ||
		h.within, Shown: h.foreign}
	var own map[Digest]bool
	if e.Newest {
		e.Answer, own = sent.newest()
	}
	isOwn := func(d Digest) bool { return own[d] }
	for _, i := range c.new {
		l, digests := &p.lines[i], p.digestsOf(i)
		switch {
		case c.introduces(l):
		case h.isAnswer(i), own[digests.line], slices.ContainsFunc(digests.quoted, isOwn):
			name, above := p.nameOver(i, own)
			e.Own = e.Own || e.Answer > 0 && findWords("own", plainWords(name)) != ""
			if !above { // a line above the answer counts as the rest of the prompt does
				e.names = append(e.names, name)
			}
			e.alone = e.alone || own[digests.line]
		default:
			e.add(i, sent)
		}
	}
	return e
}

// newest returns the length and the lines of the newest answer, 0 if that is not distinctive.
func (s *Sent) newest() (length int, lines map[Digest]bool) {
	n := len(s.Answers)
	if n == 0 || s.Answers[n-1].Bytes < distinctiveAnswer {
		return 0, nil
	}
	lines = map[Digest]bool{}
	for _, line := range s.Answers[n-1].Lines {
		lines[line] = true
	}
	return s.Answers[n-1].Bytes, lines
}

// add adds new line i, which is not the answer.
func (e *Evidence) add(i int, sent *Sent) {
	p := e.prompt
	l := &p.lines[i]
	e.new = append(e.new, l)
	if e.Shown == "" && p.namesAnswer(i) && !speaksOf(l.line, sent.Others) {
		e.Shown = l.line
	}
	if p.isLog(l.block) {
		e.Log = true
		if len(sent.Things) > 0 {
			e.findTrace(l, func(m mention) bool { return slices.Contains(sent.Things, m.digest) })
		}
	}
}

// nameOver returns the name over an answer that line i shows: the beginning of the line, or, if
// that is only the answer, the line above it, unless that shows the answer too.
func (p *Prompt) nameOver(i int, own map[Digest]bool) (name string, above bool) {
	if !p.isOnly(i, own) {
		name, _, _ = strings.Cut(strings.ReplaceAll(p.lines[i].line, "：", ":"), ":")
		return name, false
	}
	if i > 0 && !p.isOnly(i-1, own) {
		name = p.lines[i-1].line
	}
	return name, true
}

// isOnly reports whether line i is a line of the answer, or an item of a list that is.
func (p *Prompt) isOnly(i int, own map[Digest]bool) bool {
	return own[p.digestsOf(i).line] || own[p.digest(listItem(p.lines[i].line))]
}

// namesAnswer reports whether a line is or begins with a name over an answer: "Your last report:".
func (p *Prompt) namesAnswer(i int) bool {
	l := &p.lines[i]
	return l.named.of(func() bool {
		const longest = 60
		name, _, named := strings.Cut(strings.ReplaceAll(l.line, "：", ":"), ":")
		return (named || headingLevel(name) > 0 || strings.HasPrefix(name, "**")) &&
			len(name) <= longest && findWords("shown", plainWords(name)) != ""
	})
}

// speaksOf reports whether a line begins with one of some roles: "The coder said: it is done."
func speaksOf(line string, roles []string) bool {
	words := strings.TrimPrefix(plainWords(line), "the ")
	return slices.ContainsFunc(roles, func(role string) bool {
		name, _, _ := strings.Cut(role, RoleTextMark)
		return name != "" && strings.HasPrefix(words, plainWords(name)+" ")
	})
}

// listItem returns a line without the signs of a list or quotation before it.
func listItem(line string) string {
	item := strings.TrimLeft(line, "-*+>#•· \t")
	if number := strings.TrimLeft(item, digitSigns); number != item {
		if rest := strings.TrimLeft(number, ".)"); rest != number {
			item = rest
		}
	}
	return strings.TrimSpace(item)
}

// AddChanged looks for a trace of files that the session's runs changed, or of their tests.
func (e *Evidence) AddChanged(files []string) {
	changed := map[string]bool{}
	for _, file := range files {
		changed[baseName(file)] = true
	}
	for _, l := range e.new {
		if e.prompt.isLog(l.block) {
			e.findTrace(l, func(m mention) bool {
				return changed[m.name] || changed[m.tests]
			})
		}
	}
}

// findTrace looks for a name in a new line that the session touched or said first.
func (e *Evidence) findTrace(l *promptLine, touched func(mention) bool) {
	for _, m := range e.prompt.mentioned(l) {
		if e.Trace == "" && touched(m) {
			e.Trace = m.name
		}
	}
}

// A mention is a name in a line of the prompt.
type mention struct {
	name, tests string // tests is by testedFile
	digest      WordDigest
}

func (p *Prompt) mentioned(l *promptLine) []mention {
	return l.mentions.of(func() (all []mention) {
		for name := range names(l.line) {
			all = append(all, mention{name, testedFile(name), newWordDigest(p.digest(name))})
		}
		return all
	})
}

// A NewLine is a line that a prompt adds to the session's prompts.
type NewLine struct {
	Text   string
	Digest WordDigest // of the line as an answer might have it
}

// New returns the new lines that no prompt has by chance, without the lines of the session's own
// answer.
func (e *Evidence) New() (lines []NewLine) {
	for _, l := range e.new {
		lines = append(lines, e.prompt.distinctive(l)...)
	}
	return lines
}

// distinctive returns the line, and the quoted part, as far as no prompt has it by chance.
func (p *Prompt) distinctive(l *promptLine) []NewLine {
	return l.telling.of(func() (lines []NewLine) {
		for _, text := range append(slices.Clip(p.inner(l)), l.line) {
			if plain := plainLine(text); distinctiveLine(plain) {
				lines = append(lines, NewLine{text, newWordDigest(p.digest(plain))})
			}
		}
		return lines
	})
}

// LineDigests returns the marks of all lines of the prompt that no prompt has by chance.
func (p *Prompt) LineDigests() map[WordDigest]bool {
	marks := map[WordDigest]bool{}
	for i := range p.lines {
		for _, line := range p.distinctive(&p.lines[i]) {
			marks[line.Digest] = true
		}
	}
	return marks
}

// Failure returns the new words that say that the session's last run failed, "" if there are none.
// A count of attempts above one beside a log says so too.
func (e *Evidence) Failure() string {
	words := e.prompt.words(e.unquoted())
	if past := words.find("past"); past != "" || !e.Log {
		return past
	}
	return words.find("attempt")
}

// Rejected reports whether the prompt adds a heading over a rejection: "## Rejection 2".
func (e *Evidence) Rejected() bool { return e.prompt.words(e.unquoted()).find("rejected") != "" }

// unquoted returns the new text without quotations.
func (e *Evidence) unquoted() string {
	return e.text(func(l *promptLine) string {
		return l.bare.of(func() string {
			return quotation().ReplaceAllString(l.line, "") + "\n"
		})
	})
}

// Against returns the objections to a resume. quoted reports whether a line is another's answer:
// it is not the caller who speaks there.
func (e *Evidence) Against(quoted func(text string) bool) (found []Finding) {
	if e.Shown != "" && e.Answer == 0 {
		found = append(found, Finding{kindShown, e.Shown})
	}
	if item := e.item(); item != "" {
		found = append(found, Finding{kindItem, item})
	}
	words := e.prompt.words(e.text(func(l *promptLine) string {
		if quoted != nil && (quoted(l.line) || slices.ContainsFunc(e.prompt.inner(l), quoted)) {
			return ""
		}
		return l.line + "\n"
	}) + strings.Join(e.names, "\n"))
	for _, kind := range kindsAgainst {
		if words := words.find(kind); words != "" &&
			!(e.goesOn && (kind == "judge" || kind == "rival")) {
			found = append(found, Finding{kind, words})
		}
	}
	if words := e.prompt.words(e.before()).find("base"); words != "" {
		found = append(found, Finding{"base", words})
	}
	return found
}

// itemID matches the ID of an item at the beginning of a line: "Ticket: NT-9003", "Case #7002",
// "Pull request 13".
var itemID = compiled(`^\P{L}{0,4}` +
	`(?:(?:\pL+(?: \pL+)?(?:: ?| ))?([A-Z][A-Z0-9]{0,9}-\d+|#\d{2,})\b` +
	`|(?i:(?:pull|merge) request|issue|ticket|case|bug|story)(?:: ?| )(\d{2,})\b)`)

// item returns the line of replaced text that begins with the ID of an item, such as a ticket's, if
// the rest of the prompt does not have the ID, "" for none.
func (e *Evidence) item() string {
	if !e.revises {
		return ""
	}
	before := sync.OnceValue(e.before)
	for _, l := range e.new {
		ids := itemID().FindStringSubmatch(l.line)
		if ids != nil && !strings.Contains(before(), cmp.Or(ids[1], ids[2])) {
			return l.line
		}
	}
	return ""
}

// before returns the lines that the session was sent.
func (e *Evidence) before() string {
	if e.prompt == nil { // there are only the session's prompts
		return ""
	}
	var text strings.Builder
	added := e.added
	for i := range e.prompt.lines {
		if len(added) > 0 && added[0] == i {
			added = added[1:]
			continue
		}
		text.WriteString(e.prompt.lines[i].line)
		text.WriteByte('\n')
	}
	return text.String()
}

// ReasonAgainst returns the reason of the first finding of some kinds, of any kind if none is
// given. It returns "" if there is no such finding. A wrong answer counts in any case.
func ReasonAgainst(found []Finding, kinds ...string) reason.Code {
	for _, f := range found {
		if len(kinds) == 0 || f.Kind == kindShown || slices.Contains(kinds, f.Kind) {
			return reasonsAgainst[f.Kind]
		}
	}
	return ""
}

// quotation matches the text between quotation marks: somebody else's words.
var quotation = compiled(`"[^"\n]*"|“[^”\n]*”|„[^“\n]*“|«[^»\n]*»|「[^」\n]*」`)

// text returns the new text without code and logs, line by line as read returns it: the beginning
// and the end, as far as they are searched for words.
func (e *Evidence) text(read func(*promptLine) string) string {
	lines := e.new
	if e.since != nil {
		lines = e.since
	}
	var code fence
	lines = slices.DeleteFunc(slices.Clone(lines), func(l *promptLine) bool {
		return code.next(l.line) || strings.HasPrefix(l.full, "    ") ||
			strings.HasPrefix(l.full, "\t")
	})
	var text strings.Builder
	for len(lines) > 0 && text.Len() <= maxScanned {
		text.WriteString(read(lines[0]))
		lines = lines[1:]
	}
	end := len(lines)
	for size := 0; end > 0 && size <= maxScanned; {
		end--
		size += len(read(lines[end]))
	}
	for _, l := range lines[end:] {
		text.WriteString(read(l))
	}
	return text.String()
}
