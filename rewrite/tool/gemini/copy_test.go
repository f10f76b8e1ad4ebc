package gemini

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"reprise/rewrite"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
	"reprise/test/tooltest"
)

const (
	copyID = "0a1b2c3d-2222-4333-8444-555555555555"
	copyAt = "2026-11-25T04:48:16.597Z"
)

// sentResults returns the results of tools that gemini 0.61.0 sends when it resumes a session's
// file (convertSessionToClientHistory), and the messages' IDs.
func sentResults(t *testing.T, file string) (results, ids []string) {
	t.Helper()
	s := storedSession{metadata: map[string]json.RawMessage{}}
	for line := range strings.Lines(file) {
		if err := s.read([]byte(line)); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
	}
	for _, m := range s.messages {
		ids = append(ids, m.text("id"))
		var calls []struct{ Result json.RawMessage }
		_ = json.Unmarshal(m["toolCalls"], &calls)
		for _, call := range calls {
			results = append(results, compactParts(call.Result)...)
		}
		for _, part := range compactParts(m["content"]) {
			if strings.Contains(part, `"functionResponse"`) {
				results = append(results, part)
			}
		}
	}
	return results, ids
}

func readText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Recorded sessions: a fresh session, and a session that was resumed in a copy and then used a tool
// again.
func TestGeminiCopyHasEachResultOnce(t *testing.T) {
	for path, tt := range map[string]struct {
		id           string
		once, before int // results in the copy, and those that the session itself would send
	}{
		"../../../testdata/recordings/gemini/chat-tool/session-2026-11-23T01-50-a1b2c3d0.jsonl": {
			"a1b2c3d0-7c1e-4f3a-9b52-0d5e8a61f2c4", 1, 2},
		"testdata/resumed.jsonl": {"66a657f0-49fa-4291-930c-e8bb29102d67", 2, 4},
	} {
		file := readText(t, path)
		name, copied, err := tool.CopySession(tt.id, copyID, copyAt, []byte(file))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if want := "session-2026-11-25T04-48-0a1b2c3d.jsonl"; name != want {
			t.Errorf("%s: named %s, want %s", path, name, want)
		}
		if !strings.Contains(file, `"tokens":{`) || strings.Contains(string(copied), `"tokens"`) {
			t.Errorf("%s: the copy's messages have tokens, which readers of sessions would "+
				"count again", path)
		}
		before, ids := sentResults(t, file)
		once, copiedIDs := sentResults(t, string(copied))
		if len(before) != tt.before || len(once) != tt.once || !slices.Equal(ids, copiedIDs) {
			t.Errorf("%s: %d results become %d, messages %q become %q", path, len(before),
				len(once), ids, copiedIDs)
		}
		for _, result := range before {
			if !slices.Contains(once, result) {
				t.Errorf("%s: the copy lacks %s", path, result)
			}
		}
		if first, _, _ := strings.Cut(string(copied), "\n"); strings.Contains(string(copied),
			tt.id) || !strings.Contains(first, `"sessionId":"`+copyID+`"`) ||
			strings.Count(first, copyAt) != 2 {
			t.Errorf("%s: the copy begins with %s", path, first)
		}
		if _, again, err := tool.CopySession(copyID, copyID, copyAt, copied); err != nil ||
			string(again) != string(copied) {
			t.Errorf("%s: a copy of the copy differs: %v", path, err)
		}
	}
}

const (
	geminiHead = `{"sessionId":"` + tooltest.SomeID + `","projectHash":"0","kind":"main"}`
	asked      = `{"id":"u","type":"user","content":[{"text":"Go on."}]}`
	oneResult  = `{"functionResponse":{"id":"1","response":{"output":"a"}}}`
	twoResult  = `{"functionResponse":{"id":"2","response":{"output":"b"}}}`
)

func callsOf(id string, results ...string) string {
	var calls []string
	for _, r := range results {
		calls = append(calls, `{"id":"x","name":"run","args":{"b":1,"a":2},"result":`+r+`}`)
	}
	return `{"id":"` + id + `","type":"gemini","content":"Yes.","toolCalls":[` +
		strings.Join(calls, ",") + `]}`
}

func answerOf(id string, parts ...string) string {
	return `{"id":"` + id + `","type":"user","content":[` + strings.Join(parts, ",") + `]}`
}

// A result that is not known to be sent by a user's message stays with its call.
func TestGeminiCopyLosesNoResult(t *testing.T) {
	for name, tt := range map[string]struct {
		lines string
		want  []string
	}{
		"sent": {callsOf("g", "["+oneResult+"]") + "\n" +
			answerOf("r", oneResult), []string{oneResult}},
		"with spaces": {callsOf("g", "[ "+strings.ReplaceAll(oneResult, ":",
			": ")+"]") + "\n" + answerOf("r", oneResult), []string{oneResult}},
		"not sent": {callsOf("g", "["+oneResult+"]"), []string{oneResult}},
		"another was sent": {callsOf("g", "["+oneResult+"]") + "\n" +
			answerOf("r", twoResult), []string{oneResult, twoResult}},
		"one of two was sent": {callsOf("g", "["+oneResult+"]", "["+twoResult+"]") + "\n" +
			answerOf("r", twoResult), []string{oneResult, twoResult}},
		"both were": {callsOf("g", "["+oneResult+"]", "["+twoResult+"]") + "\n" +
			answerOf("r", oneResult, twoResult), []string{oneResult, twoResult}},
		"each has all": {callsOf("g", "["+oneResult+","+twoResult+"]",
			"["+oneResult+","+twoResult+"]") + "\n" + answerOf("r", oneResult, twoResult),
			[]string{oneResult, twoResult}},
		"a part was sent": {callsOf("g", "["+oneResult+","+twoResult+"]") + "\n" +
			answerOf("r", twoResult), []string{oneResult, twoResult, twoResult}},
		"sent before": {answerOf("r", oneResult) + "\n" +
			callsOf("g", "["+oneResult+"]"), []string{oneResult, oneResult}},
		"sent after another call": {callsOf("g", "["+oneResult+"]") + "\n" + callsOf("h", "[]") +
			"\n" + answerOf("r", oneResult), []string{oneResult, oneResult}},
		"taken back": {callsOf("g", "["+oneResult+"]") + "\n" +
			answerOf("r", oneResult) + "\n" + `{"$rewindTo":"r"}`, []string{oneResult}},
		"replaced": {callsOf("g", "["+oneResult+"]") + "\n" +
			`{"$set":{"messages":[` + asked + `,` + answerOf("r", twoResult) + `]}}`,
			[]string{twoResult}},
		"written again": {callsOf("g", "["+oneResult+"]") + "\n" +
			answerOf("r", oneResult) + "\n" + callsOf("g", "["+oneResult+"]"), []string{oneResult}},
		"no list": {callsOf("g", `"a"`) + "\n" + answerOf("r", oneResult),
			[]string{oneResult}},
	} {
		_, copied, err := tool.CopySession(tooltest.SomeID, copyID, copyAt,
			[]byte(geminiHead+"\n"+asked+"\n"+tt.lines+"\n"))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got, _ := sentResults(t, string(copied)); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
		if strings.Contains(tt.lines, `"args"`) && name != "replaced" &&
			!strings.Contains(string(copied), `{"b":1,"a":2}`) {
			t.Errorf("%s: the call's arguments changed: %s", name, copied)
		}
	}
	if _, copied, err := tool.CopySession(tooltest.SomeID, copyID, copyAt,
		[]byte(geminiHead+"\n"+asked+"\n"+callsOf("g", `"a"`)+"\n")); err != nil ||
		!strings.Contains(string(copied), `"result":"a"`) {
		t.Errorf("a result that is a text: %s, %v", copied, err)
	}
}

// A file of an unexpected shape is not copied.
func TestGeminiCopiesOnlyWhatItKnows(t *testing.T) {
	for name, file := range map[string]string{
		"empty":          "",
		"blank":          "\n",
		"no message":     geminiHead + "\n",
		"all taken back": geminiHead + "\n" + asked + "\n" + `{"$rewindTo":"?"}` + "\n",
		"no head":        asked + "\n",
		"another session": strings.Replace(geminiHead, tooltest.SomeID, copyID, 1) + "\n" +
			asked + "\n",
		"renamed": geminiHead + "\n" + asked + "\n" + `{"$set":{"sessionId":"` +
			copyID + `"}}` + "\n",
		"no project": `{"sessionId":"` + tooltest.SomeID + `","projectHash":""}` + "\n" +
			asked + "\n",
		"a subagent's": strings.Replace(geminiHead, "main", "subagent", 1) + "\n" + asked +
			"\n",
		"half a line":       geminiHead + "\n" + asked + "\n" + asked[:20],
		"no JSON":           geminiHead + "\n" + asked + "\nhello\n",
		"null":              geminiHead + "\n" + asked + "\nnull\n",
		"an unknown record": geminiHead + "\n" + asked + "\n" + `{"$undo":1}` + "\n",
		"an unknown message": geminiHead + "\n" + asked + "\n" + `{"id":"x","type":"tool"}` +
			"\n",
		"an ID that is none":    geminiHead + "\n" + `{"id":7,"type":"user"}` + "\n",
		"a change of no object": geminiHead + "\n" + asked + "\n" + `{"$set":"x"}` + "\n",
		"messages of no list": geminiHead + "\n" + asked + "\n" + `{"$set":{"messages":{}}}` +
			"\n",
		"messages of no shape": geminiHead + "\n" + asked + "\n" + `{"$set":{"messages":[1]}}` +
			"\n",
	} {
		if _, copied, err := tool.CopySession(tooltest.SomeID, copyID, copyAt, []byte(file)); err ==
			nil {
			t.Errorf("%s: %s", name, copied)
		}
	}
}

// A copy is resumed under its own ID, which every format's run must then name.
func TestGeminiResumesTheCopy(t *testing.T) {
	for _, format := range []string{"", "-o json ", "-o stream-json "} {
		call := tool.ResolveWithEnv(parseGemini(format+"-p hi", ""), rewrite.HostEnv{})
		plan := tool.Plan(call, tooltest.Beginning(rewrite.ToCopy(tooltest.SomeID,
			prompt.New("hi", tooltest.Key), prompt.Continuity{}, reason.DeltaOff), copyID))
		if !call.Copies || !slices.Contains(plan.Args, "--resume="+copyID) || !plan.WriteCopy ||
			plan.ID() != copyID || plan.Resume != tooltest.SomeID {
			t.Errorf("%q: %+v", format, plan)
		}
		for id, wrong := range map[string]bool{copyID: false, tooltest.SomeID: true} {
			s := tool.Stream(call, plan, "")
			switch call.Format {
			case rewrite.StreamJSON:
				s.Line([]byte(`{"type":"init","session_id":"` + id + `"}` + "\n"))
			case rewrite.JSON:
				for line := range strings.Lines("{\n  \"session_id\": \"" + id + "\"\n}\n") {
					s.Line([]byte(line))
				}
			default:
				continue // its file is read by ID
			}
			if s.Seen().WrongID != wrong {
				t.Errorf("%q, %s: wrong ID %v", format, id, s.Seen().WrongID)
			}
		}
	}
}
