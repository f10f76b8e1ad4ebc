package tool

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"reprise/rewrite"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
	"reprise/test/tooltest"
)

// A managed command line is read the same behind the options that a plan adds, and a resume among
// these is seen as a resume of that session.
func FuzzPlans(f *testing.F) {
	for _, s := range []string{"-p\nhi", "exec\nhi\n--json", "e\n-m\nx\n-", "-p\nhi\n-o\njson",
		"--prompt=hi\n-y", "-p\n--\nhi", "hi\n--output\njson",
		"-p\n--model=x\n--verbose\n--output-format=json\nhi", "exec\n-i\na.png\n--\nhi", "-phi",
		"-p\nhi\n--trust", "-p\n-x", "run\na\nb"} {
		for tool := range all() {
			f.Add(byte(tool), s)
		}
	}
	for i, tool := range all() {
		f.Add(byte(i), strings.Join(append(slices.Clone(tool.Descriptor().Unattended[1:]), "hi"),
			"\n"))
	}
	f.Fuzz(func(t *testing.T, which byte, line string) {
		tool := all()[int(which)%len(all())]
		args := strings.Split(line, "\n")
		in := rewrite.Input{Args: args, Env: func(string) string { return "" }}
		call := tool.Parse(in)
		if call.Mode != rewrite.Fresh {
			return
		}
		text := prompt.New(tool.EffectivePrompt(call, ""), tooltest.Key)
		if text.Text == "" {
			return
		}
		// a caller's own call with such options is not managed
		without := func(args []string) []string {
			return slices.DeleteFunc(slices.Clone(args), func(arg string) bool {
				return strings.Contains(arg, rewrite.Scratch) || arg == "--session-id" ||
					arg == tooltest.ForeignID || arg == "--session-id="+tooltest.ForeignID
			})
		}
		plan := tool.Plan(call, tooltest.Beginning(rewrite.ToFresh(text.Text), tooltest.ForeignID))
		keepsOptions(t, tool.Descriptor().Name, call, plan)
		in.Args = without(plan.Args)
		again := tool.Parse(in)
		if !maps.Equal(tooltest.Settings(again), tooltest.Settings(call)) {
			t.Fatalf("%s %q: settings %v, planned as %q: %v", tool.Descriptor().Name, args,
				call.Settings, plan.Args, again.Settings)
		}
		if again.Mode != rewrite.Fresh || again.Prompt != call.Prompt || again.Model != call.Model {
			t.Fatalf("%s %q: %q, planned as %q: %s %s %q, model %q", tool.Descriptor().Name, args,
				call.Prompt, plan.Args,
				again.Mode, again.Reason, again.Prompt, again.Model)
		}
		if tool.Descriptor().Name == "claude" {
			in.Args = tool.Plan(call, tooltest.Beginning(rewrite.ToFork(tooltest.SomeID,
				tooltest.SomeID, text, prompt.Continuity{}, reason.DeltaOff),
				tooltest.ForeignID)).Args
			if again := tool.Parse(in); again.Reason != reason.CallerSession ||
				again.Model != call.Model || !slices.Contains(in.Args, "--resume-session-at") {
				t.Fatalf("%q: %q, forked as %q: %s %s", args, call.Prompt, in.Args, again.Mode,
					again.Reason)
			}
		}
		plan = tool.Plan(call, tooltest.Beginning(rewrite.ToResume(tooltest.SomeID, text,
			prompt.Continuity{}, reason.DeltaOff), tooltest.ForeignID))
		keepsOptions(t, tool.Descriptor().Name, call, plan)
		in.Args = without(plan.Args)
		again = tool.Parse(in)
		// which leaves its session as it is
		named := again.SessionID == tooltest.SomeID ||
			slices.Contains(plan.Args, "--fork="+tooltest.SomeID)
		if again.Reason != reason.CallerSession || again.Model != call.Model || !named ||
			!maps.Equal(tooltest.Settings(again), tooltest.Settings(call)) {
			t.Fatalf("%s %q: %q, resumed as %q: %s %s", tool.Descriptor().Name, args, call.Prompt,
				plan.Args, again.Mode, again.Reason)
		}
		if !slices.ContainsFunc(plan.Args, func(arg string) bool {
			return arg == tooltest.SomeID || strings.HasSuffix(arg, "="+tooltest.SomeID)
		}) {
			t.Fatalf("%s %q: no session in %q", tool.Descriptor().Name, args, plan.Args)
		}
		// of several words, perhaps
		if sent := plan.Stdin; sent != text.Text && again.Prompt != text.Text &&
			!strings.Contains(strings.Join(plan.Args, " "), text.Text) {
			t.Fatalf("%s %q: %q is not sent in %q with stdin %q", tool.Descriptor().Name, args,
				text.Text, plan.Args, sent)
		}
	})
}

// keepsOptions looks whether a plan still has all that the caller wrote, in its order, but
// for his prompt and his format.
func keepsOptions(t *testing.T, tool string, call rewrite.CommandLine, plan rewrite.Plan) {
	t.Helper()
	if tool == "codex" {
		return // images are attached to their option: that its settings stay is looked at
	}
	spans := append(slices.Clone(call.PromptArgs), call.FormatArg)
	rest := plan.Args
	for i, arg := range call.Args {
		if slices.ContainsFunc(spans, func(s rewrite.Span) bool {
			return s.At <= i && i < s.At+s.N
		}) {
			continue
		}
		at := slices.Index(rest, arg)
		if at < 0 {
			t.Fatalf("%s %q: %q is lost in %q", tool, call.Args, arg, plan.Args)
		}
		rest = rest[at+1:]
	}
}

// Each format shows every text of the model, and all take the same text for the answer.
func FuzzAnswers(f *testing.F) {
	for _, text := range hostileAnswers {
		if len(text) <= 10_000 {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, run := range hostileRuns(strings.ToValidUTF8(text, "")) {
			run.check(t, strings.ToValidUTF8(text, ""))
		}
	})
}

// Any output of a tool is shown as it is where the caller's format is the tool's own; and an ID has
// the right form and stands in the output.
func FuzzStreams(f *testing.F) {
	for _, text := range hostileAnswers {
		if len(text) > 10_000 {
			continue
		}
		for _, run := range hostileRuns(text) {
			f.Add([]byte(run.stdout), []byte(run.stderr))
		}
	}
	f.Fuzz(func(t *testing.T, stdout, stderr []byte) {
		for _, tool := range all() {
			for _, format := range []rewrite.Format{rewrite.Text, rewrite.JSON, rewrite.JSONVerbose,
				rewrite.StreamJSON} {
				for _, resume := range []string{"", tooltest.SomeID} {
					plan := rewrite.Plan{Resume: resume, Prompt: "hi", Whole: true}
					s := tool.Stream(rewrite.CommandLine{Format: format, Mode: rewrite.Fresh}, plan,
						"")
					shown, shownErr := tooltest.Feed(s, stdout, stderr)
					seen := s.Seen()
					if id := seen.ID; id != "" &&
						(!tool.ValidID(id) || !bytes.Contains(slices.Concat(stdout, stderr),
							[]byte(id))) {
						t.Fatalf("%s %s: id %q", tool.Descriptor().Name, format, id)
					}
					if resume != "" && seen.ID != "" && seen.ID != resume && !seen.WrongID {
						t.Fatalf("%s %s: id %q, and not the wrong one", tool.Descriptor().Name,
							format, seen.ID)
					}
					rendered := format == rewrite.Text && s.MaxLine() != rewrite.NoLines
					if resume != "" || rendered {
						continue
					}
					if shown != string(stdout) || tool.Descriptor().Name != "codex" && shownErr !=
						string(stderr) {
						t.Fatalf("%s %s: %q is shown as %q, %q as %q", tool.Descriptor().Name,
							format, stdout, shown, stderr, shownErr)
					}
				}
			}
		}
	})
}

// Followed files never name a session of bad form, nor a session that is not in them, nor another
// session than the requested one; and a file that is put in place again changes nothing.
func FuzzFiles(f *testing.F) {
	for _, s := range []string{
		`{"type":"session_meta","payload":{"cli_version":"1","id":"` + tooltest.SomeID + `"}}`,
		`{"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":5},"last_token_usage":{"total_tokens":5},"model_context_window":9}}}`,
		`{"type":"token_usage_record","payload":{"turn_id":"a","turn_token_usage":{"input_tokens":-1}}}`,
		`{"session_id":"` + tooltest.SomeID +
			`","outcome":"finished","steps":1,"cost_usd":0.1,"usage":{"input_tokens":1}}`,
		`{"compaction_count":1,"last_reported_context_tokens":7}`, `{"cost_usd":"x"}`,
		`{"cost_usd":1e400}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, tool := range all() {
			for _, name := range []string{"rollout-x-" + tooltest.SomeID + ".jsonl", "export.json",
				"checkpoint.json"} {
				s := tool.Stream(rewrite.CommandLine{Format: rewrite.Text}, rewrite.Plan{}, "")
				s.ErrLine([]byte("--------\n"))
				s.ErrLine([]byte("session id: " + tooltest.SomeID + "\n"))
				known := s.Seen().ID
				s.File("x/"+name, data)
				once := *s.Seen()
				s.File("x/"+name, data)
				seen := s.Seen()
				if tool.Descriptor().Name == "vibe" && !reflect.DeepEqual(once, *seen) {
					t.Fatalf("%q twice: %+v, then %+v", data, once, *seen)
				}
				resumed := tool.Stream(rewrite.CommandLine{Format: rewrite.Text},
					rewrite.Plan{Resume: tooltest.ForeignID}, "")
				resumed.File("x/"+name, data)
				if got := resumed.Seen(); got.ID != "" && got.ID != tooltest.ForeignID &&
					!got.WrongID {
					t.Fatalf("%s: %q has id %q, and not the wrong one", tool.Descriptor().Name,
						data, got.ID)
				}
				if seen.ID != known && (!tool.ValidID(seen.ID) ||
					!bytes.Contains(data, []byte(seen.ID))) {
					t.Fatalf("%s: id %q of %q", tool.Descriptor().Name, seen.ID, data)
				}
				if seen.Totals != "" && !json.Valid([]byte(seen.Totals)) {
					t.Fatalf("%s: totals %q of %q", tool.Descriptor().Name, seen.Totals, data)
				}
			}
		}
	})
}
