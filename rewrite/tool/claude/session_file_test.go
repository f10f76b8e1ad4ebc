package claude

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"reprise/internal/standin"
	"reprise/rewrite"
	"reprise/rewrite/reason"
	"reprise/rewrite/tool/base"
	"reprise/test/tooltest"
)

var formats = []rewrite.Format{rewrite.Text, rewrite.JSON, rewrite.JSONVerbose, rewrite.StreamJSON}

// run plays stdout to a caller of a format and returns the output that the caller is shown.
func run(format rewrite.Format, plan rewrite.Plan, stdout string) (string, *rewrite.StreamState) {
	s := tool.Stream(rewrite.CommandLine{Format: format}, plan, "")
	shown := ""
	for line := range strings.Lines(stdout) {
		shown += string(s.Line([]byte(line)))
	}
	return shown + string(s.End()), s.Seen()
}

// An ownRun is a recorded run of claude in its caller's format, under an ID that the command line
// gave it.
type ownRun struct {
	name, version, what string
	call                rewrite.CommandLine
	plan                rewrite.Plan
	exit                int
	stdout              string
	file                []string       // lines of the session's file
	previous            rewrite.Totals // of the session that it copied
}

// ownRuns reads the recordings.
func ownRuns(t *testing.T) map[string]ownRun {
	t.Helper()
	paths, err := filepath.Glob("../../../testdata/recordings/claude/own-*")
	if err != nil || len(paths) < 80 {
		t.Fatalf("%d recordings, %v", len(paths), err)
	}
	runs := map[string]ownRun{}
	for _, path := range paths {
		read := func(name string) []byte {
			data, err := os.ReadFile(filepath.Join(path, name))
			if err != nil {
				t.Fatal(err)
			}
			return data
		}
		var recorded struct {
			Argv    []string
			Exit    int
			Version string
			Started int64
		}
		if err := json.Unmarshal(read("run.json"), &recorded); err != nil {
			t.Fatal(err)
		}
		run := ownRun{name: filepath.Base(path), version: recorded.Version, exit: recorded.Exit,
			stdout: string(read("stdout"))}
		run.plan.Started = recorded.Started
		args := recorded.Argv[1:]
		if args[0] == "--resume" {
			run.plan.Resume, run.plan.Copy, args = args[1], true, args[3:]
		}
		run.plan.NewID, args = args[1], args[2:]
		run.call = tool.Parse(rewrite.Input{Args: args, Env: func(string) string {
			return ""
		}})
		run.file = slices.Collect(strings.Lines(string(read("session.jsonl"))))
		run.what = strings.Split(strings.TrimPrefix(run.name, "own-"+run.version+"-"), "-")[0]
		runs[run.name] = run
	}
	for name, run := range runs {
		if run.what == "resume" {
			source := runs[strings.Replace(name, "resume", "fresh", 1)]
			run.previous = source.play(t, nil, nil).seen.Totals
			runs[name] = run
		}
	}
	return runs
}

// An ownPlayed is the output and the state of a recorded run, read in one order.
type ownPlayed struct {
	shown   string
	seen    rewrite.StreamState
	content bool // the model's content was known before the end
}

// play plays stdout in pieces that are cut at these places, each after so many lines of the file.
// All lines come first if there are no cuts.
func (run *ownRun) play(t *testing.T, cuts, after []int) ownPlayed {
	t.Helper()
	if run.call.Mode != rewrite.Fresh {
		t.Fatalf("%s: %s %s", run.name, run.call.Mode, run.call.Reason)
	}
	s := tool.Stream(run.call, run.plan, run.previous)
	var p ownPlayed
	shown, fed := 0, 0
	show := func(to int) {
		for piece := range strings.Lines(run.stdout[shown:to]) {
			p.shown += string(s.Line([]byte(piece)))
		}
		shown = to
	}
	feed := func(to int) {
		for ; fed < to; fed++ {
			s.File("x", []byte(run.file[fed]))
		}
	}
	for i, cut := range cuts {
		feed(after[i])
		show(cut)
	}
	feed(len(run.file))
	show(len(run.stdout))
	p.content = s.Seen().Content
	p.shown += string(s.End())
	p.seen = *s.Seen()
	return p
}

// good reports whether a run leaves a session that can be resumed.
func (p *ownPlayed) good(exit int) bool {
	s := p.seen
	return exit == 0 && s.Final && !s.Failed && !s.Synthetic && !s.WrongID && s.ID != ""
}

// outcomes are the states after the recorded runs.
var outcomes = map[string]rewrite.StreamState{
	"fresh":    {Content: true, Final: true, Answer: "Got it: 456."},
	"resume":   {Content: true, Final: true, Answer: "456"},
	"tool":     {Content: true, Final: true, Answer: "ok", ToolRan: true},
	"http401":  {Final: true, Failed: true, Synthetic: true},
	"toobig":   {Final: true, Failed: true, Synthetic: true, Refusal: reason.RefusedContext},
	"badtool":  {Final: true, Failed: true, Synthetic: true, Refusal: reason.RefusedBroken},
	"maxturns": {Content: true, Final: true, Failed: true, TurnLimit: true, ToolRan: true},
	"empty":    {Content: true, Final: true},
	"sigterm":  {Content: true, ToolRan: true},
}

func TestClaudeOutcomes(t *testing.T) {
	for name, run := range ownRuns(t) {
		want := outcomes[run.what]
		if run.version == "2.0.76" && run.what == "empty" {
			want.Answer = "(no content)"
		}
		// it ended its turn after the signal, and exited with 0
		if name == "own-2.1.197-sigterm-json" {
			want.Final, want.Answer = true, "ok"
		}
		got := run.play(t, nil, nil)
		seen := got.seen
		if seen.Failed {
			seen.Answer = "" // only json has one then
		}
		if seen.Content != want.Content || got.content != want.Content ||
			seen.Final != want.Final || seen.Failed != want.Failed ||
			seen.TurnLimit != want.TurnLimit || seen.Synthetic != want.Synthetic ||
			seen.Refusal != want.Refusal ||
			seen.ToolRan != want.ToolRan || seen.Answer != want.Answer {
			t.Errorf("%s: %+v", name, seen)
		}
		if good := want.Final && !want.Failed && run.exit == 0; got.good(run.exit) != good {
			t.Errorf("%s can be resumed: %v, want %v", name, !good, good)
		}
		if seen.ID != run.plan.NewID || seen.Version != run.version || seen.WrongID ||
			seen.Compacted || !base.IsUUID(seen.Message) {
			t.Errorf("%s: id %q, version %q, message %q", name, seen.ID, seen.Version, seen.Message)
		}
		model := map[string]string{"2.0.76": "claude-sonnet-4-5-20250929",
			"2.1.197": "claude-opus-4-8", "2.1.329": "claude-opus-5-5",
			"2.1.330": "claude-opus-5-5"}[run.version]
		if want.Content && seen.Model != model {
			t.Errorf("%s: model %q", name, seen.Model)
		}
	}
}

// stops are the places in the file between which the order of lines and stdout does not matter:
// before and after each line that is read.
func (run *ownRun) stops() []int {
	stops := []int{0}
	for i, line := range run.file {
		if strings.Contains(line, `"type":"user"`) ||
			strings.Contains(line, `"type":"assistant"`) ||
			strings.Contains(line, `"type":"cost-state"`) {
			stops = append(stops, i+1)
		}
	}
	return stops
}

// Stdout and the file are read by two goroutines: in either order, the same is learned and shown.
func TestClaudeOrders(t *testing.T) {
	for name, run := range ownRuns(t) {
		want := run.play(t, nil, nil)
		check := func(cuts, after []int) {
			t.Helper()
			got := run.play(t, cuts, after)
			got.seen.Source, want.seen.Source = "", ""               // who names the ID first
			got.seen.OwnFigures, want.seen.OwnFigures = false, false // counts only in stream-json
			if got.shown != want.shown {
				t.Errorf("%s, stdout cut at %v after %v lines: %q, want %q", name, cuts, after,
					got.shown, want.shown)
			}
			if !reflect.DeepEqual(got.seen, want.seen) {
				t.Fatalf("%s, stdout cut at %v after %v lines: %+v\nwant %+v", name, cuts, after,
					got.seen, want.seen)
			}
		}
		stops := run.stops()
		for i, at := range stops {
			check([]int{len(run.stdout)}, []int{at})
			if run.call.Format != rewrite.Text || len(run.stdout) < 2 {
				continue
			}
			for _, later := range stops[i:] {
				for _, cut := range []int{1, len(run.stdout) / 2, len(run.stdout) - 1} {
					check([]int{cut, len(run.stdout)}, []int{at, later})
				}
			}
		}
	}
}

// Stdout is shown byte for byte, but for the figures of a resumed json call.
func TestClaudeShowsWhatItPrints(t *testing.T) {
	for name, run := range ownRuns(t) {
		got := run.play(t, nil, nil)
		if run.what != "resume" || run.call.Format == rewrite.Text ||
			!base.AtLeast(run.version, 2, 1, 277) {
			if got.shown != run.stdout {
				t.Errorf("%s: %q\nwant %q", name, got.shown, run.stdout)
			}
			continue
		}
		from, to := jsonResult([]byte(run.stdout))
		shownFrom, shownTo := jsonResult([]byte(got.shown))
		result, shown := []byte(run.stdout[from:to]), []byte(got.shown[shownFrom:shownTo])
		if got.shown[:shownFrom] != run.stdout[:from] || got.shown[shownTo:] != run.stdout[to:] ||
			string(tooltest.StripNumbers(shown)) != string(tooltest.StripNumbers(result)) {
			t.Errorf("%s: more than figures has changed: %s", name, got.shown)
		}
		var figures struct {
			Cost  float64 `json:"total_cost_usd"`
			Usage base.ClaudeUsage
			Model map[string]struct {
				InputTokens, OutputTokens, CacheReadInputTokens, ContextWindow int64
				CostUSD                                                        float64
			} `json:"modelUsage"`
		}
		if err := json.Unmarshal(shown, &figures); err != nil {
			t.Fatal(err)
		}
		// The plain usage is this call's in all versions.
		for model, m := range figures.Model {
			if m.InputTokens != figures.Usage.Input || m.OutputTokens != figures.Usage.Output ||
				m.CacheReadInputTokens != figures.Usage.CacheRead ||
				m.CostUSD != figures.Cost || m.ContextWindow != 1_000_000 {
				t.Errorf("%s: %s: %+v, want %+v", name, model, m, figures.Usage)
			}
		}
	}
}

// Without a resume, every format is shown as it is.
func TestClaudeShowsRecordings(t *testing.T) {
	paths, err := filepath.Glob("../../../testdata/recordings/claude/*/stdout")
	if err != nil || len(paths) < 130 {
		t.Fatalf("%d recordings, %v", len(paths), err)
	}
	for _, path := range paths {
		stdout, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, format := range formats {
			if shown, _ := run(format, rewrite.Plan{}, string(stdout)); shown != string(stdout) {
				t.Errorf("%s as %s: %q", path, format, shown)
			}
		}
	}
}

// The recordings' tokens, and the cost in nano-dollars where claude reports it.
func TestClaudeUsageOfOwnRuns(t *testing.T) {
	runs := ownRuns(t)
	for name, want := range map[string]rewrite.Usage{
		"own-2.0.76-fresh-text": {Input: 1, CacheRead: 0, CacheWrite: 17531, Output: 4},
		"own-2.0.76-fresh-json": {Input: 1, CacheRead: 17531, CacheWrite: 0, Output: 4,
			CostKnown: true, CostNano: 5322300},
		"own-2.0.76-resume-text": {Input: 1, CacheRead: 17531, CacheWrite: 25, Output: 1},
		"own-2.0.76-resume-json": {Input: 1664, CacheRead: 17556, CacheWrite: 0, Output: 3,
			CostKnown: true, CostNano: 8737800},
		"own-2.0.76-tool-text": {Input: 2, CacheRead: 31775, CacheWrite: 3371, Output: 4},
		"own-2.0.76-tool-json": {Input: 1981, CacheRead: 35074, CacheWrite: 72, Output: 7,
			CostKnown: true, CostNano: 14632200},
		"own-2.1.197-fresh-text": {Input: 1544, CacheRead: 0, CacheWrite: 17354, Output: 4},
		"own-2.1.197-fresh-json": {Input: 1544, CacheRead: 17354, CacheWrite: 0, Output: 4,
			CostKnown: true, CostNano: 16497000},
		"own-2.1.197-resume-text": {Input: 1, CacheRead: 0, CacheWrite: 18914, Output: 1},
		"own-2.1.197-resume-json": {Input: 1, CacheRead: 18914, CacheWrite: 0, Output: 1,
			CostKnown: true, CostNano: 9487000},
		"own-2.1.197-tool-text": {Input: 1544, CacheRead: 17351, CacheWrite: 18952, Output: 4},
		"own-2.1.197-tool-json": {Input: 1544, CacheRead: 34702, CacheWrite: 1601, Output: 4,
			CostKnown: true, CostNano: 35177250},
		"own-2.1.330-fresh-text": {Input: 1, CacheRead: 0, CacheWrite: 12147, Output: 4,
			CostKnown: true, CostNano: 60819000},
		"own-2.1.330-fresh-json": {Input: 1, CacheRead: 12147, CacheWrite: 0, Output: 4,
			CostKnown: true, CostNano: 2513400},
		"own-2.1.330-resume-text": {Input: 1, CacheRead: 9606, CacheWrite: 2561, Output: 1,
			CostKnown: true, CostNano: 14750200},
		"own-2.1.330-resume-json": {Input: 1, CacheRead: 12167, CacheWrite: 0, Output: 1,
			CostKnown: true, CostNano: 2457400},
		"own-2.1.330-tool-text": {Input: 2, CacheRead: 9606, CacheWrite: 14736, Output: 4,
			CostKnown: true, CostNano: 75689200},
		"own-2.1.330-tool-json": {Input: 2, CacheRead: 21750, CacheWrite: 2592, Output: 4,
			CostKnown: true, CostNano: 17398000},
	} {
		run := runs[name]
		want.Known = true
		if seen := run.play(t, nil, nil).seen; seen.Usage != want {
			t.Errorf("%s: %+v, want %+v", name, seen.Usage, want)
		}
	}
	for name, run := range runs {
		seen := run.play(t, nil, nil).seen
		if failed := slices.Contains([]string{"http401", "toobig", "badtool"},
			run.what); seen.First.Known == failed ||
			// json counts the requests of 2.0.76 beside the turn
			failed && seen.Usage.Output > 0 && run.version != "2.0.76" {
			t.Errorf("%s: first %+v, all %+v", name, seen.First, seen.Usage)
		}
		if base.AtLeast(run.version, 2, 1, 277) != seen.Usage.CostKnown &&
			run.call.Format == rewrite.Text {
			t.Errorf("%s: cost %+v", name, seen.Usage)
		}
	}
}

// A text run is over when stdout has shown the newest message, and not before.
func TestClaudeTextThatIsCutShort(t *testing.T) {
	for name, run := range ownRuns(t) {
		if run.call.Format != rewrite.Text {
			continue
		}
		whole := run
		for i := range len(strings.TrimSpace(whole.stdout)) {
			run.stdout = whole.stdout[:i]
			if seen := run.play(t, nil, nil).seen; seen.Final || seen.Refusal != "" {
				t.Errorf("%s, %d bytes of stdout: %+v", name, i, seen)
			}
		}
		run.stdout = ""
		if seen := run.play(t, nil, nil).seen; seen.Final ||
			seen.Content != outcomes[run.what].Content {
			t.Errorf("%s, no stdout: %+v", name, seen)
		}
		run.stdout = whole.stdout
		last := 0
		for i, line := range whole.file {
			if strings.Contains(line, `"type":"assistant"`) {
				last = i
			}
		}
		run.file = whole.file[:last]
		// the message before is empty too
		if seen := run.play(t, nil, nil).seen; seen.Final && run.what != "empty" {
			t.Errorf("%s, without the newest message: %+v", name, seen)
		}
	}
}

// A copy's file begins with its source's entries, which are older than the run.
func TestClaudeLeavesOldEntriesOut(t *testing.T) {
	for name, run := range ownRuns(t) {
		if run.call.Format != rewrite.Text {
			continue
		}
		run.plan.Started += 3600_000
		seen := run.play(t, nil, nil).seen
		if !reflect.DeepEqual(seen, rewrite.StreamState{}) {
			t.Errorf("%s an hour later: %+v", name, seen)
		}
	}
	const at = 1795398580606 // 2026-11-23T01:49:40.606Z
	for _, tt := range []struct {
		time    string
		started int64
		counts  bool
	}{
		{"2026-11-23T01:49:40.606Z", at, true},
		{"2026-11-23T01:49:40.606Z", at + 1, false},
		{"2026-11-23T03:49:40.606+02:00", at, false}, // claude writes UTC
		{"", at, false}, {"tomorrow", at, false}, {"1795398580607", at, false},
	} {
		s := tool.Stream(rewrite.CommandLine{Format: rewrite.Text},
			rewrite.Plan{NewID: tooltest.SomeID, Started: tt.started}, "")
		s.Line([]byte("yes\n"))
		s.File("x", []byte(strings.Replace(says("yes"), "TIME", tt.time, 1)))
		if seen := s.Seen(); seen.Content != tt.counts || seen.Final != tt.counts ||
			(seen.ID == tooltest.SomeID) != tt.counts {
			t.Errorf("an entry of %q in a run from %d: %+v", tt.time, tt.started, seen)
		}
	}
}

// said is a message's entry in a session's file, and says an entry that is only a text.
func said(content, more string) string {
	return `{"isSidechain":false,"type":"assistant","timestamp":"TIME","sessionId":"` +
		tooltest.SomeID + `","version":"2.1.330","uuid":"` + tooltest.ForeignID +
		`","message":{"id":"msg_1","model":"m","content":[` + content +
		`],"usage":{"input_tokens":1,"cache_read_input_tokens":20,` +
		`"cache_creation_input_tokens":300,"output_tokens":4000}}` + more + "}\n"
}

func says(text string) string {
	return said(`{"type":"text","text":`+standin.Encode(text)+`}`,
		"")
}

const usesTool = `{"type":"tool_use","name":"Edit","input":{"file_path":"/w/a.go"}}`

// structured is an answer by a JSON schema of the caller's.
const structured = `{"type":"tool_use","name":"StructuredOutput","input":{"a":1}}`

// fileSees plays stdout and a file's entries to a text caller, who allows 3 turns: the file first,
// and in another run stdout first.
func fileSees(t *testing.T, stdout string, entries ...string) *rewrite.StreamState {
	t.Helper()
	var seen [2]*rewrite.StreamState
	for i := range seen {
		s := tool.Stream(parse("-p x --max-turns 3"),
			rewrite.Plan{NewID: tooltest.SomeID, Started: 1}, "")
		if i == 1 {
			s.Line([]byte(stdout))
		}
		for _, e := range entries {
			s.File("x", []byte(strings.Replace(e, "TIME", "2026-11-23T01:49:40.606Z", 1)))
		}
		if i == 0 {
			s.Line([]byte(stdout))
		}
		s.End()
		seen[i] = s.Seen()
	}
	if !reflect.DeepEqual(seen[0], seen[1]) {
		t.Errorf("%q: file first %+v, stdout first %+v", stdout, seen[0], seen[1])
	}
	return seen[0]
}

func TestClaudeFileOutcomes(t *testing.T) {
	synthetic := func(text, more string) string {
		return strings.Replace(said(`{"type":"text","text":`+standin.Encode(text)+`}`, more),
			`"model":"m"`, `"model":"<synthetic>"`, 1)
	}
	apiError := func(text string, status int) string {
		return synthetic(text, fmt.Sprintf(`,"isApiErrorMessage":true,"apiErrorStatus":%d`, status))
	}
	thinks := said(`{"type":"thinking","thinking":"hm"}`, "")
	tests := []struct {
		what, stdout string
		entries      []string
		want         rewrite.StreamState // as far as it is compared
	}{
		{"an answer", "yes\n", []string{says("yes")},
			rewrite.StreamState{Content: true, Final: true, Answer: "yes"}},
		{"on a terminal", "yes\r\nno\r\n", []string{says("yes\nno")},
			rewrite.StreamState{Content: true, Final: true, Answer: "yes\nno"}},
		{"with the line ends of a terminal", "yes\r\nno\n", []string{says("yes\r\nno")},
			rewrite.StreamState{Content: true, Final: true, Answer: "yes\r\nno"}},
		{"with space around", "  yes\n\n", []string{says("  yes\n\n")},
			rewrite.StreamState{Content: true, Final: true, Answer: "  yes\n\n"}},
		{"another", "no\n", []string{says("yes")},
			rewrite.StreamState{Content: true, Answer: "yes"}},
		{"no message", "yes\n", nil, rewrite.StreamState{}},
		{"only a prompt", "yes\n", []string{
			`{"type":"user","timestamp":"TIME","message":{"content":"x"}}`}, rewrite.StreamState{}},
		{"thinking only", "", []string{thinks}, rewrite.StreamState{Content: true}},
		{"thinking first", "yes\n", []string{thinks, says("yes")},
			rewrite.StreamState{Content: true, Final: true, Answer: "yes"}},
		{"an empty answer", "\n", []string{says("")},
			rewrite.StreamState{Content: true, Final: true}},
		{"an empty answer that is not shown", "", []string{says("")},
			rewrite.StreamState{Content: true}},
		{"two texts", "b\n", []string{said(`{"type":"text","text":"a"},{"type":"text","text":"b"}`,
			"")}, rewrite.StreamState{Content: true, Final: true, Answer: "b"}},
		{"a tool", "yes\n", []string{says("yes"), said(usesTool, "")},
			rewrite.StreamState{Content: true, ToolRan: true}},
		{"a tool and an answer", "yes\n", []string{said(usesTool, ""), says("yes")},
			rewrite.StreamState{Content: true, ToolRan: true, Final: true, Answer: "yes"}},
		{"an answer by a schema", `{"a":1}` + "\n", []string{said(structured, "")},
			rewrite.StreamState{Content: true, ToolRan: true, Final: true, Answer: `{"a":1}`}},
		{"a text behind it", `{"a":1}` + "\n", []string{said(structured, ""), says("yes")},
			rewrite.StreamState{Content: true, ToolRan: true, Final: true, Answer: `{"a":1}`}},
		{"an answer by a schema that is not shown", "yes\n", []string{said(structured, "")},
			rewrite.StreamState{Content: true, ToolRan: true}},
		{"too many turns", "Error: Reached max turns (3)", []string{said(usesTool, "")},
			rewrite.StreamState{Content: true, ToolRan: true, Final: true, Failed: true,
				TurnLimit: true}},
		{"another limit", "Error: Reached max turns (4)", []string{said(usesTool, "")},
			rewrite.StreamState{Content: true, ToolRan: true}},
		{"an answer that speaks of turns", "Error: Reached max turns (3)\n",
			[]string{said(usesTool, ""), says("Error: Reached max turns (3)")},
			rewrite.StreamState{Content: true, ToolRan: true, Final: true,
				Answer: "Error: Reached max turns (3)"}},
		{"an error", "API Error: 529\n", []string{apiError("API Error: 529", 529)},
			rewrite.StreamState{Synthetic: true, Final: true, Failed: true}},
		{"an error that is not shown", "", []string{apiError("API Error: 529", 529)},
			rewrite.StreamState{Synthetic: true}},
		{"too long", "Prompt is too long\n", []string{apiError("Prompt is too long", 0)},
			rewrite.StreamState{Synthetic: true, Final: true, Failed: true,
				Refusal: reason.RefusedContext}},
		{"too long, but not shown", "x\n", []string{apiError("Prompt is too long", 0)},
			rewrite.StreamState{Synthetic: true}},
		{"broken", "x\n", []string{apiError("x", 400)},
			rewrite.StreamState{Synthetic: true, Final: true, Failed: true,
				Refusal: reason.RefusedBroken}},
		{"broken, of an old version", "API Error: 400 x\n",
			[]string{apiError("API Error: 400 x", 0)},
			rewrite.StreamState{Synthetic: true, Final: true, Failed: true,
				Refusal: reason.RefusedBroken}},
		{"a model that quotes it", "Prompt is too long\n", []string{says("Prompt is too long")},
			rewrite.StreamState{Content: true, Final: true, Answer: "Prompt is too long"}},
		{"an error before", "yes\n", []string{apiError("API Error: 529", 529), says("yes")},
			rewrite.StreamState{Content: true, Final: true, Answer: "yes"}},
		{"a message of claude's", "No response requested.\n",
			[]string{synthetic("No response requested.", "")},
			rewrite.StreamState{Synthetic: true, Final: true, Answer: "No response requested."}},
		{"a compaction", "yes\n", []string{
			`{"type":"system","subtype":"compact_boundary","timestamp":"TIME"}`, says("yes")},
			rewrite.StreamState{Content: true, Final: true, Answer: "yes", Compacted: true}},
		{"other records", "yes\n", []string{
			`{"type":"system","subtype":"local_command","timestamp":"TIME"}`, says("yes"),
			`{"type":"novel","timestamp":"TIME","x":{"type":"assistant"}}`, `{"type":"assistant"`,
			"turn\n"}, rewrite.StreamState{Content: true, Final: true, Answer: "yes"}},
		{"a subagent", "yes\n", []string{strings.Replace(says("no"), "false", "true", 1)},
			rewrite.StreamState{}},
		{"a subagent beside", "yes\n", []string{says("yes"),
			strings.Replace(said(usesTool, ""), "false", "true", 1)},
			rewrite.StreamState{Content: true, Final: true, Answer: "yes"}},
		{"an entry of another shape", "yes\n",
			[]string{strings.Replace(says("yes"), `"msg_1"`, "7", 1)},
			rewrite.StreamState{Content: true, Final: true, Failed: true, Answer: "yes"}},
		{"one before", "yes\n", []string{strings.Replace(says("no"), `"msg_1"`, "7", 1),
			says("yes")}, rewrite.StreamState{Content: true, Final: true, Failed: true,
			Answer: "yes"}},
	}
	for _, tt := range tests {
		seen := fileSees(t, tt.stdout, tt.entries...)
		got := rewrite.StreamState{Content: seen.Content, Synthetic: seen.Synthetic,
			ToolRan: seen.ToolRan, Final: seen.Final, Failed: seen.Failed,
			TurnLimit: seen.TurnLimit, Refusal: seen.Refusal, Compacted: seen.Compacted}
		if got.Answer = seen.Answer; !tt.want.Final {
			got.Answer, tt.want.Answer = "", ""
		}
		if !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %+v\nwant %+v", tt.what, got, tt.want)
		}
	}
	seen := fileSees(t, "yes\n", said(usesTool, ""), says("yes"))
	if !slices.Equal(seen.Files, []string{"/w/a.go"}) || seen.Message != tooltest.ForeignID ||
		seen.Source != "file" || seen.ContextUse.Used != 4321 ||
		!slices.Equal(seen.Texts, []string{"yes"}) ||
		seen.First.Prompt() != 321 || seen.First.CacheRead != 20 {
		t.Errorf("files, message and figures: %+v", seen)
	}
	if seen := fileSees(t, "yes\n", `{"type":"user","timestamp":"TIME"}`); seen.ID !=
		tooltest.SomeID {
		t.Errorf("the caller's message: id %q", seen.ID)
	}
}

// Each part of a message has an entry with the usage of the whole, and the last entry's counts.
func TestClaudeAddsUp(t *testing.T) {
	part := func(id string, output int) string {
		return strings.NewReplacer(`"msg_1"`, standin.Encode(id), "4000",
			fmt.Sprint(output)).Replace(says("yes"))
	}
	none := strings.Replace(says("yes"), `"usage"`, `"novel"`, 1)
	costs := `{"type":"cost-state","totalCostUSD":0.5,"totalAPIDuration":9,"modelUsage":{"a":{"inputTokens":7,"outputTokens":8,"cacheReadInputTokens":5,` +
		`"cacheCreationInputTokens":6},"b":{"inputTokens":70}}}`
	for _, tt := range []struct {
		what    string
		entries []string
		want    rewrite.Usage
	}{
		{"one", []string{part("a", 3)}, rewrite.Usage{Known: true, Input: 1, CacheRead: 20,
			CacheWrite: 300, Output: 3}},
		{"parts", []string{part("a", 3), part("a", 5)},
			rewrite.Usage{Known: true, Input: 1, CacheRead: 20, CacheWrite: 300, Output: 5}},
		{"two", []string{part("a", 3), part("a", 5), part("b", 7)},
			rewrite.Usage{Known: true, Input: 2, CacheRead: 40, CacheWrite: 600, Output: 12}},
		{"no usage", []string{part("a", 3), none},
			rewrite.Usage{Known: true, Input: 1, CacheRead: 20, CacheWrite: 300, Output: 3}},
		{"totals", []string{part("a", 3), costs},
			rewrite.Usage{Known: true, Input: 77, CacheRead: 5, CacheWrite: 6, Output: 8,
				CostKnown: true, CostNano: 500_000_000}},
		{"more after totals", []string{part("a", 3), costs, part("b", 3)},
			rewrite.Usage{Known: true, Input: 77, CacheRead: 5, CacheWrite: 6, Output: 8,
				CostKnown: true, CostNano: 500_000_000}},
		{"a copy's old totals", []string{costs, part("a", 3)},
			rewrite.Usage{Known: true, Input: 1, CacheRead: 20, CacheWrite: 300, Output: 3}},
	} {
		if seen := fileSees(t, "yes\n", tt.entries...); seen.Usage != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.what, seen.Usage, tt.want)
		}
	}
	want := rewrite.Totals(
		`{"duration_api_ms":9,"modelUsage\ta\tcacheCreationInputTokens":6,"modelUsage\ta\tcacheReadInputTokens":5,"modelUsage\ta\tinputTokens":7,` +
			`"modelUsage\ta\toutputTokens":8,"modelUsage\tb\tinputTokens":70,"total_cost_usd":0.5}`)
	if seen := fileSees(t, "yes\n", says("yes"), costs); seen.Totals != want {
		t.Errorf("totals %s", seen.Totals)
	}
	own := strings.NewReplacer(`"a":{"inputTokens":7,"outputTokens":8,"cacheReadInputTokens":5`,
		`"a":{"inputTokens":7,"outputTokens":4000,"cacheReadInputTokens":20`,
		`"cacheCreationInputTokens":6`, `"cacheCreationInputTokens":300`).Replace(costs)
	for _, tt := range []struct {
		what     string
		costs    string
		previous rewrite.Totals
		want     rewrite.Usage
	}{
		{"of which some are known", costs,
			`{"total_cost_usd":0.25,"modelUsage\ta\tinputTokens":4,"modelUsage\tb\tinputTokens":70}`,
			rewrite.Usage{Known: true, Input: 3, CacheRead: 5, CacheWrite: 6, Output: 8,
				CostKnown: true, CostNano: 250_000_000}},
		{"of which none is known", costs, "", rewrite.Usage{Known: true, Input: 1, CacheRead: 20,
			CacheWrite: 300, Output: 4000}},
		{"that were more before", costs, `{"total_cost_usd":9}`,
			rewrite.Usage{Known: true, Input: 1, CacheRead: 20, CacheWrite: 300, Output: 4000}},
		{"that are the run's own", own, `{"total_cost_usd":0.25,"modelUsage\ta\toutputTokens":1}`,
			rewrite.Usage{Known: true, Input: 77, CacheRead: 20, CacheWrite: 300, Output: 4000,
				CostKnown: true, CostNano: 500_000_000}},
	} {
		s := tool.Stream(rewrite.CommandLine{Format: rewrite.Text},
			rewrite.Plan{Resume: tooltest.ForeignID, Copy: true, NewID: tooltest.SomeID},
			tt.previous)
		s.File("x", []byte(strings.Replace(says("yes"), "TIME", "2026-11-23T01:49:40.606Z", 1)))
		s.File("x", []byte(tt.costs))
		if got := s.Seen(); got.Usage != tt.want || tt.costs == costs && got.Totals != want {
			t.Errorf("a copy's totals %s: %+v, want %+v", tt.what, got.Usage, tt.want)
		}
	}
}

// A call of a tool in the background counts until its end is seen, in the file or in an event.
func TestClaudeLeavesACommand(t *testing.T) {
	const (
		start = `{"type":"assistant","message":{"id":"m","model":"m","content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"x","run_in_background":IT}}]},` +
			`"session_id":"` + tooltest.SomeID + `","timestamp":"2026-11-23T01:49:40.606Z"}`
		entry = `{"type":"user","message":{"role":"user","content":"<task-notification>\n<tool-use-id>toolu_N</tool-use-id>"},"timestamp":"2026-11-23T01:49:41.606Z"}`
		event = `{"type":"system","subtype":"task_notification","tool_use_id":"toolu_N","status":"completed","session_id":"` + tooltest.SomeID + `"}`
		shown = `{"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_N","type":"tool_result","content":"Command running in background"}]}}`
	)
	for _, tt := range []struct {
		what, it, then, id string
		left               bool
	}{
		{"in front", "false", shown, "1", false},
		{"without an end", "true", shown, "1", true},
		{"with its end in the file", "true", entry, "1", false},
		{"with its end in an event", "true", event, "1", false},
		{"with another one's end", "true", entry, "2", true},
	} {
		first, then := strings.Replace(start, "IT", tt.it, 1),
			strings.Replace(tt.then, "toolu_N", "toolu_"+tt.id, 1)
		for _, format := range []rewrite.Format{rewrite.Text, rewrite.StreamJSON} {
			s := tool.Stream(rewrite.CommandLine{Format: format},
				rewrite.Plan{NewID: tooltest.SomeID}, "")
			for _, line := range []string{first, then} {
				if format == rewrite.Text {
					s.File("x", []byte(line))
				} else {
					s.Line([]byte(line + "\n"))
				}
			}
			if got := s.Seen().Background; got != tt.left {
				t.Errorf("%s, %s: %v", tt.what, format, got)
			}
		}
	}
}

// An answer that is too long to compare counts as shown, and the session cannot be resumed.
func TestClaudeTextThatIsTooLong(t *testing.T) {
	for _, more := range []int{0, 1} {
		s := tool.Stream(rewrite.CommandLine{Format: rewrite.Text},
			rewrite.Plan{NewID: tooltest.SomeID},
			"")
		s.File("x", []byte(strings.Replace(says("yes"), "TIME", "2026-11-23T01:49:40.606Z", 1)))
		text := "yes" + strings.Repeat("\n", rewrite.LongestLine-3+more)
		if got := string(s.Line([]byte(text))); got != text {
			t.Errorf("%d bytes of %d are shown", len(got), len(text))
		}
		if seen := s.Seen(); !seen.Final || seen.Failed != (more > 0) {
			t.Errorf("%d bytes: %+v", len(text), seen)
		}
		s.Line([]byte("yes"))
		if seen := s.Seen(); !seen.Final || !seen.Failed {
			t.Errorf("%d bytes: %+v", len(text)+3, seen)
		}
	}
}

// Figures of a resumed json call are corrected in an object and in an array, whatever stands around
// them.
func TestClaudeJSONOfAResume(t *testing.T) {
	const (
		result = `{"type":"result","subtype":"success","is_error":false,"total_cost_usd":0.75,"session_id":"` + tooltest.SomeID + `","result":"yes"}`
		own    = `{"type":"result","subtype":"success","is_error":false,"total_cost_usd":0.5,"session_id":"` + tooltest.SomeID + `","result":"yes"}`
	)
	events := tooltest.ClaudeInit[:len(tooltest.ClaudeInit)-1] + ", " +
		tooltest.ClaudeSays[:len(tooltest.ClaudeSays)-1] + ","
	for what, stdout := range map[string]string{
		"an object":           result + "\n",
		"without its newline": result,
		"on a terminal":       result + "\r\n",
		"an array":            "[" + events + result + "]\n",
		"one on a terminal":   "[" + events + " " + result + " ]\r\n",
		"only the result":     "[" + result + "]",
		"lines around": "Hello.\n{\"a\":1}\n[not yet]\n\n" + result +
			"\nBye.\n{\"type\":\"result\"}\n[done]",
		"lines around one": "[\n[]\n{\n[" + events + result + "]\r\n\r\nBye.\n\n",
	} {
		for _, format := range []rewrite.Format{rewrite.JSON, rewrite.JSONVerbose} {
			for version, want := range map[string]string{
				"2.1.330": strings.Replace(stdout, result, own, 1), "2.1.197": stdout} {
				s := tool.Stream(rewrite.CommandLine{Format: format},
					rewrite.Plan{Resume: tooltest.ForeignID, Copy: true, NewID: tooltest.SomeID},
					`{"total_cost_usd":0.25}`)
				shown := ""
				for line := range strings.Lines(stdout) {
					shown += string(s.Line([]byte(line)))
				}
				if strings.Contains(shown, "total_cost_usd") {
					t.Errorf("%s: the result is shown before the file was read: %q", what, shown)
				}
				s.File("x", []byte(strings.NewReplacer("TIME", "2026-11-23T01:49:40.606Z",
					"2.1.330", version).Replace(says("yes"))))
				shown += string(s.End())
				if seen := s.Seen(); shown != want || seen.Answer != "yes" || !seen.Final ||
					seen.Failed || seen.ID != tooltest.SomeID || seen.WrongID {
					t.Errorf("%s, %s: %q, %+v\nwant %q", what, version, shown, seen, want)
				}
			}
		}
	}
	for id, wrong := range map[string]bool{tooltest.SomeID: false, tooltest.ForeignID: true} {
		_, seen := run(rewrite.JSON, rewrite.Plan{Resume: tooltest.ForeignID, Copy: true,
			NewID: tooltest.SomeID}, strings.Replace(result, tooltest.SomeID, id, 1))
		if seen.WrongID != wrong {
			t.Errorf("a result of %s: wrong id %v", id, seen.WrongID)
		}
	}
}

// The result's figures count, whatever the file has.
func TestClaudeJSONAndTheFilesTotals(t *testing.T) {
	const result = `{"type":"result","subtype":"success","is_error":false,"total_cost_usd":0.75,"modelUsage":{"m":{"inputTokens":7}},"session_id":"` + tooltest.SomeID + `"}`
	const costs = `{"type":"cost-state","totalCostUSD":0.5,"modelUsage":{"m":{"inputTokens":8}}}`
	for _, first := range []bool{true, false} {
		s := tool.Stream(rewrite.CommandLine{Format: rewrite.JSON},
			rewrite.Plan{NewID: tooltest.SomeID},
			"")
		if !first {
			s.Line([]byte(result))
		}
		s.File("x", []byte(strings.Replace(says("yes"), "TIME", "2026-11-23T01:49:40.606Z", 1)))
		s.File("x", []byte(costs))
		if first {
			s.Line([]byte(result))
		}
		want := rewrite.Usage{Known: true, Input: 7, CostKnown: true, CostNano: 750_000_000}
		if seen := s.Seen(); seen.Usage != want ||
			seen.Totals != `{"modelUsage\tm\tinputTokens":7,"total_cost_usd":0.75}` {
			t.Errorf("file first %v: %+v, totals %s", first, seen.Usage, seen.Totals)
		}
	}
}

// An entry of another shape counts in json too, whether it comes before the result or after it.
func TestClaudeJSONWithAnOddEntry(t *testing.T) {
	odd := strings.NewReplacer(`"msg_1"`, "7", "TIME",
		"2026-11-23T01:49:40.606Z").Replace(says("yes"))
	for _, first := range []bool{true, false} {
		s := tool.Stream(rewrite.CommandLine{Format: rewrite.JSON},
			rewrite.Plan{NewID: tooltest.SomeID},
			"")
		if first {
			s.File("x", []byte(odd))
		}
		s.Line([]byte(tooltest.ClaudeEnds))
		if !first {
			s.File("x", []byte(odd))
		}
		if seen := s.Seen(); !seen.Failed || !seen.Final {
			t.Errorf("entry first %v: %+v", first, seen)
		}
	}
}

// A line that is no event is shown as it is, and nothing is learned from it.
func TestClaudeShowsWhatIsNoEvent(t *testing.T) {
	for _, stdout := range []string{
		"plain\n\ntext", "{\n  \"result\": 7\n}\n", "{}\n{\"result\":\"x\"}\n[]\n7\n", "[",
		"[{\"type\":\"result\"", "[1,2,\"result\"]\n", "\n",
		"[" + strings.TrimSuffix(tooltest.ClaudeEnds, "\n") + ",{\n", "panic: result of init",
		`{"type":"result",}` + "\n", `{"type":"novel","text":"result"}` + "\r\n",
		"{\"type\":\"result\xff\n",
	} {
		for _, format := range formats {
			for _, plan := range []rewrite.Plan{{NewID: tooltest.SomeID},
				{NewID: tooltest.SomeID, Resume: tooltest.ForeignID, Copy: true}} {
				if shown, seen := run(format, plan, stdout); shown != stdout || seen.ID != "" ||
					seen.Final || seen.Content {
					t.Errorf("%s of %q: %q, %+v", format, stdout, shown, seen)
				}
			}
		}
	}
}

// Only recorded runs that failed for a reason outside their session say nothing against it.
func TestWhatOwnFailuresSay(t *testing.T) {
	for name, run := range ownRuns(t) {
		want := reason.Code("")
		if strings.HasPrefix(run.what, "http401") {
			want = reason.LoginRefused
		}
		if seen := run.play(t, nil, nil).seen; seen.Outside != want {
			t.Errorf("%s: %q, want %q", name, seen.Outside, want)
		}
	}
}
