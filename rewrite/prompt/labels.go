package prompt

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

type speaker int

const (
	noTurn speaker = iota // the line opens no turn
	assistant
	toolOutput   // output of one of the assistant's tools
	other        // a known role other than the assistant
	unknownName  // an unknown name
	everydayWord // no name: a word that introduces a line ("Note:", "File:")
	heading      // a markdown heading that is no known name
	closing      // the end of a turn
)

func (s speaker) isTurn() bool {
	return s == assistant || s == toolOutput || s == other || s == unknownName
}

// The names over turns. A plain name is also an everyday word: it needs more than a dash or an end
// of line to be a name.
const (
	assistantNames = `assistant ai bot chatbot llm claude codex gemini vibe chatgpt gpt copilot
		sonnet opus haiku mistral devstral llama qwen deepseek grok kimi aimessage assistent
		asistente assistente 助手 アシスタント ассистент`
	plainNames = "model agent you response reply answer"
	toolNames  = "tool function observation"
	otherNames = "user human system developer customer client me question humanmessage " +
		"systemmessage"
)

// besideNames are words that can accompany a name: "Assistant (turn 2):", "### Claude's reply".
const besideNames = `s code cli message output result turn step round said says wrote replied
	answered previous last your role name start end im of header id pro flash mini nano large
	medium small turbo preview latest instruct chat am pm utc b strong em p div span summary`

// A turnName is the name over a turn, as far as it has been parsed, or the meaning of one word in
// it. The speaker is noTurn where words only stand beside a name.
type turnName struct {
	speaker speaker
	plain   bool // it is an everyday word too
}

// nameWords are all words of names in one map: every line of a prompt is read as a name.
var nameWords = sync.OnceValue(func() map[string]turnName {
	meanings := map[string]turnName{}
	add := func(words string, means turnName) {
		for word := range strings.FieldsSeq(words) {
			meanings[word] = means
		}
	}
	add(calendarNames, turnName{})
	add(besideNames, turnName{})
	add(otherNames, turnName{speaker: other})
	add(toolNames, turnName{speaker: toolOutput})
	add(plainNames, turnName{assistant, true})
	add(assistantNames, turnName{speaker: assistant})
	return meanings
})

const (
	digitSigns   = "0123456789"
	latinLetters = "abcdefghijklmnopqrstuvwxyz"
)

// questionOrAnswer parses "Q:", "A2:", "**Q1.** ..." and the like. letter is "q" or "a", "" for
// other lines.
func questionOrAnswer(line string) (letter, rest string) {
	label := strings.TrimLeft(line, "*_#> \t")
	if label == "" || !strings.ContainsRune("QA", rune(label[0])) {
		return "", ""
	}
	rest = strings.TrimLeft(label[1:], digitSigns)
	if rest == "" || !strings.ContainsRune(":.)", rune(rest[0])) {
		return "", ""
	}
	return strings.ToLower(label[:1]), stripEmphasis(rest[1:])
}

// opensTurn parses a line as the start of a turn in any usual notation: "## assistant",
// "Assistant:", "**Assistant:** text", "[08:15] assistant> text", "<assistant>", `<turn
// speaker="assistant">`, "<|im_start|>assistant", "[/INST] text", `"role": "assistant"`, "role:
// assistant". rest is the text after the name, or the whole line if it opens no turn. Taking too
// much for a turn only costs a resume.
func opensTurn(line string) (who speaker, rest string) {
	if closesTurn(line) {
		return closing, ""
	}
	if _, after, ok := strings.Cut(line, "[/INST]"); ok {
		return assistant, strings.TrimSpace(after)
	}
	if who := roleIn(line); who != noTurn {
		if _, after, ok := strings.Cut(line, ">"); ok && line[0] == '<' {
			return who, stripClosingTag(strings.TrimSpace(after))
		}
		return who, line
	}
	who, rest = namedTurn(line)
	switch {
	case who == noTurn:
		return noTurn, line
	case strings.HasPrefix(line, "</"):
		return closing, strings.TrimSpace(rest)
	case strings.HasPrefix(line, "<"):
		return who, stripClosingTag(strings.TrimSpace(rest))
	}
	return who, stripEmphasis(rest)
}

func stripEmphasis(rest string) string {
	return strings.TrimSpace(strings.TrimLeft(rest, "*_:"))
}

// namedTurn parses the name over a turn at the start of a line: a name accompanied only by numbers,
// times and besideNames, then a sign that separates it from the text.
func namedTurn(line string) (who speaker, rest string) {
	const longest = 64
	var name turnName
	for i := 0; i < len(line); {
		if i > longest {
			return
		}
		before := line[:i]
		if n := wordLength(line[i:]); n > 0 {
			// in brackets the next word can be the name of the tool: "Tool result (ls):"
			if !name.add(strings.ToLower(line[i:i+n])) && (name.speaker != toolOutput ||
				strings.LastIndexByte(before, '(') <= strings.LastIndexByte(before, ')')) {
				return
			}
			i += n
			continue
		}
		sign, n := utf8.DecodeRuneInString(line[i:])
		i += n
		switch {
		case name.speaker == noTurn:
		case sign == ' ' && line[0] == '<':
			if _, rest, ok := strings.Cut(line[i:], ">"); ok { // after the attributes of a tag
				return name.speaker, rest
			}
		case setsOff(before, sign, line[i:], name.plain):
			return name.speaker, line[i:]
		}
	}
	if name.plain && !strings.ContainsRune("#*_=<[", rune(line[0])) {
		return
	}
	return name.speaker, ""
}

// add reads a lower-case word of the name and reports whether it is allowed there.
func (n *turnName) add(word string) bool {
	found, known := nameWords()[word]
	if n.speaker == noTurn {
		*n = found
	}
	return known || strings.ContainsAny(word, digitSigns)
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// wordLength returns the length in bytes of the word that text starts with.
func wordLength(text string) int {
	return len(text) - len(strings.TrimLeftFunc(text, isWordRune))
}

// setsOff reports whether a sign between two parts of a line ends a name.
func setsOff(before string, sign rune, after string, plain bool) bool {
	switch sign {
	case ':': // not within a time
		return strings.TrimRight(before, digitSigns) == before ||
			strings.TrimLeft(after, digitSigns) == after
	case '：':
		return true
	case '>':
		return !strings.HasSuffix(before, "-") && !strings.HasSuffix(before, "=")
	case ']':
		return strings.HasPrefix(before, "[")
	case '|':
		return !plain && strings.HasPrefix(before, "|")
	case '—', '–':
		return !plain
	case '-':
		return !plain && strings.HasSuffix(before, " ") && strings.HasPrefix(after, " ")
	}
	return false
}

// roleIn returns the speaker of a turn written as data: JSON, YAML, XML or a program's own
// printout. A line with several turns counts as the assistant's if one of them is.
func roleIn(line string) (who speaker) {
	if !strings.Contains(line, ":") && !strings.Contains(line, "=") {
		return
	}
	line = strings.ToLower(line)
	for _, key := range []string{"role", "speaker", "author", "sender", "from"} {
		for before, after, ok := strings.Cut(line, key); ok; before, after, ok = strings.Cut(after,
			key) {
			value := strings.TrimLeft(after, "\"'\\:= \t")
			// In scripts without spaces a key can follow a word directly.
			inside := strings.TrimRight(before, latinLetters+digitSigns) != before
			if inside || !strings.ContainsAny(after[:len(after)-len(value)], ":=") {
				continue
			}
			word := value[:wordLength(value)]
			switch named := nameWords()[word]; {
			case named.speaker == assistant && !named.plain, word == "model", word == "agent":
				return assistant
			case named.speaker != noTurn:
				who = named.speaker
			}
		}
	}
	return who
}

// stripClosingTag removes the tag that ends a turn from the last line.
func stripClosingTag(text string) string {
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

// closesTurn reports whether a line is only a closing tag, which ends a turn.
func closesTurn(line string) bool {
	if !strings.HasPrefix(line, "</") {
		return false
	}
	name, ok := strings.CutSuffix(line[2:], ">")
	return ok && isAccount(name)
}

// The longest unknown name of a turn, in characters and in words: alone in the line, and followed
// by text.
const (
	longestLabel, labelWords        = 48, 6
	longestInlineLabel, inlineWords = 28, 3
	// between signs that set it apart, as no sentence is written
	longestFenced, fencedWords = 96, 12
)

// neutralWords introduce a line without opening a turn.
var neutralWords = anyOf(`changed changes modified updated added removed commits diffstat
	note notes file files line lines path step steps error errors warning warnings info hint
	expected actual got want status reason cause fix fixes todo fixme date time case cases url
	link commit branch version number severity priority location suggestion suggestions example
	examples important reminder also because item point points test tests log command run exit
	code usage where why how what when result stdout stderr trace traceback caused at in on please
	but and so for then hence today build lint type name title id datei zeile fehler hinweis
	beispiel grund schritt bitte fichier ligne erreur étape archivo línea motivo paso`)

// isAccount reports whether a text can be the name of an account or a tag.
func isAccount(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return !isWordRune(r) && r != '-' && r != '_' && r != '.'
	})
}

// readLabel parses a line as the start of a turn under any name, or as a label or heading over
// something else. label is the name, text the rest.
func readLabel(line string) (who speaker, label, text string) {
	if who, text = opensTurn(line); who != noTurn {
		label, _, _ = strings.Cut(line, text)
		if text == "" {
			label = line
		}
		return who, normalLabel(label), text
	}
	switch {
	case headingLevel(line) > 0:
		return heading, normalLabel(line), ""
	case line[0] == '<':
		return tagLabel(line)
	case len(line) >= 3 && slices.Contains([]string{"---", "===", "***", "###"}, line[:3]):
		return fencedLabel(line)
	}
	return wordLabel(line)
}

// fencedLabel parses a line that begins with three signs that set a label apart.
func fencedLabel(line string) (who speaker, label, text string) {
	most, words := longestLabel, labelWords
	if strings.HasSuffix(line, line[:3]) {
		most, words = longestFenced, fencedWords
	}
	inner := strings.Trim(line, "-=*# ")
	first, _, _ := strings.Cut(strings.ToLower(inner), " ")
	switch {
	case !shortLabel(inner, most, words):
		return noTurn, "", line
	case first == "end":
		return closing, normalLabel(inner), ""
	}
	return labelKind(inner), normalLabel(inner), ""
}

func tagLabel(line string) (who speaker, label, text string) {
	inner, rest, ok := strings.Cut(line[1:], ">")
	name := inner[:wordLength(inner)]
	if !ok || name == "" || strings.HasPrefix(inner, "!") || strings.HasSuffix(inner, "/") {
		return noTurn, "", line
	}
	return labelKind(inner), normalLabel(inner),
		stripClosingTag(strings.TrimSpace(rest))
}

// wordLabel parses "Dev:", "**Dev**", "Dev: text", "OUT> text" and the like.
func wordLabel(line string) (who speaker, label, text string) {
	bare := strings.Trim(line, "*_[]# ")
	if isLabelAlone(line, bare) && shortLabel(bare, longestLabel, labelWords) {
		who = labelKind(bare)
		if who == unknownName && findWords("past", plainWords(bare)) != "" {
			who = everydayWord
		}
		return who, normalLabel(bare), ""
	}
	at := strings.IndexAny(bare, ":：>")
	if at <= 0 {
		return noTurn, "", line
	}
	sign, n := utf8.DecodeRuneInString(bare[at:])
	name, rest := bare[:at], bare[at+n:]
	if sign != '：' && !strings.HasPrefix(rest, " ") &&
		!strings.HasPrefix(rest, "*") || !isName(name) {
		return noTurn, "", line
	}
	who = labelKind(name)
	if who == everydayWord && sign == '>' {
		who = unknownName
	}
	if who == unknownName && (line[0] == '-' || line[0] == '*' && !strings.HasPrefix(line, "**")) {
		who = everydayWord // an item of a list
	}
	return who, normalLabel(name), stripEmphasis(rest)
}

// isLabelAlone reports whether a line is emphasized or ends with a sign after a label. bare is the
// line without emphasis.
func isLabelAlone(line, bare string) bool {
	if strings.TrimRight(bare, ":：>") != bare && !strings.HasSuffix(bare, "->") &&
		!strings.HasSuffix(bare, "=>") {
		return true
	}
	return bare != line &&
		(strings.HasPrefix(line, "**") && strings.HasSuffix(strings.TrimRight(line, ":： "), "**") ||
			strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]"))
}

func shortLabel(text string, most, words int) bool {
	text = strings.TrimRight(text, ":：> ")
	return text != "" && utf8.RuneCountInString(text) <= most &&
		len(strings.Fields(text)) <= words &&
		!strings.ContainsAny(text, "!?;。，,={}<>/\\`") && !strings.Contains(text, ". ") &&
		!namesFile(text)
}

func namesFile(text string) bool {
	return slices.ContainsFunc(strings.Fields(text), func(word string) bool {
		i := strings.IndexByte(word, '.')
		return i > 0 && i < len(word)-1
	})
}

// isName reports whether the text before a colon can be a name: a few words, each capitalized, a
// number or of a script without capitals. The name of a person's or program's output also counts,
// and an account's: "@ada".
func isName(text string) bool {
	if account, ok := strings.CutPrefix(strings.Trim(text, "*_"), "@"); ok && account != "" {
		return isAccount(account)
	}
	fields := strings.Fields(strings.Trim(text, "*_[]# "))
	if len(fields) == 0 || len(fields) > inlineWords ||
		utf8.RuneCountInString(text) > longestInlineLabel {
		return false
	}
	for _, word := range fields {
		if strings.ContainsFunc(word, func(r rune) bool {
			return !isWordRune(r) && !strings.ContainsRune("-_*'#", r)
		}) {
			return false
		}
	}
	last := strings.ToLower(fields[len(fields)-1])
	if shownWords(last) {
		return true
	}
	for _, end := range []string{"error", "exception", "warning", "failure"} {
		if strings.HasSuffix(last, end) {
			return false
		}
	}
	return !slices.ContainsFunc(fields, func(word string) bool {
		first, _ := utf8.DecodeRuneInString(word)
		return unicode.IsLower(first)
	})
}

// shownWords end a label over such output.
var shownWords = anyOf("answer attempt output response reply draft result completion " +
	"solution summary submission patch diff")

// labelKind returns the speaker that a label introduces: an everyday line, or an unknown name.
func labelKind(label string) speaker {
	words := strings.Fields(normalLabel(label))
	if len(words) == 0 || slices.ContainsFunc(words, func(word string) bool {
		return !neutralWords(word) && !countWords(word)
	}) {
		return unknownName
	}
	return everydayWord
}

// normalLabel returns a label without numbers and signs, which change from turn to turn.
func normalLabel(label string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(label), func(r rune) bool {
		return !unicode.IsLetter(r)
	}), " ")
}
