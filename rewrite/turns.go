package rewrite

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// promptLine is a line of a prompt that is not blank, seen as a line of a
// conversation.
type promptLine struct {
	block    int // the block it stands in
	speaker  speaker
	line     string // the line without the space around it
	text     string // the same without the name of the speaker
	step     string // how its indentation differs from that of the line before
	digest   Digest // of line, once digested is set
	digested bool
}

// speaker says whose turn a line opens.
type speaker int

const (
	nobody speaker = iota // the line opens no turn
	assistant
	toolOutput // what a tool of the assistant's said
	other
)

// The names that turns stand under. A plain name also serves as an everyday word:
// it needs more than a dash or an end of line to be a name.
var (
	assistantNames = wordSet{words: `assistant ai bot chatbot llm claude codex gemini vibe chatgpt gpt copilot sonnet opus haiku
		mistral devstral llama qwen deepseek grok kimi aimessage assistent asistente assistente 助手 アシスタント ассистент`}
	plainNames = wordSet{words: "model agent you response reply answer"}
	toolNames  = wordSet{words: "tool function"}
	otherNames = wordSet{words: "user human system developer customer client me question humanmessage systemmessage"}
)

// besideNames may stand beside a name: "Assistant (turn 2):", "### Claude's reply".
var besideNames = wordSet{words: `s code cli message output result turn step round said says wrote replied answered previous last your
	role name start end im of header id pro flash mini nano large medium small turbo preview latest instruct chat am pm utc
	b strong em p div span summary`}

func speakerNamed(word string) speaker {
	switch {
	case assistantNames.has(word), plainNames.has(word):
		return assistant
	case toolNames.has(word):
		return toolOutput
	case otherNames.has(word):
		return other
	}
	return nobody
}

// conversation gives the prompt's lines with the turns that they open.
func (p *Prompt) conversation() []promptLine {
	if p.lines != nil {
		return p.lines
	}
	p.lines = make([]promptLine, 0, strings.Count(p.Text, "\n")+1)
	questions, indent := false, ""
	for i, b := range p.blocks {
		for full := range strings.SplitSeq(b.text, "\n") {
			line := strings.TrimSpace(full)
			if line == "" {
				continue
			}
			l := promptLine{block: i, line: line}
			l.speaker, l.text = opensTurn(line)
			if letter, rest := questionOrAnswer(line); letter == 'q' {
				questions, l.speaker, l.text = true, other, rest
			} else if letter == 'a' && questions {
				l.speaker, l.text = assistant, rest
			}
			l.step, indent = step(indent, full)
			p.lines = append(p.lines, l)
		}
	}
	return p.lines
}

// step says how the indentation of a line differs from the one before it, and
// gives that indentation. Steps stay the same where a whole text is indented.
func step(before, line string) (step, indent string) {
	indent = line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	if indent == before {
		return "", indent
	}
	same := 0
	for same < len(before) && same < len(indent) && before[same] == indent[same] {
		same++
	}
	return strconv.Itoa(len(before)-same) + indent[same:], indent
}

// questionOrAnswer reads "Q:", "A2:", "**Q1.** ..." and the like.
func questionOrAnswer(line string) (letter byte, rest string) {
	label := strings.TrimLeft(line, "*_#> \t")
	if label == "" || !strings.ContainsRune("QA", rune(label[0])) {
		return 0, ""
	}
	rest = strings.TrimLeft(label[1:], "0123456789")
	if rest == "" || !strings.ContainsRune(":.)", rune(rest[0])) {
		return 0, ""
	}
	return label[0] | 0x20, withoutEmphasis(rest[1:])
}

// opensTurn reads a line as the start of a turn in any usual notation:
// "## assistant", "Assistant:", "**Assistant:** text", "[08:15] assistant> text",
// "<assistant>", `<turn speaker="assistant">`, "<|im_start|>assistant", "[/INST] text",
// `"role": "assistant"`, "role: assistant". rest is what the line says beyond
// that, the whole line where it opens no turn. Reading too much as a turn only costs
// a resume.
func opensTurn(line string) (who speaker, rest string) {
	if closesTurn(line) {
		return other, "" // what follows is not the assistant's
	}
	if _, after, ok := strings.Cut(line, "[/INST]"); ok {
		return assistant, strings.TrimSpace(after)
	}
	if who := roleIn(line); who != nobody {
		if _, after, ok := strings.Cut(line, ">"); ok && line[0] == '<' {
			return who, withoutClosingTag(strings.TrimSpace(after))
		}
		return who, line
	}
	who, rest = namedTurn(line)
	switch {
	case who == nobody:
		return nobody, line
	case strings.HasPrefix(line, "</"):
		return other, strings.TrimSpace(rest)
	case strings.HasPrefix(line, "<"):
		return who, withoutClosingTag(strings.TrimSpace(rest))
	}
	return who, withoutEmphasis(rest)
}

func withoutEmphasis(rest string) string {
	return strings.TrimSpace(strings.TrimLeft(rest, "*_:"))
}

// namedTurn reads the name over a turn at the start of a line: a name, around it
// only numbers, times and words that go with a name, and then a sign that sets it
// off from what is said.
func namedTurn(line string) (who speaker, rest string) {
	const longest = 64
	plain := false
	for i := 0; i < len(line); {
		if i > longest {
			return nobody, ""
		}
		if n := wordLength(line[i:]); n > 0 {
			word := strings.ToLower(line[i : i+n])
			found := speakerNamed(word)
			switch {
			case found != nobody && who == nobody:
				who, plain = found, plainNames.has(word)
			case found == nobody && !besideNames.has(word) && !calendarWords.has(word) && !strings.ContainsAny(word, "0123456789"):
				return nobody, ""
			}
			i += n
			continue
		}
		r, size := utf8.DecodeRuneInString(line[i:])
		if who != nobody {
			if line[0] == '<' && r == ' ' { // the attributes of a tag
				if _, after, ok := strings.Cut(line[i:], ">"); ok {
					return who, after
				}
			}
			if setsOff(line, i, r, plain) {
				return who, line[i+size:]
			}
		}
		i += size
	}
	if who != nobody && (!plain || strings.ContainsRune("#*_=<[", rune(line[0]))) {
		return who, ""
	}
	return nobody, ""
}

// wordLength is the length in bytes of the word that text starts with.
func wordLength(text string) int {
	end := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if end < 0 {
		return len(text)
	}
	return end
}

// setsOff tells whether the sign at i ends a name.
func setsOff(line string, i int, sign rune, plain bool) bool {
	near := func(j int, chars string) bool {
		return j >= 0 && j < len(line) && strings.IndexByte(chars, line[j]) >= 0
	}
	const digits = "0123456789"
	switch sign {
	case ':':
		return !near(i-1, digits) || !near(i+1, digits) // not within a time
	case '>':
		return !near(i-1, "-=")
	case ']':
		return line[0] == '['
	case '|':
		return !plain && line[0] == '|'
	case '—', '–':
		return !plain
	case '-':
		return !plain && near(i-1, " ") && near(i+1, " ")
	}
	return false
}

// roleIn finds the speaker where a turn is written as data: JSON, YAML, XML or a
// program's own print. A line with several turns is the assistant's if one is.
func roleIn(line string) (who speaker) {
	if !strings.ContainsAny(line, ":=") {
		return nobody
	}
	line = strings.ToLower(line)
	for _, key := range []string{"role", "speaker", "author", "sender", "from"} {
		for rest := line; ; {
			i := strings.Index(rest, key)
			if i < 0 {
				break
			}
			inside := i > 0 && wordLength(rest[i-1:i]) > 0
			rest = rest[i+len(key):]
			value := strings.TrimLeft(rest, "\"'\\:= \t")
			if inside || !strings.ContainsAny(rest[:len(rest)-len(value)], ":=") {
				continue
			}
			switch word := value[:wordLength(value)]; {
			case assistantNames.has(word), word == "model", word == "agent":
				return assistant
			case speakerNamed(word) != nobody:
				who = speakerNamed(word)
			}
		}
	}
	return who
}

// withoutClosingTag cuts the end of a turn off its last line.
func withoutClosingTag(text string) string {
	for _, end := range []string{"<|im_end|>", "<|eot_id|>", "<end_of_turn>", "</s>"} {
		if before, ok := strings.CutSuffix(text, end); ok {
			return strings.TrimSpace(before)
		}
	}
	if i := strings.LastIndex(text, "</"); i >= 0 && closesTurn(text[i:]) {
		return strings.TrimSpace(text[:i])
	}
	return text
}

// closesTurn tells of a closing tag that ends a turn, and of nothing else in the
// line.
func closesTurn(line string) bool {
	if !strings.HasPrefix(line, "</") {
		return false
	}
	switch line {
	case "</message>", "</turn>", "</msg>":
		return true
	}
	who, rest := namedTurn(line)
	return who != nobody && rest == ""
}

// An Answer is what the ledger keeps of one answer: the digests of its lines that
// are not blank, and its length.
type Answer struct {
	Lines []Digest
	Bytes int
	// Said are the other forms that the answer may be shown in: callers that read
	// events show all that a run says, not its final text alone.
	Said []Answer
}

// NewAnswer digests an answer, and all the texts of its run where it had more than
// one: each on lines of its own, and run together as deltas are.
func NewAnswer(text string, said []string, key Key) Answer {
	digest := key.Digester()
	a := digestLines(text, digest)
	if len(said) > 1 {
		a.Said = []Answer{digestLines(strings.Join(said, "\n"), digest), digestLines(strings.Join(said, ""), digest)}
	}
	return a
}

func digestLines(text string, digest func(string) Digest) Answer {
	var a Answer
	indent, change := "", ""
	for full := range strings.SplitSeq(text, "\n") {
		line := strings.TrimSpace(full)
		if line == "" {
			continue
		}
		if change, indent = step(indent, full); len(a.Lines) == 0 {
			change = "" // the first line may stand behind a name
		}
		a.Lines = append(a.Lines, digest(stepped(change, line)))
		a.Bytes += len(line)
	}
	return a
}

// stepped marks a line by its indentation: what is indented otherwise is another
// program.
func stepped(step, line string) string {
	if step == "" {
		return line
	}
	return "\x00" + step + "\x00" + line
}

// lineDigest is the digest of line i of the conversation, wherever it is
// indented.
func (p *Prompt) lineDigest(i int) Digest {
	l := &p.lines[i]
	if !l.digested {
		l.digest, l.digested = p.digest(l.line), true
	}
	return l.digest
}

// said is what a prompt shows of a session's answers.
type said struct {
	anyTurn bool // it adds a turn of the assistant, or an answer of the session
	all     bool // every answer stands there unchanged, no other turn of the assistant, and nothing new before them
	more    bool // something new stands before the last of them
	end     int  // the line behind the last of them
}

// answersIn looks for the session's answers in the prompt, in order: the newest in
// what the prompt adds, those before it anywhere. A turn of the assistant in a block
// that the session was sent belongs to the prompt itself (an example, say); any
// other must be one of the session's answers, from its first line to its last.
// conversed tells that the session has been sent a conversation before.
func (p *Prompt) answersIn(answers []Answer, conversed bool, has []bool) said {
	r := reader{p: p, lines: p.conversation(), has: has, answers: answers, conversed: conversed, said: said{all: true}}
	for i := 0; i < len(r.lines); i++ {
		line := &r.lines[i]
		start, marked := i, line.speaker == assistant
		if marked && line.text == "" {
			if start++; start == len(r.lines) {
				break // "Assistant:" at the very end asks for the answer
			}
		}
		if n := r.answer(i, start); n > 0 {
			i = start + n - 1
			continue
		}
		if line.speaker != nobody {
			r.opens(i)
		}
		if marked && !(r.old(i) && r.old(start)) {
			r.anyTurn, r.all = true, false
		}
		r.adds(i)
	}
	if r.next < len(answers) && !r.anyTurn && p.showsMost(answers[len(answers)-1], has) {
		r.anyTurn = true
	}
	r.all = r.all && r.next == len(answers)
	return r.said
}

// A reader goes through a prompt line by line.
type reader struct {
	said
	p         *Prompt
	lines     []promptLine
	has       []bool
	answers   []Answer
	conversed bool
	next      int     // the answer that is to come
	turn      speaker // whose turn it is
	oldTurn   bool    // it is the assistant's, and the session was sent it
	grown     bool    // something new was seen in it all the same
	news      bool    // something new was seen
	inserted  int     // how many new lines were seen that are no tool's
	last      int     // the last of them
}

func (r *reader) old(i int) bool { return r.has[r.lines[i].block] }

// answer takes the answer that is to come, if it stands at start, under the name in
// line i or, where it is long enough to be no accident, under none. It gives its
// length in lines.
func (r *reader) answer(i, start int) int {
	if r.next == len(r.answers) {
		return 0
	}
	marked := r.lines[i].speaker == assistant
	if !marked && (r.turn == assistant || r.turn == toolOutput) {
		return 0
	}
	// Of a conversation, the session has been sent every answer but the newest.
	newest := r.next == len(r.answers)-1
	if newest && r.old(start) || !newest && r.conversed && !r.old(start) {
		return 0
	}
	n := r.p.answerIn(r.answers[r.next], start, start == i, marked)
	if n == 0 {
		return 0
	}
	if r.grown || r.inserted > 0 && !r.mayStandBefore(marked, start) {
		r.all = false
	}
	r.anyTurn = r.anyTurn || !r.old(start)
	r.more, r.end = r.news, start+n
	r.next++
	r.turn, r.oldTurn, r.grown = nobody, false, false
	return n
}

// mayStandBefore tells whether what was inserted may stand before an answer: where
// no name that we know stands over it, a name that we do not know, right above it;
// and outside a conversation any notes, which quote it.
func (r *reader) mayStandBefore(marked bool, start int) bool {
	return !marked && (!r.conversed || r.inserted == 1 && r.last == start-1)
}

// opens begins a turn.
func (r *reader) opens(i int) {
	if r.grown {
		r.anyTurn, r.all = true, false
	}
	r.turn = r.lines[i].speaker
	r.oldTurn, r.grown = r.turn == assistant && r.old(i), false
}

// adds notes what is new in a line.
func (r *reader) adds(i int) {
	line := &r.lines[i]
	if r.old(i) {
		if r.turn == toolOutput {
			r.turn = nobody // it was slipped in above this line
		}
		return
	}
	if line.speaker != nobody && line.text == "" {
		return // a name alone says nothing
	}
	r.news, r.grown = true, r.oldTurn
	if r.turn != toolOutput {
		r.inserted, r.last = r.inserted+1, i
	}
}

// answerIn is answerAt for whichever form of the answer stands there.
func (p *Prompt) answerIn(a Answer, at int, named, marked bool) int {
	n := p.answerAt(a, at, named, marked)
	for i := 0; n == 0 && i < len(a.Said); i++ {
		n = p.answerAt(a.Said[i], at, named, marked)
	}
	return n
}

// answerAt tells how many lines of the conversation, from line at on, are the
// answer: all of its lines or none. Under the assistant's name the turn must end
// where the answer ends; without one the answer must be long enough to be no
// accident. named tells that the name stands in line at itself.
func (p *Prompt) answerAt(a Answer, at int, named, marked bool) int {
	lines := p.conversation()
	n := len(a.Lines)
	if n == 0 || at+n > len(lines) || !marked && a.Bytes < distinctiveAnswer {
		return 0
	}
	for i, want := range a.Lines {
		l := &lines[at+i]
		shown := l.line
		var got Digest
		switch {
		case i == 0 && named && marked:
			shown = l.text
			got = p.digest(shown)
		case i == 0 || l.step == "":
			got = p.lineDigest(at + i)
		default:
			shown = stepped(l.step, l.line)
			got = p.digest(shown)
		}
		if got == want {
			continue
		}
		bare := withoutClosingTag(shown)
		if !marked || i < n-1 || bare == shown || p.digest(bare) != want {
			return 0
		}
	}
	if marked && at+n < len(lines) && lines[at+n].speaker == nobody {
		return 0
	}
	return n
}

// showsMost tells whether most of an answer's lines stand in what the prompt adds:
// it shows the answer, but cut short or changed.
func (p *Prompt) showsMost(a Answer, has []bool) bool {
	if a.Bytes < distinctiveAnswer {
		return false
	}
	lines := p.conversation()
	shown := map[Digest]bool{}
	for i := range lines {
		if l := &lines[i]; !has[l.block] {
			shown[p.lineDigest(i)] = true
			if l.step != "" {
				shown[p.digest(stepped(l.step, l.line))] = true
			}
		}
	}
	found := 0
	for _, d := range a.Lines {
		if shown[d] {
			found++
		}
	}
	return 2*found > len(a.Lines)
}
