package tool

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"reprise/internal/standin"
	"reprise/rewrite"
	"reprise/test/tooltest"
)

var (
	driftAll  = flag.Bool("drift.all", false, "play all changes of event shapes, not a sample")
	driftSeed = flag.Uint64("drift.seed", 0, "which sample of them to play, 0 for a new one")
)

// A driftCase is a recorded run, played as a caller of one format sees it.
type driftCase struct {
	name   string
	tool   rewrite.Tool
	format rewrite.Format
	plan   rewrite.Plan
	exit   int
	lines  []string // of stdout, or the entries of vibe's array, or gemini's one object

	lacking map[int]played // the output without an event
}

// played is the output of a run, as a caller gets it.
type played struct {
	out, errOut string
	unshown     string // the part of out that is shown only since the tool exited with 0
	seen        rewrite.StreamState
}

// join returns stdout as the tool writes it.
func (c *driftCase) join(lines []string) string {
	if c.tool.Descriptor().Name == "vibe" && c.format == rewrite.JSON {
		return "[\n" + strings.Join(lines, ",\n") + "\n]\n"
	}
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

func (c *driftCase) play(lines []string) played {
	call := rewrite.CommandLine{Format: c.format, Mode: rewrite.Fresh}
	s := c.tool.Stream(call, c.plan, "")
	var p played
	var out strings.Builder
	for line := range strings.Lines(c.join(lines)) {
		out.Write(s.Line([]byte(line)))
		p.errOut += s.TakeStderr()
	}
	out.Write(s.End())
	p.errOut += s.TakeStderr()
	p.out, p.seen = out.String(), *s.Seen()
	if c.exit == 0 {
		p.unshown = string(p.seen.Unshown)
		p.out += p.unshown
	}
	return p
}

// good reports whether a session can be continued, by the state that was read.
func (c *driftCase) good(s *rewrite.StreamState) bool {
	return c.exit == 0 && s.Final && !s.Failed && !s.Synthetic && !s.WrongID && s.ID != ""
}

// driftCases reads the recordings of all tools that print events.
func driftCases(t *testing.T) []driftCase {
	t.Helper()
	paths, err := filepath.Glob("../../testdata/recordings/*/*/run.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []driftCase
	for _, path := range paths {
		dir := filepath.Dir(path)
		tool, ok := rewrite.Lookup(filepath.Base(filepath.Dir(dir)))
		if !ok {
			t.Fatalf("%s is no tool's", dir)
		}
		var run struct {
			Argv []string
			Exit int
		}
		text, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(text, &run)
		}
		if err != nil {
			t.Fatal(err)
		}
		stdout, err := os.ReadFile(filepath.Join(dir, "stdout"))
		if err != nil {
			t.Fatal(err)
		}
		recorded := tool.Parse(rewrite.Input{Args: run.Argv[1:], Env: func(string) string {
			return ""
		}}).Format
		lines := driftLines(tool.Descriptor().Name, recorded, string(stdout))
		if len(lines) == 0 {
			continue
		}
		formats := []rewrite.Format{recorded}
		if text := tool.Stream(rewrite.CommandLine{Format: rewrite.Text}, rewrite.Plan{},
			""); recorded ==
			rewrite.StreamJSON && text.MaxLine() != rewrite.NoLines {
			formats = append(formats, rewrite.Text, rewrite.JSON) // which are rendered from it
		}
		for _, format := range formats {
			c := driftCase{filepath.Base(dir) + " as " + string(format), tool, format,
				rewrite.Plan{Prompt: "hi", Whole: true}, run.Exit, lines, nil}
			cases = append(cases, c)
			if id := c.play(lines).seen.ID; id != "" {
				c.name, c.plan.Resume = c.name+", resumed", id
				cases = append(cases, c)
			}
		}
	}
	return cases
}

// driftLines cuts stdout into its events; none where there are none.
func driftLines(tool string, format rewrite.Format, stdout string) []string {
	switch {
	case tool == "gemini" && format == rewrite.JSON:
		if !strings.HasPrefix(stdout, "{\n") {
			return nil
		}
		return []string{strings.TrimSuffix(stdout, "\n")}
	case tool == "vibe" && format == rewrite.JSON:
		var entries []json.RawMessage
		if json.Unmarshal([]byte(stdout), &entries) != nil {
			return nil
		}
		var lines []string
		for _, e := range entries {
			lines = append(lines, string(e))
		}
		return lines
	}
	if format == rewrite.Text || !strings.HasPrefix(stdout, "{") {
		return nil
	}
	return strings.Split(strings.TrimSuffix(stdout, "\n"), "\n")
}

// A member is a key of an object with its value.
type member struct {
	key   string
	value json.RawMessage
}

// members reads an object in its order; ok is false for another value.
func members(text []byte) (list []member, ok bool) {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, false
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return nil, false
		}
		list = append(list, member{key.(string), value})
	}
	return list, true
}

// object writes an object, in lines where the recorded one stood in lines.
func object(list []member, indented bool) string {
	var b strings.Builder
	for i, m := range list {
		b.WriteString([]string{",", "{"}[min(1, max(0, 1-i))])
		if indented {
			b.WriteString("\n  ")
		}
		fmt.Fprintf(&b, "%s:%s", standin.Encode(m.key), m.value)
	}
	if len(list) == 0 {
		b.WriteString("{")
	}
	if indented {
		b.WriteString("\n")
	}
	return b.String() + "}"
}

// otherShapes are values of other types than this one.
func otherShapes(value string) []string {
	shapes := []string{"null", `"text"`, "7", "true", `{"value":"text"}`, `["text"]`,
		`[{"message":"text"}]`, standin.Encode(value)}
	kind := value[0]
	return slices.DeleteFunc(shapes, func(shape string) bool {
		digit := kind == '-' || kind >= '0' && kind <= '9'
		boolean := kind == 't' || kind == 'f'
		return shape[0] == kind || digit && shape == "7" || boolean && shape == "true"
	})
}

// A drift is an event that has changed.
type drift struct{ what, event string }

// drifts changes each field of an event, to some depth.
func drifts(event string, depth int) []drift {
	list, ok := members([]byte(event))
	if !ok {
		return nil
	}
	indented := strings.HasPrefix(event, "{\n")
	var found []drift
	add := func(what string, list []member) {
		found = append(found, drift{what, object(list, indented)})
	}
	with := func(i int, value string) []member {
		changed := slices.Clone(list)
		changed[i].value = json.RawMessage(value)
		return changed
	}
	for i, m := range list {
		add("no "+m.key, slices.Delete(slices.Clone(list), i, i+1))
		for _, shape := range otherShapes(string(m.value)) {
			add(m.key+" = "+shape, with(i, shape))
		}
		if depth == 0 {
			continue
		}
		inner := drifts(string(m.value), depth-1)
		var elements []json.RawMessage
		if json.Unmarshal(m.value, &elements) == nil && len(elements) > 0 {
			for _, d := range drifts(string(elements[0]), depth-1) {
				elements[0] = json.RawMessage(d.event)
				text, _ := json.Marshal(elements)
				inner = append(inner, drift{d.what, string(text)})
			}
		}
		for _, d := range inner {
			add(m.key+": "+d.what, with(i, d.event))
		}
	}
	reversed := slices.Clone(list)
	slices.Reverse(reversed)
	add("keys reversed", reversed)
	strange := member{"novel_field", json.RawMessage(`{"type":"result","session_id":"` +
		tooltest.ForeignID + `","sessionId":"` + tooltest.ForeignID + `"}`)}
	add("a new field in front", append([]member{strange}, list...))
	add("a new field behind", append(slices.Clone(list), strange))
	return found
}

// strangeEvent is one of a type that nobody knows.
const strangeEvent = `{"type":"novel_event","session_id":"` + tooltest.ForeignID +
	`","sessionId":"` + tooltest.ForeignID +
	`","thread_id":"` + tooltest.ForeignID + `","turnId":null,"text":"assistant init result"}`

// without returns the output for the caller where an event is missing. It is played once for all
// changes of the event.
func (c *driftCase) without(i int) played {
	less, known := c.lacking[i]
	if !known {
		less = c.play(slices.Delete(slices.Clone(c.lines), i, i+1))
		c.lacking = map[int]played{i: less}
	}
	return less
}

// check looks at the output that a caller gets where a stream's event number i has changed, to an
// event or, with insert, by an event in front of it.
func (c *driftCase) check(base played, i int, event string, insert bool) error {
	lines := slices.Clone(c.lines)
	less := base
	if insert {
		lines = slices.Insert(lines, i, event)
	} else {
		lines[i] = event
		less = c.without(i)
	}
	got := c.play(lines)
	switch {
	case got.seen.ID != "" && got.seen.ID != base.seen.ID:
		return fmt.Errorf("session %s", got.seen.ID)
	case c.good(&got.seen) && !c.good(&base.seen):
		return fmt.Errorf("a run that has failed is one to go on with")
	case got.seen.WrongID != base.seen.WrongID:
		return fmt.Errorf("wrong id: %v", got.seen.WrongID)
	case c.shown(lines, event, base, less, got):
		return nil
	case c.exit != 0 && strings.HasPrefix(got.out, less.out) && len(lines) == len(c.lines) &&
		saysNothing(event):
		return nil
	}
	return fmt.Errorf("stdout %.200q, stderr %.200q\nas recorded %.200q, %.200q\nwithout it "+
		"%.200q, %.200q", got.out, got.errOut, base.out, base.errOut, less.out, less.errOut)
}

// saysNothing reports whether an event is a result that has lost the text about the tool's failure.
func saysNothing(event string) bool {
	var e struct {
		Type, Status string
		Error        any
	}
	return json.Unmarshal([]byte(event), &e) == nil && e.Type == "result" && e.Status == "error" &&
		e.Error == nil
}

var (
	droidAnswer = regexp.MustCompile(`"finalText":"[^"]*"`)
	droidUsage  = regexp.MustCompile(`"usage":\{[^{}]*(\{[^{}]*\})?[^{}]*\}`)
)

// shown reports whether a caller gets the recorded answer, or all of it but for the
// changed event, and that as the tool has written it, or the tool's own error.
func (c *driftCase) shown(lines []string, event string, base, less, got played) bool {
	if got.out == base.out && got.errOut == base.errOut || got.out == c.join(lines) {
		return true
	}
	// droid repeats the source's answer where it has none, and makes the line of json from the last
	// event.
	silent := droidAnswer.ReplaceAllString(event, `"finalText":""`)
	if usage := droidUsage.FindString(event); usage != "" &&
		got.out == droidUsage.ReplaceAllLiteralString(base.out, usage) {
		return true
	}
	for _, as := range []string{event, silent} {
		for _, end := range []string{"\n", ",", ",\n", ""} {
			if before, after, ok := strings.Cut(got.out, as+end); ok {
				rest := before + after
				if rest == less.out || rest == strings.TrimSuffix(less.out, less.unshown) ||
					rest == base.out ||
					end == "" && (strings.Replace(rest, ",]", "]", 1) == less.out ||
						rest == "[]\n" || strings.Replace(rest, ",\n\n]", "\n]", 1) == less.out) {
					return true
				}
			}
		}
	}
	return c.exit != 0 && got.out+got.errOut != "" && strings.HasPrefix(got.out, less.out)
}

// Tools change their events from version to version. If one field or one event changes, the caller
// gets the same answer, or the output as the tool has written it, or the error; and no session can
// be continued that could not be before.
func TestEventShapesDrift(t *testing.T) {
	seed := *driftSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	random := rand.New(rand.NewPCG(seed, 0))
	share := 20
	if *driftAll {
		share = 1
	} else {
		t.Logf("seed %d", seed)
	}
	count, failed := 0, 0
	for _, c := range driftCases(t) {
		base := c.play(c.lines)
		try := func(i int, what, event string, insert bool) {
			if random.IntN(share) != 0 {
				return
			}
			count++
			if err := c.check(base, i, event, insert); err != nil {
				if failed++; failed <= 20 {
					t.Errorf("%s %s, event %d: %s: %v", c.tool.Descriptor().Name, c.name, i+1, what,
						err)
				}
			}
		}
		for i, event := range c.lines {
			for _, d := range drifts(event, 3) {
				try(i, d.what, d.event, false)
			}
			if renamed := strings.Replace(event, `"type":"`, `"type":"novel_`,
				1); c.tool.Descriptor().Name == "claude" && c.exit == 0 {
				try(i, "another type", renamed, false)
			}
			if !strings.HasPrefix(event, "{\n") || c.tool.Descriptor().Name == "vibe" {
				try(i, "a new event", strangeEvent, true)
			}
		}
	}
	t.Logf("%d changes, %d of them lose something", count, failed)
	if count < 1000 {
		t.Errorf("%d changes are too few", count)
	}
}
