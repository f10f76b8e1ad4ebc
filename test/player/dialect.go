package player

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// A dialect has the differences between the tools. The texts are templates, see fill; a line of a
// stream is a line of them.
type dialect struct {
	version string // that it imitates
	// the field of a request that an option sets, by its name; behind ! for one without a value
	options map[string]string
	// formats by their names in this tool, where these are others; a stream is stream-json
	formats map[string]string
	always  request // the parts of every request
	compose func(prompt, stdin string) string

	session string // where the file of a session is, below the home
	found   string // the pattern by which it is found, if that is another one
	header  string // its first line
	user    string // its lines for a prompt, "" for an item
	answer  string // and for a message of the model, "" for the same
	newID   func() string
	copied  func(text []byte, from, to string) []byte // changes the file of a session for a copy

	opening string // of a stream
	said    string // for each message of the model
	work    string // between two of them
	late    bool   // work is behind the first of them, and only if the script has a huge line
	after   string // for each message of the model, behind the work
	closing string
	failed  string // in place of all behind the opening after an error of the model's API
	endless bool   // a stream needs no closing

	notice   func(args []string) string // on stderr, before anything else
	banner   string                     // the same, in formats without a stream
	other    func(o output) Shown       // the output of formats without a stream
	streams  string                     // those of them that a run shows while it works
	foreign  func(o output) Shown       // the same, under another ID, if it shows anything
	refusals map[Refusal]refusal        // nothing at all if it has none
	// on stderr after an error of the model's API, in every format
	limited string
	// the exit code after an error of the model's API, if it is not 1
	limit   int
	ends    func(e Ending) []string   // the lines of a session's file behind an answer
	begins  func(p *player)           // prepares the files at the start
	opened  func(p *player)           // and when it has stored the prompt
	ended   func(p *player, exit int) // and at its end, if that is a normal one
	errLast bool                      // it writes stderr last, behind stdout and its files
}

// A refusal is the message of a tool that cannot resume a session.
type refusal struct {
	text string
	exit int
	line string // of a stream
}

// A request is a parsed command line.
type request struct {
	format  string
	prompt  string // "" if it is on stdin
	resume  string
	id      string // chosen by the caller
	waits   bool   // stdin is always read to its end
	deaf    bool   // stdin is not read if there is a prompt in argv
	output  string // where to record how the run ended, "" for nowhere
	share   string // where to write the session, "" for nowhere
	fork    bool   // resume goes on in a copy
	at      string // the last message that the copy keeps, "" for all
	frames  bool   // stdin is a conversation
	variant string // of the format: silent text, verbose json
}

// read parses a command line.
func (d dialect) read(args []string) request {
	q := d.always
	q.format = "text"
	for i := 0; i < len(args); i++ {
		name, value, attached := strings.Cut(args[i], "=")
		field, known := d.options[name]
		switch {
		case name == "--" && !known:
			q.prompt, i = strings.Join(args[i+1:], " "), len(args)
			continue
		case !known:
			q.prompt = strings.TrimPrefix(q.prompt+" "+args[i], " ")
			continue
		case !strings.HasPrefix(field, "!") && !attached && i+1 < len(args) &&
			(field != "prompt" || !strings.HasPrefix(args[i+1], "--")):
			i++
			value = args[i]
		}
		q.set(field, value)
	}
	q.format = cmp.Or(d.formats[q.format+q.variant], q.format)
	return q
}

func (q *request) set(field, value string) {
	switch field {
	case "!json":
		q.format = "json"
	case "!silent", "!verbose":
		q.variant = "-" + field[1:]
	case "!fork":
		q.fork = true
	case "fork":
		q.resume, q.fork = value, true
	case "resume now":
		q.resume, q.waits = value, false
	case "frames":
		q.frames = value == "stream-json"
	default:
		to := map[string]*string{"format": &q.format, "resume": &q.resume, "prompt": &q.prompt,
			"id": &q.id, "output": &q.output, "share": &q.share, "at": &q.at}[field]
		if to != nil {
			*to = value
		}
	}
}

// find returns the file of an existing session, "" if there is none.
func (d dialect) find(id string) string {
	d.session = cmp.Or(d.found, d.session)
	found, _ := filepath.Glob(d.place(id, "*", "*"))
	return strings.Join(found[:min(1, len(found))], "")
}

var notAlphanumeric = regexp.MustCompile(`[^a-zA-Z0-9]`)

// path returns the file of a new session.
func (d dialect) path(id, dir string) string {
	return d.place(id, notAlphanumeric.ReplaceAllString(dir, "-"), filepath.Base(dir))
}

func (d dialect) place(id, directory, base string) string {
	return os.Getenv("HOME") + "/" + strings.NewReplacer("{id}", id, "{short}", id[:8],
		"{directory}", directory, "{base}", base).Replace(d.session)
}

func (d dialect) exitOfLimit(format string) int {
	if format == "text" && d.limit > 2 { // gemini exits with the API's own status, but not in text
		return 1
	}
	return max(1, d.limit)
}

// entry returns a message as the tool stores it.
func (d dialect) entry(r *Run, role, text string) string {
	template := cmp.Or(d.user, item)
	if role == "assistant" {
		template = cmp.Or(d.answer, template)
	}
	return d.fill(r, template, map[string]string{"text": rawJSON(text),
		"said": uuidOf(r.Session + text), "role": role})
}

var multiple = regexp.MustCompile(`\{([\d.]+)\*(turns|before)\}`)

// fill fills a template: {id} is the session, {9*turns} nine times the number of its turns, before
// those before this one.
func (d dialect) fill(r *Run, template string, more map[string]string) string {
	template = multiple.ReplaceAllStringFunc(template, func(m string) string {
		parts := multiple.FindStringSubmatch(m)
		factor, _ := strconv.ParseFloat(parts[1], 64) // the pattern admits no other
		n := r.turns
		if parts[2] == "before" {
			n--
		}
		return strconv.FormatFloat(factor*float64(n), 'f', -1, 64)
	})
	values := map[string]string{
		"id": r.Session, "dir": rawJSON(r.Dir), "prompt": rawJSON(r.Prompt),
		"trimmed": rawJSON(strings.TrimSpace(r.Prompt)), "version": d.version,
		"transformed": rawJSON(
			"<current_datetime>2026-11-21T08:00:00.000+00:00</current_datetime>\n\n" +
				strings.TrimRight(r.Prompt, " \t\r\n")),
		"now": time.Now().UTC().Format("2006-01-02T15:04:05.000Z"), "uuid": uuid.NewString(),
		"turn": fmt.Sprintf("turn-%x", r.Start), "failure": rawJSON(r.failure()),
		"logged": opencodeLog(r, "loop session.id="+r.Session+" step=0",
			`"stream error" session.id=`+r.Session+` small=false error.error="AI_APICallError: Bad Request"`),
	}
	maps.Copy(values, more)
	var pairs []string
	for name, value := range values {
		pairs = append(pairs, "{"+name+"}", value)
	}
	return strings.NewReplacer(pairs...).Replace(template)
}

func (o output) fill(template string, more map[string]string) string {
	return o.dialect.fill(o.Run, template, more)
}

func (p *player) fill(template string, more map[string]string) string {
	return p.dialect.fill(p.Run, template, more)
}

// failure returns the last text of droid's failed run: a copy repeats the source's last answer.
func (r *Run) failure() string {
	for _, t := range slices.Backward(r.history) {
		if t.Role == "assistant" && r.turns > 1 {
			return t.Text
		}
	}
	return "Exec failed"
}

// stream returns the lines of a stream, each with its newline.
func (d dialect) stream(s Script, r *Run) (lines []string) {
	add := func(templates string, more map[string]string) {
		if templates == "" {
			return
		}
		for line := range strings.SplitSeq(templates, "\n") {
			more["n"] = strconv.Itoa(len(lines))
			lines = append(lines, d.fill(r, line, more)+"\n")
		}
	}
	add(d.opening, map[string]string{})
	if s.Ending == Limit {
		add(d.failed, map[string]string{})
		return lines
	}
	huge := strings.Repeat("x", s.Huge)
	for i, text := range s.Said {
		last := i+1 == len(s.Said)
		more := map[string]string{"text": rawJSON(text), "said": uuidOf(r.Session + text),
			"i": strconv.Itoa(i), "role": "assistant", "huge": huge,
			"reason": map[bool]string{true: "stop", false: "tool-calls"}[last]}
		add(d.said, more)
		if d.late && i == 0 && s.Huge > 0 || !d.late && !last {
			add(d.work, more)
		}
		add(d.after, more)
	}
	add(d.closing, map[string]string{"answer": rawJSON(s.last()), "exit": strconv.Itoa(s.exit())})
	return lines
}

// last returns the model's last message.
func (s Script) last() string { return strings.Join(s.Said[max(0, len(s.Said)-1):], "") }

func (s Script) exit() int {
	if s.Ending == Status {
		return s.Code
	}
	return 0
}

// An output is the output of a run.
type output struct {
	*Run
	Script
	dialect
	format string
	lines  []string // of the stream
	broken bool     // it stops in the middle
}

// array returns the stream as one line.
func (o output) array() string {
	return "[" + strings.ReplaceAll(strings.TrimSuffix(strings.Join(o.lines, ""), "\n"), "\n",
		",") + "]\n"
}

// A Shown is the output of a run in a format, as a caller sees it.
type Shown struct{ Stdout, Stderr string }

// Compose joins prompt and stdin as a tool does. Either can be empty.
func Compose(tool, prompt, stdin string) string { return dialects[tool].compose(prompt, stdin) }

// LimitExit returns a tool's exit code after an error of the model's API.
func LimitExit(tool, format string) int { return dialects[tool].exitOfLimit(format) }

// Notice returns the first text of a tool on stderr.
func Notice(tool string, args []string) string { return dialects[tool].noticed(args) }

func (d dialect) noticed(args []string) string {
	if d.notice == nil {
		return ""
	}
	return d.notice(args)
}

// Show returns the output for a caller that did not request a resume: its own prompt, and figures
// of this call alone.
func Show(tool, format string, s Script, r Run, turns int) Shown {
	r.turns = turns
	d := dialects[tool]
	if r.Refused {
		shown, _ := d.refused(format, s, &r)
		return shown
	}
	return d.show(format, s, &r)
}

func (p *player) show() Shown { return p.dialect.show(p.format, p.Script, p.Run) }

func (d dialect) show(format string, s Script, r *Run) (shown Shown) {
	stderr := d.noticed(r.Args) + s.Noise
	if s.Ending == Early || s.Ending == Middle {
		stderr += "something broke\n"
	}
	if s.Ending == Early {
		return Shown{"", stderr}
	}
	if s.Ending == Limit {
		stderr += d.limited
	}
	o := output{r, s, d, format, d.stream(s, r), s.Ending.Stops()}
	text := strings.Join(o.lines, "")
	switch {
	case format != "stream-json":
		if !o.broken || slices.Contains(strings.Fields(d.streams), format) {
			shown = d.other(o)
		}
		return Shown{shown.Stdout, d.banner + stderr + shown.Stderr}
	case o.broken:
		text = cut(o.lines, d.endless)
	case s.NoFinal:
		text = strings.TrimSuffix(text, "\n")
	}
	return Shown{text, stderr}
}

// cut removes everything after half of the second last line, for a run that stops in the middle.
func cut(lines []string, endless bool) string {
	if endless {
		lines = append(lines, "")
	}
	text := strings.Join(lines[:len(lines)-1], "")
	return text[:len(text)-len(lines[len(lines)-2])/2]
}

// refused returns the output and the exit code of a run that refuses a resume.
func (d dialect) refused(format string, s Script, r *Run) (Shown, int) {
	if s.OnResume == OtherID {
		o := output{r, s, d, format, d.stream(s, r), s.Ending.Stops()}
		shown := Shown{}
		switch {
		case format == "stream-json":
			shown.Stdout = o.lines[0]
		case d.foreign != nil:
			shown = d.foreign(o)
		}
		return Shown{shown.Stdout, s.Noise + shown.Stderr}, 1
	}
	if d.refusals == nil {
		return Shown{}, 1
	}
	why := d.refusals[s.OnResume]
	shown := Shown{"", s.Noise + d.fill(r, why.text, nil)}
	if format == "stream-json" && why.line != "" {
		shown.Stdout = d.fill(r, why.line, nil) + "\n"
	}
	return shown, max(1, why.exit)
}

// uuidOf returns an ID that depends on a text only.
func uuidOf(text string) string { return uuid.NewSHA1(uuid.Nil, []byte(text)).String() }

// rawJSON encodes a text the way most tools do: it escapes only necessary characters.
func rawJSON(text string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	check(e.Encode(text))
	return strings.TrimSuffix(b.String(), "\n")
}
