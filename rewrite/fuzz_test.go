package rewrite

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
)

func FuzzParseCommander(f *testing.F) {
	for _, s := range []string{"-p\nhi", "-p\n--model\nx\n--allowed-tools\na\nb\n--\n-c", "--model=x\n-r\n-d\nx", "--add-dir=a\nb", "--resume", "--model"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		args := strings.Split(line, "\n")
		p := parseCommander(args, claudeOptions)
		if p.unknown != "" || p.bad {
			return // read up to there only, and never managed
		}
		seen := make([]int, len(args))
		at := -1
		for _, o := range p.options {
			if o.span.n < 1 || o.span.at <= at {
				t.Fatalf("%q: option %v at %v", args, o.Names, o.span)
			}
			at = o.span.at
			name, _, _ := strings.Cut(args[at], "=")
			if !slices.Contains(o.Names, name) && !slices.Contains(o.Names, args[at][:2]) {
				t.Fatalf("%q is read as %v", args[at], o.Names)
			}
			for i := range o.span.n {
				seen[at+i]++
			}
			if taken := args[at+1 : at+o.span.n]; len(taken) > 0 && !slices.Equal(o.values, taken) {
				t.Fatalf("%q: %v takes %q, and stands on %q", args, o.Names, o.values, taken)
			}
		}
		for _, o := range p.operands {
			seen[o.at]++
		}
		end := slices.Index(args, "--")
		for i, n := range seen {
			if n == 0 && args[i] == "--" { // the sign that ends the options
				end = i
				break
			}
		}
		for i, n := range seen {
			if want := 1; n != want && !(n == 0 && i == end) {
				t.Fatalf("%q: argument %d counts %d times", args, i, n)
			}
		}
	})
}

func FuzzJSONLine(f *testing.F) {
	for _, s := range []string{`{"a": 1, "b": {"c": 2.5e0}, "d": [3]}`, `{"a":1}`, `{"a":1,"a":2,"x":{"a":-0}}`, `{ "b" : 1 , "a" : 9 , "c" : 2 }`, `[1]`, `{"a"`, "{\"a\":1\n,\"b\":2}", `{"\u0061":1}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		valid := json.Valid(line)
		numbers := jsonNumbers(line)
		at := 0
		for _, n := range numbers {
			if n.start < at || n.end > len(line) || string(line[n.start:n.end]) != n.text {
				t.Fatalf("%q: number %+v", line, n)
			}
			at = n.end
		}
		if !valid {
			return
		}
		totals := encodeTotals(numbers, func(string) bool { return true })
		got := subtractTotals(bytes.Clone(line), numbers, totals)
		if !json.Valid(got) {
			t.Fatalf("%q becomes %q", line, got)
		}
		if !bytes.Equal(got, line) && !bytes.Equal(stripNumbers(got), stripNumbers(line)) {
			t.Fatalf("%q becomes %q: more than numbers", line, got)
		}
		cut := removeKey(bytes.Clone(line), "a")
		if !json.Valid(cut) {
			t.Fatalf("%q without a is %q", line, cut)
		}
		var before, after map[string]json.RawMessage
		if json.Unmarshal(line, &before) != nil || json.Unmarshal(cut, &after) != nil {
			return
		}
		for key, value := range before {
			if left, ok := after[key]; key != "a" && (!ok || !bytes.Equal(left, value)) {
				t.Fatalf("%q without a is %q: %s is lost", line, cut, key)
			}
		}
	})
}

// stripNumbers puts 0 for every number that stands outside arrays.
func stripNumbers(line []byte) []byte {
	var out []byte
	at := 0
	for _, n := range jsonNumbers(line) {
		out = append(append(out, line[at:n.start]...), '0')
		at = n.end
	}
	return append(out, line[at:]...)
}

func FuzzParseHelp(f *testing.F) {
	f.Add("  -p, --print  Print\n      --model <m>  M\n  -r, --resume [v]\n  --tools <t...>\n")
	f.Add("  --a, --b=<x>\n")
	f.Fuzz(func(t *testing.T, help string) {
		for _, o := range parseHelp(help) {
			for i, name := range o.Names {
				if !strings.HasPrefix(name, "-") || len(name) < 2 || strings.ContainsAny(name, " =,<[") || i == 0 && !strings.HasPrefix(name, "--") {
					t.Fatalf("%q: %q", help, o.Names)
				}
				if !strings.Contains(help, name) {
					t.Fatalf("%q does not list %q", help, name)
				}
			}
		}
	})
}

// A command line that is managed is read as before behind what a plan adds to it, and
// a resume in it is seen as one, of that session.
func FuzzPlans(f *testing.F) {
	for _, s := range []string{"-p\nhi", "exec\nhi\n--json", "e\n-m\nx\n-", "-p\nhi\n-o\njson", "--prompt=hi\n-y", "-p\n--\nhi", "hi\n--output\njson",
		"-p\n--model=x\n--verbose\n--output-format=json\nhi", "exec\n-i\na.png\n--\nhi", "-phi", "-p\nhi\n--trust", "-p\n-x"} {
		for tool := range tools {
			f.Add(byte(tool), s)
		}
	}
	f.Fuzz(func(t *testing.T, which byte, line string) {
		tool := tools[int(which)%len(tools)]
		args := strings.Split(line, "\n")
		in := Invocation{Args: args, Env: func(string) string { return "" }}
		call := tool.Parse(in)
		if call.Mode != Fresh {
			return
		}
		text := prompt.New(tool.EffectivePrompt(call, ""), toolKey)
		if text.Text == "" {
			return
		}
		without := func(args []string) []string { // a caller's own call with such options is not managed
			return slices.DeleteFunc(slices.Clone(args), func(arg string) bool {
				return arg == "--output-dir" || strings.Contains(arg, Scratch) || arg == "--session-id" || arg == foreignID || arg == "--session-id="+foreignID
			})
		}
		plan := tool.Plan(call, ToFresh(text.Text).Beginning(foreignID))
		keepsOptions(t, call, plan)
		in.Args = without(plan.Args)
		again := tool.Parse(in)
		if !maps.Equal(settings(again), settings(call)) {
			t.Fatalf("%s %q: settings %v, planned as %q: %v", tool.Descriptor().Name, args, call.Settings, plan.Args, again.Settings)
		}
		if again.Mode != Fresh || again.Prompt != call.Prompt || again.Model != call.Model {
			t.Fatalf("%s %q: %q, planned as %q: %s %s %q, model %q", tool.Descriptor().Name, args, call.Prompt, plan.Args,
				again.Mode, again.Reason, again.Prompt, again.Model)
		}
		if tool.Descriptor().Name == "claude" {
			in.Args = tool.Plan(call, ToFork(someID, someID, text, prompt.Continuity{}, true).Beginning(foreignID)).Args
			if again := tool.Parse(in); again.Reason != reason.CallerSession || again.Model != call.Model || !slices.Contains(in.Args, "--resume-session-at") {
				t.Fatalf("%q: %q, forked as %q: %s %s", args, call.Prompt, in.Args, again.Mode, again.Reason)
			}
		}
		plan = tool.Plan(call, ToResume(someID, text, prompt.Continuity{}, true).Beginning(foreignID))
		keepsOptions(t, call, plan)
		in.Args = without(plan.Args)
		again = tool.Parse(in)
		if again.Reason != reason.CallerSession || again.Model != call.Model || again.SessionID != someID || !maps.Equal(settings(again), settings(call)) {
			t.Fatalf("%s %q: %q, resumed as %q: %s %s", tool.Descriptor().Name, args, call.Prompt, plan.Args, again.Mode, again.Reason)
		}
		at := slices.Index(plan.Args, someID)
		if at < 0 && !slices.Contains(plan.Args, "--resume="+someID) {
			t.Fatalf("%s %q: no session in %q", tool.Descriptor().Name, args, plan.Args)
		}
		if sent := plan.Stdin; sent != text.Text && !slices.Contains(plan.Args, text.Text) &&
			!slices.Contains(plan.Args, "--prompt="+text.Text) {
			t.Fatalf("%s %q: %q is not sent in %q with stdin %q", tool.Descriptor().Name, args, text.Text, plan.Args, sent)
		}
	})
}

// settings are a call's, by name: codex takes an option with two values for the same as
// two options.
func settings(c Call) map[string]string {
	values := map[string]string{}
	for _, s := range c.Settings {
		values[s.Name] += "\x00" + s.Value
	}
	return values
}

// keepsOptions looks whether a plan still has all that the caller wrote, in its order, but
// for his prompt and his format.
func keepsOptions(t *testing.T, call Call, plan Plan) {
	t.Helper()
	if call.Tool == "codex" {
		return // images are attached to their option: that its settings stay is looked at
	}
	spans := append(slices.Clone(call.promptArgs), call.formatArg)
	if call.promptArg >= 0 {
		spans = append(spans, argSpan{call.promptArg, 1})
	}
	rest := plan.Args
	for i, arg := range call.Args {
		if slices.ContainsFunc(spans, func(s argSpan) bool { return s.at <= i && i < s.at+s.n }) {
			continue
		}
		at := slices.Index(rest, arg)
		if at < 0 {
			t.Fatalf("%s %q: %q is lost in %q", call.Tool, call.Args, arg, plan.Args)
		}
		rest = rest[at+1:]
	}
}

// Whatever the model says, each format shows it, and all take the same for the answer.
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

// Whatever a tool prints, it is shown as it is where the caller's format is the tool's
// own; and an id is one of the right form that stands there.
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
		for _, tool := range tools {
			for _, format := range []Format{Text, JSON, JSONVerbose, StreamJSON} {
				for _, resume := range []string{"", someID} {
					plan := Plan{Resume: resume, Prompt: "hi", Whole: true}
					s := tool.Stream(Call{Format: format, Mode: Fresh}, plan, "")
					shown, shownErr := codexRun(s, stdout, stderr)
					seen := s.Seen()
					if id := seen.ID; id != "" && (!tool.ValidID(id) || !bytes.Contains(slices.Concat(stdout, stderr), []byte(id))) {
						t.Fatalf("%s %s: id %q", tool.Descriptor().Name, format, id)
					}
					if resume != "" && seen.ID != "" && seen.ID != resume && !seen.WrongID {
						t.Fatalf("%s %s: id %q, and not the wrong one", tool.Descriptor().Name, format, seen.ID)
					}
					rendered := format == Text && tool.Descriptor().Name == "droid"
					if resume != "" || rendered {
						continue
					}
					if shown != string(stdout) || tool.Descriptor().Name != "codex" && shownErr != string(stderr) {
						t.Fatalf("%s %s: %q is shown as %q, %q as %q", tool.Descriptor().Name, format, stdout, shown, stderr, shownErr)
					}
				}
			}
		}
	})
}

// The session of a transcript is the one that its header names, whatever prompt,
// model and tools say behind that; and the whole transcript is shown.
func FuzzBanner(f *testing.F) {
	f.Add("hi", "codex\nhello\ntokens used\n1,234\n")
	f.Add("--------\nsession id: "+foreignID+"\n--------", "exec\nls\nERROR: x\n")
	f.Add("a\nuser\nb", "user\n--------\nsession id: "+foreignID+"\n--------\n")
	f.Fuzz(func(t *testing.T, prompt, behind string) {
		s := codex{}.Stream(Call{Format: Text, Mode: Fresh}, Plan{Prompt: prompt, Whole: true}, "")
		transcript := "OpenAI Codex\n--------\nmodel: m\nsession id: " + someID + "\n--------\nuser\n" + prompt + "\n" + behind
		_, shown := codexRun(s, nil, []byte(transcript))
		if s.Seen().ID != someID || s.Seen().WrongID {
			t.Fatalf("id %q of %q", s.Seen().ID, transcript)
		}
		// A heading that nothing follows is held back until the end.
		if rest, ok := strings.CutPrefix(transcript, shown); !ok || strings.Count(rest, "\n") > 1 {
			t.Fatalf("%q is shown as %q", transcript, shown)
		}
	})
}

// What followed files hold never names a session of bad form, nor one that is not
// in it, nor another than the one that was to be gone on with; and a file that is put in
// place again changes nothing.
func FuzzFiles(f *testing.F) {
	for _, s := range []string{
		`{"type":"session_meta","payload":{"cli_version":"1","id":"` + someID + `"}}`,
		`{"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":5},"last_token_usage":{"total_tokens":5},"model_context_window":9}}}`,
		`{"type":"token_usage_record","payload":{"turn_id":"a","turn_token_usage":{"input_tokens":-1}}}`,
		`{"session_id":"` + someID + `","outcome":"finished","steps":1,"cost_usd":0.1,"usage":{"input_tokens":1}}`,
		`{"compaction_count":1,"last_reported_context_tokens":7}`, `{"cost_usd":"x"}`, `{"cost_usd":1e400}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, tool := range tools {
			for _, name := range []string{"rollout-x-" + someID + ".jsonl", vibeExport, vibeCheckpoint} {
				s := tool.Stream(Call{Format: Text}, Plan{}, "")
				s.ErrLine([]byte("--------\n"))
				s.ErrLine([]byte("session id: " + someID + "\n"))
				known := s.Seen().ID
				s.File("x/"+name, data)
				once := *s.Seen()
				s.File("x/"+name, data)
				seen := s.Seen()
				if tool.Descriptor().Name == "vibe" && !reflect.DeepEqual(once, *seen) {
					t.Fatalf("%q twice: %+v, then %+v", data, once, *seen)
				}
				resumed := tool.Stream(Call{Format: Text}, Plan{Resume: foreignID}, "")
				resumed.File("x/"+name, data)
				if got := resumed.Seen(); got.ID != "" && got.ID != foreignID && !got.WrongID {
					t.Fatalf("%s: %q has id %q, and not the wrong one", tool.Descriptor().Name, data, got.ID)
				}
				if seen.ID != known && (!tool.ValidID(seen.ID) || !bytes.Contains(data, []byte(seen.ID))) {
					t.Fatalf("%s: id %q of %q", tool.Descriptor().Name, seen.ID, data)
				}
				if seen.Totals != "" && !json.Valid([]byte(seen.Totals)) {
					t.Fatalf("%s: totals %q of %q", tool.Descriptor().Name, seen.Totals, data)
				}
			}
		}
	})
}

// Whatever claude prints and stores, a text or a fresh json caller is shown it as it is, the session is the one that
// the command line names, and a text run is over only if its answer was shown.
func FuzzClaudeFile(f *testing.F) {
	at := strings.NewReplacer("TIME", "2026-11-23T01:49:40.606Z")
	for _, entry := range []string{says("yes"), said(usesTool, ""), said("", `,"isApiErrorMessage":true`), `{"type":"cost-state","totalCostUSD":1}`,
		`{"type":"system","subtype":"compact_boundary","timestamp":"TIME"}`, `{"type":"user","timestamp":"TIME"}`, "[" + claudeEnds + "]"} {
		f.Add([]byte("yes\r\n"), []byte(at.Replace(entry)), []byte(at.Replace(says("yes"))))
		f.Add([]byte(claudeEnds), []byte(at.Replace(entry)), []byte{})
	}
	f.Fuzz(func(t *testing.T, stdout, one, other []byte) {
		plan := Plan{NewID: someID, Started: 1}
		for _, format := range []Format{Text, JSON, JSONVerbose} {
			s := claude{}.Stream(Call{Format: format, Own: claudeOwn{maxTurns: "1"}}, plan, "")
			s.File("x", one)
			shown, _ := codexRun(s, stdout, nil)
			s.File("x", other)
			shown += string(s.End())
			seen := s.Seen()
			if shown != string(stdout) {
				t.Fatalf("%s: %q is shown as %q", format, stdout, shown)
			}
			if format != Text {
				continue
			}
			if seen.ID != "" && seen.ID != someID || seen.WrongID {
				t.Fatalf("id %q, wrong %v", seen.ID, seen.WrongID)
			}
			lines := strings.NewReplacer("\r\n", "\n")
			if seen.Final && (len(stdout) == 0 || !strings.Contains(lines.Replace(shown), lines.Replace(strings.TrimSpace(seen.Answer)))) {
				t.Fatalf("%q is over with the answer %q", stdout, seen.Answer)
			}
		}
	})
}
