package rewrite

import (
	"slices"
	"strings"
)

// Evidence is what speaks for and against a prompt continuing a session's own work, when only the
// prompt can show it. Verdict is "" if the call may be resumed, otherwise the reason why not.
type Evidence struct {
	Verdict Reason
	// For and Against quote the prompt. They are shown to the person who sent it and never stored.
	For, Against []Finding
	// Answer reports that the prompt shows the session's newest answer. It decides between two
	// sessions that the prompt may continue.
	Answer bool
}

// GoOn reports whether the prompt asks to go on where the session stopped.
func (e Evidence) GoOn() bool {
	return e.Verdict == "" && slices.ContainsFunc(e.For, func(f Finding) bool { return f.Kind == "goon" })
}

// A Finding is one piece of evidence.
type Finding struct {
	Kind  string // transcript, work, state, ... as listed in evidenceTable
	Words string // quoted from the prompt, "" if no words carry the finding
}

// The kinds of findings that do not come from evidenceTable.
const (
	kindTranscript = "transcript" // the prompt shows every answer of the session, unchanged, as turns
	kindNotes      = "notes"      // the addition is under a heading such as "Review notes"
	kindThing      = "thing"      // it names a file that the session touched, or a name that its answer said first
	kindShown      = "shown"      // it shows an answer or a turn that is not the session's own unchanged one
	kindQuoted     = "quoted"     // it shows the session's answer, but not as a turn of a conversation that continues
	kindDiff       = "diff"       // it adds a patch
	kindMaterial   = "material"   // it fills a place that the earlier prompt left for an item
	kindAside      = "aside"      // below the new turn of a conversation it asks for something else
	kindFirst      = "first"      // its first words say that the work is not right yet
)

// hardAgainst maps the kinds that rule out a resume, whatever speaks for it, to their reasons.
var hardAgainst = map[string]Reason{"role": NewRole, "judge": NewRole, "clean": CleanStart, "sample": NoEvidence, "base": CleanStart,
	kindAside: NewRole}

// softAgainst maps the kinds that rule out a resume unless the prompt refers to the session's own
// work.
var softAgainst = map[string]Reason{"other": NewRole, "task": NoEvidence, "anew": CleanStart, "vary": NoEvidence,
	"process": NoEvidence, kindDiff: NoEvidence, kindMaterial: NoEvidence}

// findings collects evidence, up to maxFindings of each kind.
type findings struct {
	found map[string][]string
	order []string
}

const maxFindings = 3 // of each kind

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

// firstReason returns the reason of the first finding whose kind is in reasons.
func (f *findings) firstReason(reasons map[string]Reason) Reason {
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

// evidence weighs what a prompt adds to the session's last one.
func (p *Prompt) evidence(sent Sent, c *Continuity, h *history) Evidence {
	var f findings
	added := p.added(c, h)
	for _, passage := range added {
		passage.material = passage.material && !h.proven // a turn is no item
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

// longestGoOn is the most lines a request to go on may have if it says nothing else about the work.
// A longer one starts something new.
const longestGoOn = 3

// verdict weighs the findings in an addition of so many lines.
func (f *findings) verdict(lines int) Reason {
	hard := f.firstReason(hardAgainst)
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
	if soft := f.firstReason(softAgainst); soft != "" {
		return soft
	}
	if f.has(kindNotes, kindFirst, "fix") || f.has("goon") && lines <= longestGoOn || f.has(kindThing) && f.has("log", "state") {
		return ""
	}
	return NoEvidence
}

// A passage is a run of lines that the prompt adds.
type passage struct {
	lines    []*promptLine
	notes    bool   // it is under a heading or label for feedback
	heading  string // that heading or label
	material bool   // it fills a place that the earlier prompt left for an item, or is the next of several
	system   bool   // it contains instructions that are not a user's
}

// added cuts what the prompt adds into passages, without the session's own unchanged answers.
func (p *Prompt) added(c *Continuity, h *history) (out []passage) {
	lines := p.conversation()
	notes, under := false, ""
	var above *promptLine         // the line above, if the prompt does not add it
	headings := map[string]bool{} // headings that the session was sent
	for i := range lines {
		if l := &lines[i]; l.speaker == heading && c.old(l) {
			headings[l.line] = true
		}
	}
	for i := range lines {
		l := &lines[i]
		if l.speaker != noTurn && l.speaker != everydayWord {
			notes, under = l.speaker == feedback, l.line
		}
		if c.old(l) || h.isAnswer(i) {
			above = l
			continue
		}
		if above != nil || len(out) == 0 || out[len(out)-1].notes != notes {
			item := above != nil && !notes && (above.leavesPlace() || p.blocks[above.block].level > 0)
			out = append(out, passage{notes: notes, heading: under, material: item})
		}
		above = nil
		last := &out[len(out)-1]
		last.lines = append(last.lines, l)
		// A section under a repeated heading is the next item of its kind.
		last.material = last.material || l.speaker == heading && headings[l.line]
		last.system = last.system || l.label == "system" || l.label == "developer"
	}
	return out
}

// leavesPlace reports whether what follows the line is an item for it.
func (l *promptLine) leavesPlace() bool {
	line := strings.TrimRight(l.line, "*_ ")
	return strings.HasSuffix(line, ":") || strings.HasSuffix(line, "：") || strings.HasPrefix(line, "```")
}

// scanPassage searches an addition for the phrases of the table. Fenced and indented lines are
// data: only logs and names are searched for there.
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
	var prose, data []*promptLine
	for _, l := range s.lines {
		switch {
		case fence != "":
			if closesFence(l.line, fence) {
				fence = ""
			}
			data = append(data, l)
		case opensFence(l.line) != "":
			fence = opensFence(l.line)
			if strings.Contains(l.line, "diff") || strings.Contains(l.line, "patch") {
				f.add(kindDiff, l.line)
			}
		case strings.HasPrefix(l.full, "    ") || strings.HasPrefix(l.full, "\t"):
			data = append(data, l)
		default:
			if strings.HasPrefix(l.line, "diff --git ") || strings.HasPrefix(l.line, "@@ -") {
				f.add(kindDiff, l.line)
			}
			prose = append(prose, l)
		}
	}
	for _, l := range scanned(prose) {
		for _, found := range l.added() {
			f.add(found.Kind, found.Words)
		}
	}
	matchPhrases(firstSentence(s.lines[0].line), func(kind, words string) {
		if kind == "state" {
			f.add(kindFirst, words)
		}
	})
	for _, l := range scanned(data) {
		for _, found := range l.added() {
			if found.Kind == "log" {
				f.add(found.Kind, found.Words)
			}
		}
	}
	for _, l := range s.lines {
		if place := filePlace(l.line); place != "" {
			f.add("log", place)
		}
	}
	p.findThings(f, s, things)
}

func firstSentence(line string) string {
	if i := strings.IndexAny(line, ".!?"); i != -1 {
		return line[:i]
	}
	return line
}

// filePlace returns the first word of a line if it names a place in a file, as compilers do:
// "a.go:12:3:".
func filePlace(line string) string {
	word, _, _ := strings.Cut(strings.TrimLeft(line, "-*> \t"), " ")
	name, number, _ := strings.Cut(word, ":")
	if !namesFile(name) || number == "" || !digits(number[:1]) {
		return ""
	}
	return word
}

// scanAsides searches below the first paragraph of a conversation's new turn for requests that may
// not be the speaker's: a caller that wants something else done with the conversation puts them
// there.
func (p *Prompt) scanAsides(f *findings, c *Continuity, h *history) {
	lines := p.conversation()
	var aside []string
	for i := h.end; i < len(lines); i++ {
		if l := &lines[i]; !c.old(l) && l.block != lines[h.end].block && l.speaker == noTurn {
			aside = append(aside, l.line)
		}
	}
	matchPhrases(strings.Join(aside, "\n"), func(kind, words string) {
		if _, soft := softAgainst[kind]; soft && kind != "vary" {
			f.add(kindAside, words)
		}
	})
}

// scanBase searches what the session was sent before for a demand for independent answers.
func (p *Prompt) scanBase(f *findings, c *Continuity) {
	var old []*promptLine
	lines := p.conversation()
	for i := range lines {
		if l := &lines[i]; c.old(l) {
			old = append(old, l)
		}
	}
	for _, l := range scanned(old) {
		for _, found := range l.base() {
			f.add(found.Kind, found.Words)
		}
	}
}
