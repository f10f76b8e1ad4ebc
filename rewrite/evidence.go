package rewrite

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Evidence is what speaks for and against a prompt going on with a session's own work, where nothing but the prompt
// says so. Verdict is "" if the call may be resumed, else the reason why not.
type Evidence struct {
	Verdict Reason
	// For and Against quote the prompt. They are shown to the person who gave it and never kept.
	For, Against []Finding
	// Answer reports that the prompt shows the session's newest answer, unchanged: of two sessions that it may go on with
	// that tells which one is meant.
	Answer bool
}

// GoOn reports whether the prompt asks to go on where the session stopped.
func (e Evidence) GoOn() bool {
	return e.Verdict == "" && slices.ContainsFunc(e.For, func(f Finding) bool { return f.Kind == "goon" })
}

// A Finding is one piece of evidence.
type Finding struct {
	Kind  string // transcript, work, state, ... as evidenceTable lists them
	Words string // of the prompt, "" where no words of it carry the finding
}

// The kinds of findings that do not come from evidenceTable.
const (
	kindTranscript = "transcript" // the prompt shows every answer of the session, unchanged, as turns
	kindNotes      = "notes"      // what is added stands under a heading such as "Review notes"
	kindThing      = "thing"      // it names a file that the session touched, or a thing that its answer said first
	kindShown      = "shown"      // it shows an answer, or a turn, that is not the session's own unchanged one
	kindQuoted     = "quoted"     // it shows the session's answer, but not as a turn of a conversation that goes on
	kindDiff       = "diff"       // it adds a patch
	kindMaterial   = "material"   // it fills a place that the earlier prompt had left for an item
	kindAside      = "aside"      // below the new turn of a conversation it asks for something else
	kindFirst      = "first"      // its first words say that the work does not hold yet
)

// hardAgainst lists the kinds that decide against a resume whatever speaks for it, with their reasons.
var hardAgainst = map[string]Reason{"role": NewRole, "judge": NewRole, "clean": CleanStart, "sample": NoEvidence, "base": CleanStart,
	kindAside: NewRole}

// softAgainst lists the kinds that decide against a resume unless the prompt speaks of the session's own work.
var softAgainst = map[string]Reason{"other": NewRole, "task": NoEvidence, "anew": CleanStart, "vary": NoEvidence,
	"process": NoEvidence, kindDiff: NoEvidence, kindMaterial: NoEvidence}

// findings gathers evidence; of each kind it keeps the first few.
type findings struct {
	found map[string][]string
	order []string
}

const maxFindings = 3 // of a kind

func (f *findings) add(kind, words string) {
	if f.found == nil {
		f.found = map[string][]string{}
	}
	if len(f.found[kind]) == 0 {
		f.order = append(f.order, kind)
	}
	if len(f.found[kind]) < maxFindings && !slices.Contains(f.found[kind], words) {
		f.found[kind] = append(f.found[kind], words)
	}
}

func (f *findings) has(kinds ...string) bool {
	return slices.ContainsFunc(kinds, func(kind string) bool { return len(f.found[kind]) > 0 })
}

// firstOf returns the reason of the first kind found that reasons lists.
func (f *findings) firstOf(reasons map[string]Reason) Reason {
	for _, kind := range f.order {
		if r, ok := reasons[kind]; ok {
			return r
		}
	}
	return ""
}

func (f *findings) evidence(verdict Reason) Evidence {
	e := Evidence{Verdict: verdict}
	for _, kind := range f.order {
		_, hard := hardAgainst[kind]
		_, soft := softAgainst[kind]
		for _, words := range f.found[kind] {
			if hard || soft || kind == kindShown || kind == kindQuoted {
				e.Against = append(e.Against, Finding{kind, words})
			} else {
				e.For = append(e.For, Finding{kind, words})
			}
		}
	}
	return e
}

// evidence weighs what a prompt that extends the session's last one adds to it.
func (p *Prompt) evidence(sent Sent, c *Continuity, h *history) Evidence {
	var f findings
	added := p.added(c, h)
	for _, passage := range added {
		p.scanPassage(&f, passage, sent.Things)
	}
	if h.proven {
		p.scanAsides(&f, c, h)
	}
	p.scanBase(&f, c)
	switch {
	case h.proven:
		f.add(kindTranscript, "")
	case h.newest && h.foreign == "":
		f.add(kindQuoted, h.label)
	case h.part || h.foreign != "" || p.quotes(sent, added):
		f.add(kindShown, h.foreign)
	}
	lines := 0
	for _, passage := range added {
		lines += len(passage.lines)
	}
	e := f.evidence(f.verdict(lines))
	e.Answer = h.newest
	return e
}

// longestGoOn is how many lines a request to go on may take that says nothing else of the work. What is longer gives a new
// beginning.
const longestGoOn = 3

// verdict weighs the findings in an addition of so many lines.
func (f *findings) verdict(lines int) Reason {
	hard := f.firstOf(hardAgainst)
	switch {
	case hard != "":
		return hard
	case f.has(kindTranscript):
		return ""
	case f.has(kindShown):
		return HistoryEdited
	case f.has(kindQuoted):
		return NoEvidence
	case f.has("work"):
		return ""
	}
	if soft := f.firstOf(softAgainst); soft != "" {
		return soft
	}
	if f.has(kindNotes, kindFirst, "fix") || f.has("goon") && lines <= longestGoOn || f.has(kindThing) && f.has("log", "state") {
		return ""
	}
	return NoEvidence
}

// A passage is a run of lines that the prompt adds.
type passage struct {
	lines    []promptLine
	notes    bool   // it stands under a heading or label for feedback
	heading  string // that heading or label
	material bool   // it stands where the earlier prompt left a place for an item, or is the next of several
	system   bool   // it has instructions of another kind than a user's
}

// added cuts what the prompt adds into passages, without the answers of the session that it shows unchanged.
func (p *Prompt) added(c *Continuity, h *history) (out []passage) {
	lines := p.conversation()
	notes, under, run := false, "", false
	headings := map[string]bool{} // of what the session was sent
	for i := range lines {
		if l := &lines[i]; l.speaker == heading && c.old(l) {
			headings[l.line] = true
		}
	}
	for i := range lines {
		l := &lines[i]
		if l.speaker != nobody && l.speaker != everyday {
			notes, under = l.speaker == feedback, l.line
		}
		if c.old(l) || h.isAnswer(i) {
			run = false
			continue
		}
		if !run || out[len(out)-1].notes != notes {
			next := passage{notes: notes, heading: under}
			if !run && i > 0 && c.old(&lines[i-1]) {
				before := &lines[i-1]
				next.material = !notes && l.speaker != feedback &&
					(before.leavesPlace() || p.blocks[before.block].level > 0) && !h.proven
			}
			out, run = append(out, next), true
		}
		last := &out[len(out)-1]
		last.lines = append(last.lines, *l)
		// A section of a name that is there already is the next item of its kind.
		last.material = last.material || l.speaker == heading && headings[l.line] && !h.proven
		last.system = last.system || l.label == "system" || l.label == "developer"
	}
	return out
}

// leavesPlace reports whether what stands behind the line is an item for it.
func (l *promptLine) leavesPlace() bool {
	line := strings.TrimRight(l.line, "*_ ")
	return strings.HasSuffix(line, ":") || strings.HasSuffix(line, "：") || strings.HasPrefix(line, "```")
}

// scanPassage looks through what is added for words of the table. Fenced and indented lines are data: only logs and
// names are looked for there.
func (p *Prompt) scanPassage(f *findings, s passage, things []Mark) {
	if s.notes {
		f.add(kindNotes, s.heading)
	}
	if s.material {
		f.add(kindMaterial, s.lines[0].line)
	}
	if s.system {
		f.add("role", s.lines[0].line)
	}
	fence := ""
	var prose, data []string
	for _, l := range s.lines {
		switch {
		case fence != "":
			if closesFence(l.line, fence) {
				fence = ""
			}
			data = append(data, l.line)
		case opensFence(l.line) != "":
			fence = opensFence(l.line)
			if strings.Contains(l.line, "diff") || strings.Contains(l.line, "patch") {
				f.add(kindDiff, l.line)
			}
		case strings.HasPrefix(l.full, "    ") || strings.HasPrefix(l.full, "\t"):
			data = append(data, l.line)
		default:
			if strings.HasPrefix(l.line, "diff --git ") || strings.HasPrefix(l.line, "@@ -") {
				f.add(kindDiff, l.line)
			}
			prose = append(prose, l.line)
		}
	}
	matchPhrases(strings.Join(prose, "\n"), f.add)
	matchPhrases(firstSentence(s.lines[0].line), func(kind, words string) {
		if kind == "state" {
			f.add(kindFirst, words)
		}
	})
	matchPhrases(strings.Join(data, "\n"), func(kind, words string) {
		if kind == "log" {
			f.add(kind, words)
		}
	})
	for _, l := range s.lines {
		if place := filePlace(l.line); place != "" {
			f.add("log", place)
		}
	}
	p.findThings(f, s, things)
}

func firstSentence(line string) string {
	if i := strings.IndexAny(line, ".!?"); i > 0 {
		return line[:i]
	}
	return line
}

// filePlace returns the first word of a line where it names a place in a file, as compilers do: "a.go:12:3:".
func filePlace(line string) string {
	word, _, _ := strings.Cut(strings.TrimLeft(line, "-*> \t"), " ")
	name, number, ok := strings.Cut(word, ":")
	if !ok || !namesFile(name) || number == "" || number[0] < '0' || number[0] > '9' {
		return ""
	}
	return word
}

// scanAsides looks below the first paragraph of the new turn of a conversation for requests that need not be the
// speaker's: a caller that has something else done with the conversation writes them there.
func (p *Prompt) scanAsides(f *findings, c *Continuity, h *history) {
	lines := p.conversation()
	var aside []string
	for i := h.end; i < len(lines); i++ {
		if l := &lines[i]; !c.old(l) && !h.isAnswer(i) && l.block != lines[h.end].block && l.speaker == nobody {
			aside = append(aside, l.line)
		}
	}
	matchPhrases(strings.Join(aside, "\n"), func(kind, words string) {
		if _, soft := softAgainst[kind]; soft && kind != "process" && kind != "vary" {
			f.add(kindAside, words)
		}
	})
}

// scanBase looks for a demand for answers that stand alone in what the session was sent before.
func (p *Prompt) scanBase(f *findings, c *Continuity) {
	var old []string
	lines := p.conversation()
	for i := range lines {
		if l := &lines[i]; c.old(l) {
			old = append(old, l.line)
		}
	}
	phrases().base.match(strings.Join(old, "\n"), f.add)
}

// A phrase is an entry of evidenceTable.
type phrase struct {
	kind  string
	start bool // it must begin a sentence
	words []alternatives
}

// alternatives are the words that may stand in one place of a phrase; nil is a gap.
type alternatives []string

func (a alternatives) match(word string) bool {
	for _, want := range a {
		if prefix, ok := strings.CutSuffix(want, "*"); want == word || ok && strings.HasPrefix(word, prefix) {
			return true
		}
	}
	return false
}

// phrases is evidenceTable, read when it is first needed: the entries that are looked for in what a prompt adds, and those in
// what the session was sent before.
var phrases = sync.OnceValue(func() (t struct{ added, base phraseTable }) {
	t.added.byWord, t.base.byWord = map[string][]*phrase{}, map[string][]*phrase{}
	for line := range strings.SplitSeq(strings.TrimSpace(evidenceTable), "\n") {
		kind, _, _ := strings.Cut(line, " ")
		if kind == "base" || kind == "process" {
			t.base.add(line)
		}
		if kind != "process" { // what is added is judged by the other kinds
			t.added.add(line)
		}
	}
	return t
})

type phraseTable struct {
	byWord   map[string][]*phrase // by the words that a phrase may begin with
	prefixed []*phrase            // those that begin with a word that ends in *
	pieces   []piece              // of the languages without spaces
}

type piece struct{ kind, text string }

func (t *phraseTable) add(line string) {
	fields := strings.Fields(line)
	kind, language := fields[0], fields[1]
	if language == "zh" || language == "ja" {
		for _, text := range strings.Split(strings.Join(fields[2:], " "), "|") {
			t.pieces = append(t.pieces, piece{kind, text})
		}
		return
	}
	ph := &phrase{kind: kind}
	for i, field := range fields[2:] {
		if i == 0 {
			field, ph.start = strings.TrimPrefix(field, "^"), strings.HasPrefix(field, "^")
		}
		if field == ".." {
			ph.words = append(ph.words, nil)
			continue
		}
		ph.words = append(ph.words, strings.Split(field, "|"))
	}
	for _, word := range ph.words[0] {
		if strings.HasSuffix(word, "*") {
			t.prefixed = append(t.prefixed, ph)
			continue
		}
		t.byWord[word] = append(t.byWord[word], ph)
	}
}

// longestGap is how many words ".." stands for at most.
const longestGap = 3

// match returns the length in words of the phrase where it stands at the beginning of words, else 0.
func (ph *phrase) match(words []textWord) int { return matchPlaces(ph.words, words, 0) }

func matchPlaces(places []alternatives, words []textWord, used int) int {
	switch {
	case len(places) == 0:
		return used
	case places[0] == nil:
		for skip := 0; skip <= longestGap && used+skip < len(words); skip++ {
			if n := matchPlaces(places[1:], words, used+skip); n > 0 {
				return n
			}
		}
		return 0
	case used == len(words) || used > 0 && words[used].start || !places[0].match(words[used].text):
		return 0
	}
	return matchPlaces(places[1:], words, used+1)
}

// A textWord is a word of a text in lower case; start reports whether it begins a sentence or a line.
type textWord struct {
	text     string
	start    bool
	from, to int // where it stands
}

// maxScanned bounds how many bytes of a text are looked at from its beginning, and as many from its end.
const maxScanned = 128 << 10

func textWords(text string) []textWord {
	var out []textWord
	start := true
	for i := 0; i < len(text); {
		if n := wordLength(text[i:]); n > 0 {
			out = append(out, textWord{strings.ToLower(text[i : i+n]), start, i, i + n})
			start = false
			i += n
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		end := i + size
		space := end == len(text) || unicode.IsSpace(rune(text[end]))
		start = start || r == '\n' || strings.ContainsRune("!?;…。！？", r) || (r == '.' || r == ':') && space
		i = end
	}
	return out
}

// matchPhrases looks through a text that a prompt adds.
func matchPhrases(text string, found func(kind, words string)) { phrases().added.match(text, found) }

// match calls found for every phrase of the table that stands in the text, with the words it stands for.
func (t phraseTable) match(text string, found func(kind, words string)) {
	if len(text) > 2*maxScanned {
		t.match(text[:maxScanned], found)
		text = text[len(text)-maxScanned:]
	}
	words := textWords(text)
	for i := range words {
		try := func(ph *phrase) {
			if ph.start && !words[i].start {
				return
			}
			if n := ph.match(words[i:]); n > 0 {
				found(ph.kind, text[words[i].from:words[i+n-1].to])
			}
		}
		for _, ph := range t.byWord[words[i].text] {
			try(ph)
		}
		for _, ph := range t.prefixed {
			if ph.words[0].match(words[i].text) {
				try(ph)
			}
		}
	}
	for _, pc := range t.pieces {
		if strings.Contains(text, pc.text) {
			found(pc.kind, pc.text)
		}
	}
}

// A Mark is a short keyed digest of a word or of some words.
type Mark uint64

func markOf(d Digest) Mark {
	var m Mark
	for _, b := range d[:8] {
		m = m<<8 | Mark(b)
	}
	return m
}

// Traces is what the ledger keeps of a run so that a later prompt can be seen to speak of it.
type Traces struct {
	Things []Mark // the files it touched, and the names that its answer said first
	Gist   []Mark // a sample of the answer's runs of three words
}

// The bounds of what is kept.
const (
	MaxThings = 128
	maxGist   = 128
	// maxTraced is how much of an answer is looked at, in bytes. The caller waits for it when the tool has ended, and each
	// run of three words costs a digest: megabytes would take seconds.
	maxTraced = 256 << 10
)

// NewTraces digests what a run that was sent p has answered, and the files that it touched.
func NewTraces(p *Prompt, answer string, files []string, key Key) Traces {
	answer = answer[:min(len(answer), maxTraced)]
	digest := key.Digester()
	var t Traces
	known := map[string]bool{}
	for name := range names(p.Text) {
		known[name] = true
	}
	add := func(name string) {
		if m := markOf(digest(name)); len(t.Things) < MaxThings && !known[name] {
			known[name] = true
			t.Things = append(t.Things, m)
		}
	}
	for _, file := range files {
		add(strings.ToLower(file[strings.LastIndexByte(file, '/')+1:]))
	}
	for name := range names(answer) {
		add(name)
	}
	t.Gist = gist(answer, digest, maxGist)
	return t
}

// names returns the words of a text that look like the name of a file, a function or a test, each with the name of
// the file that a path ends with.
func names(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("`'\"()[]{}<>,;=|*", r) }) {
			word = strings.Trim(word, ".:!?-/")
			for part := range strings.SplitSeq(word, ":") {
				if !looksLikeName(part) {
					continue
				}
				part = strings.ToLower(part)
				if !yield(part) {
					return
				}
				if i := strings.LastIndexByte(part, '/'); i >= 0 && !yield(part[i+1:]) {
					return
				}
			}
		}
	}
}

// looksLikeName reports whether a word can hardly be one of a language.
func looksLikeName(word string) bool {
	if len(word) < 4 || len(word) > 200 || strings.Contains(word, "//") {
		return false
	}
	letters, inner, mixed := false, false, false
	for i, r := range word {
		switch {
		case unicode.IsLetter(r):
			mixed = mixed || i > 0 && letters && unicode.IsUpper(r)
			letters = letters || unicode.IsLower(r)
		case strings.ContainsRune("._/", r):
			inner = inner || i > 0 && i < len(word)-1
		}
	}
	return letters && (inner || mixed)
}

// findThings looks for names that the session touched or said first.
func (p *Prompt) findThings(f *findings, s passage, things []Mark) {
	if len(things) == 0 {
		return
	}
	for _, l := range s.lines {
		for name := range names(l.line) {
			if slices.Contains(things, markOf(p.digest(name))) {
				f.add(kindThing, name)
			}
		}
	}
}

// gist returns the marks of a text's runs of three words: all of them, or of a long text the least ones, so that the same
// runs are taken of every text.
func gist(text string, digest func(string) Digest, most int) []Mark {
	words := textWords(text)
	var marks []Mark
	for i := range len(words) - 2 {
		marks = append(marks, markOf(digest(words[i].text+" "+words[i+1].text+" "+words[i+2].text)))
	}
	slices.Sort(marks)
	marks = slices.Compact(marks)
	return marks[:min(len(marks), most)]
}

// quotedShare is the share of a paragraph's runs of words that may come from the session's answer without the
// paragraph counting as a quotation of it.
const quotedShare = 0.34

// quotes reports whether what is added repeats part of the session's newest answer.
func (p *Prompt) quotes(sent Sent, added []passage) bool {
	if len(sent.Gist) < 4 {
		return false
	}
	limit := sent.Gist[len(sent.Gist)-1]
	if len(sent.Gist) < maxGist {
		limit = ^Mark(0)
	}
	for _, s := range added {
		for from := 0; from < len(s.lines); {
			to := from
			var text strings.Builder
			for ; to < len(s.lines) && s.lines[to].block == s.lines[from].block; to++ {
				text.WriteString(s.lines[to].text + "\n")
			}
			from = to
			seen, quoted := 0, 0
			for _, m := range gist(text.String()[:min(text.Len(), maxScanned)], p.digest, maxScanned) {
				if m > limit {
					break
				}
				seen++
				if _, found := slices.BinarySearch(sent.Gist, m); found {
					quoted++
				}
			}
			if quoted >= 3 && float64(quoted) >= quotedShare*float64(seen) {
				return true
			}
		}
	}
	return false
}
