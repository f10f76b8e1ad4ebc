package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"reprise/test/conformance/suite"
	"reprise/test/harness"
	"reprise/test/markers"
)

// order is the aspect of the sequence of types, in which new ones do not count.
const order = "order"

// aspects are the parts of a case's canonical form. In those that are plain a line that is new
// matters too.
var (
	aspects = []string{"exit status", "stdout", "stderr", "project's files", order, "events",
		"transcripts", "requests", "files in the home"}
	plain = append([]string{"no result", "numbers"}, aspects[:5]...)
)

// seen is the canonical form of a case, as one run of it showed it: lines by the titles of aspects.
type seen struct {
	lines   map[string][]string
	numbers map[string]float64 // sums by path
	took    time.Duration
	failed  error // its calls could not be made

	mask func(string) string
	ids  map[string]bool // those that have occurred
	call string          // marks the lines of the current call
}

func newSeen(mask func(string) string) *seen {
	return &seen{lines: map[string][]string{}, numbers: map[string]float64{}, mask: mask,
		ids: map[string]bool{}}
}

// add adds a line. The second one of the same text is another line, so that lines are a set.
func (s *seen) add(title, line string) {
	line = s.call + line
	for n, once := 2, line; slices.Contains(s.lines[title], line); n++ {
		line = fmt.Sprintf("%s (%d)", once, n)
	}
	s.lines[title] = append(s.lines[title], line)
}

// observe makes the calls of a case in a world of its own, without the shim.
func (v version) observe(c suite.Case) *seen {
	w, err := harness.New(v.tool, v.bin, "", markers.Options{})
	if err != nil {
		return &seen{failed: err}
	}
	defer w.Close()
	s := newSeen(func(text string) string { return v.mask(w, text) })
	for i, call := range c.Calls {
		r, err := w.Run(call)
		if err != nil {
			s.failed = err
			return s
		}
		if i > 0 {
			s.call = fmt.Sprintf("call %d: ", i+1)
		}
		s.result(call, r)
		if id, err := w.NewestID(); err == nil { // a call that failed can have none
			s.ids[id] = true
		}
	}
	s.call = ""
	s.failed = s.home(w)
	return s
}

// result adds a call's result.
func (s *seen) result(c harness.Call, r harness.Result) {
	exit := fmt.Sprint(r.Exit)
	if r.Signal != 0 {
		exit = r.Signal.String()
	}
	s.add("exit status", exit)
	if r.Left > 0 {
		s.add("exit status", fmt.Sprintf("%d processes are left", r.Left))
	}
	s.known(strings.Join(c.Args, " "))
	s.stdout(s.known(r.Stdout))
	s.text("stderr", s.known(r.Stderr))
	for _, file := range r.Files {
		s.text("project's files", s.known(file))
	}
	var requests []any
	for _, request := range r.Asked {
		requests = append(requests, map[string]any{"type": request.API, "body": request.Body})
	}
	s.documents("requests", requests, 3)
	s.took += r.Took
}

var id = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|ses_[0-9A-Za-z]+`)

// known names the IDs in a text that have occurred before: a resumed session has its own again.
func (s *seen) known(text string) string {
	return id.ReplaceAllStringFunc(text, func(id string) string {
		if s.ids[id] {
			return "known ID"
		}
		s.ids[id] = true
		return id
	})
}

// stdout adds JSON objects as events, and other lines as they are.
func (s *seen) stdout(text string) {
	values, rest, layout := objects(text)
	if layout != "" {
		s.add("stdout", layout)
	}
	s.text("stdout", rest)
	s.documents("events", values, deepest)
}

// text adds the lines of a text that is not JSON.
func (s *seen) text(title, text string) {
	for line := range strings.Lines(s.mask(text)) {
		whole := strings.TrimSuffix(line, "\n")
		if whole == line {
			whole += " (no newline at the end)"
		}
		s.add(title, whole)
	}
}

// home adds the places and kinds of the files in the home, and the lines of the sessions among
// them.
func (s *seen) home(w *harness.World) error {
	err := filepath.WalkDir(w.Home, func(path string, entry os.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			s.file(strings.TrimPrefix(path, w.Home+"/"))
		}
		return err
	})
	sessions, wrong := w.Transcripts()
	for _, path := range sessions {
		text, err := os.ReadFile(path)
		wrong = errors.Join(wrong, err)
		s.transcript(string(text))
	}
	return errors.Join(err, wrong)
}

var (
	// passing matches files that last as long as a process, or are another's: how many there are
	// depends on when it ended.
	passing = regexp.MustCompile(
		`(^|/)(\.?te?mp|shell[-_]snapshots)/|\.(tmp|lock|pid)$|-(wal|shm|journal)$`)
	// random matches a part of a name that differs from run to run: a number, or letters and digits
	// mixed.
	random = regexp.MustCompile(`[0-9a-zA-Z]*[0-9][0-9a-zA-Z]*`)
)

func (s *seen) file(name string) {
	if !passing.MatchString(name) {
		s.add("files in the home", random.ReplaceAllString(s.mask(name), "*"))
	}
}

func (s *seen) transcript(text string) {
	values, _, layout := objects(text)
	if layout != "" {
		s.add("transcripts", layout)
	}
	s.documents("transcripts", values, deepest)
}

// figures matches lines of text with numbers of tokens, which another system prompt changes.
var figures = regexp.MustCompile(`(?mi)^.*tokens used.*\n.*|^.*\b(tokens|credits)\b.*`)

// mask removes the differences between two runs of one version, the version, and figures in text.
func (v version) mask(w *harness.World, text string) string {
	text = strings.ReplaceAll(w.Mask(text), v.number, "VERSION")
	return figures.ReplaceAllStringFunc(text, func(line string) string {
		return digits.ReplaceAllString(line, "<n>")
	})
}

var digits = regexp.MustCompile(`\d[\d.,]*[km]?`)

// objects returns the JSON objects in a text, which is one value or has one a line, its other
// lines, and how they are laid out.
func objects(text string) (all []any, rest, layout string) {
	var one any
	if _ = json.Unmarshal([]byte(text), &one); one != nil { // else it is no JSON
		lines := map[bool]string{true: "several lines",
			false: "a line"}[strings.Contains(strings.TrimSpace(text), "\n")]
		layout = fmt.Sprintf("%.1s in %s", text, lines)
		layout += spaces(text)
		if list, ok := one.([]any); ok {
			return list, "", layout
		} else if isObject(one) {
			return []any{one}, "", layout
		}
	}
	for line := range strings.Lines(text) {
		if err := json.Unmarshal([]byte(line), &one); err == nil && isObject(one) {
			all, layout = append(all, one), "{ in each line"+spaces(line)
		} else {
			rest += line
		}
		one = nil
	}
	return all, rest, layout
}

// spaces says whether a line of JSON has more of them than it needs: a caller can look for its
// bytes.
func spaces(text string) string {
	text = strings.TrimSpace(text)
	var compact bytes.Buffer
	if json.Compact(&compact, []byte(text)) == nil && compact.Len() < len(text) &&
		!strings.Contains(text, "\n") {
		return ", with spaces"
	}
	return ""
}

func isObject(value any) bool {
	_, ok := value.(map[string]any)
	return ok
}

// typeOf returns the type of an event or a line, and the type below it.
func typeOf(value any) string {
	object, _ := value.(map[string]any)
	name, _ := object["type"].(string)
	sub, _ := object["subtype"].(string)
	for _, key := range []string{"event", "item", "part", "payload"} {
		below, _ := object[key].(map[string]any)
		inner, _ := below["type"].(string)
		sub = cmp.Or(sub, inner)
	}
	role, _ := object["role"].(string)
	return strings.TrimSuffix(cmp.Or(name, role, "object")+"/"+sub, "/")
}

const deepest = 5 // keys below are the model's or the tools' own

// spoken matches the types of messages. The other lines of a session are written when there is
// time.
var spoken = regexp.MustCompile(`(?i)user|assistant|message|model`)

// documents adds the types of events, lines of sessions or requests in order, and of each type the
// paths of keys with their values' kinds.
func (s *seen) documents(title string, all []any, depth int) {
	var types []string
	paths := map[string]bool{}
	for len(all) > 0 {
		name, times := typeOf(all[0]), 0
		for ; len(all) > 0 && typeOf(all[0]) == name; all = all[1:] {
			s.paths(paths, title, name+" ", all[0], depth)
			times++
		}
		if title != "transcripts" || spoken.MatchString(name) {
			types = append(types, strings.TrimSuffix(fmt.Sprintf("%s*%d", name, times), "*1"))
		}
	}
	if len(types) > 0 {
		s.add(order, title+": "+strings.Join(types, " "))
	}
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		s.add(title, path)
	}
}

var (
	schema = regexp.MustCompile(`(?i)schema$|^parameters$`) // of a tool: the model's
	key    = regexp.MustCompile(`^[A-Za-z_$][A-Za-z_$-]*$`) // a name, no ID or path
	// an enumeration's, or a masked ID
	word = regexp.MustCompile(`^(known )?[A-Za-z_./:-]{0,40}$`)
)

// paths adds the path of a value with its kind, and those below. A text is as it is in events,
// elsewhere only if it is one word.
func (s *seen) paths(all map[string]bool, title, path string, value any, depth int) {
	at, kind := strings.TrimRight(path, ". "), "object"
	switch value := value.(type) {
	case map[string]any:
		for name, inner := range value {
			if !key.MatchString(name) {
				name = "*"
			}
			if depth > 0 && !schema.MatchString(name) {
				s.paths(all, title, path+name+".", inner, depth-1)
			}
		}
	case []any:
		if kind = "list"; len(value) > 0 && isObject(value[0]) && title != "requests" {
			kind = fmt.Sprintf("list of %d", len(value))
		}
		for _, inner := range value {
			s.paths(all, title, at+"[].", inner, depth)
		}
	case string:
		if !word.MatchString(value) { // masks take time, and can be of a key
			name := `"` + at[strings.LastIndexAny(at, " .")+1:] + `":"`
			value = strings.TrimSuffix(strings.TrimPrefix(s.mask(name+value+`"`), name), `"`)
		}
		if kind = "text"; title == "events" || word.MatchString(value) {
			kind = fmt.Sprintf("%.300q", value)
		}
	case float64:
		if kind = "<n>"; !timing.MatchString(at) {
			s.numbers[s.call+at] += value
		}
	default:
		kind = fmt.Sprint(value)
	}
	all[at+" "+kind] = true
}

// timing matches the paths of times.
var timing = regexp.MustCompile(
	`[dD]uration|(?:[._]ms|Ms|[sS]econds|[tT]ime\w*|created|updated|start|end|[a-z]At|_at)$`)
