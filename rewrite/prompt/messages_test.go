package prompt

import (
	"fmt"
	"strings"
	"testing"

	"reprise/rewrite/reason"
)

func TestReadMessages(t *testing.T) {
	var many strings.Builder
	for range maxHistories {
		many.WriteString("{\"a\": 1}\n")
	}
	plain := strings.Repeat("word\n", maxHistories+1)
	const one = `{"role": "user", "content": "hi"}`
	for _, tt := range []struct{ name, prompt, want string }{
		{"an array", `[{"role":"user","content":"hi"},{"role":"assistant","content":"yo"}]`,
			"user/hi|assistant/yo"},
		{"pretty printed", "Go.\n\n[\n  {\n    \"role\": \"user\",\n    \"content\": \"hi\"\n  " +
			"}\n]\n\nEnd.", "=Go.|user/hi|=End."},
		{"in a line's middle", "History: " + one, "=History: |user/hi"},
		{"in a tag", "<history>[" + one + "]</history>\n\nEnd.",
			"=<history>|user/hi|=</history>|=End."},
		{"within a sentence", "Read " + one, "=Read " + one},
		{"behind a long text", strings.Repeat("word ", 10) + ": " + one,
			"=" + strings.Repeat("word ", 10) + ": " + one},
		{"in a fence", "Go.\n\n```json\n[" + one + "]\n```\n\nEnd.\n\n```\nx\n\ny\n```",
			"=Go.|=```json\n|user/hi|=```|=End.|=```\nx\n\ny\n```"},
		{"with the result of a tool",
			`[{"role": "user", "content": [{"type": "tool_result", "content": "3"}]}]`, "user/"},
		{"indented", "Go.\n  " + one + "\nEnd.", "=Go.|user/hi|=End."},
		{"JSON lines", one + "\n{\"role\": \"model\", \"text\": \"yo\"}\nEnd.",
			"user/hi|model/yo|=End."},
		{"an object that holds them", `{"id": 7, "messages": [` + one + `]}`, `={"id":7}|user/hi`},
		{"history", `{"history": [` + one + `]}`, `={}|user/hi`},
		{"an empty list beside another", `{"messages": [], "history": [` + one + `]}`,
			`={"messages":[]}|user/hi`},
		{"the first of two lists", `{"messages": [` + one + `], "history": [7]}`,
			`={"history":[7]}|user/hi`},
		{"a message with a list", `{"role": "user", "content": "hi", "messages": [` + one + `]}`,
			"user/hi"},
		{"an object with none", `{"messages": [], "id": 7}`, `={"messages": [], "id": 7}`},
		{"an object that holds something else", `{"messages": 7}`, `={"messages": 7}`},
		{"text parts",
			`[{"role": "user", "content": [{"type": "text", "text": "hi"}, {"type": "image"}, {"text": "there"}]}]`, "user/hi/there"},
		{"parts of gemini", `{"role": "model", "parts": [{"text": "hi"}]}`, "model/hi"},
		{"no parts", `{"role": "user", "content": []}`, `={"role": "user", "content": []}`},
		{"another name", `{"speaker": "Dev", "body": "hi"}`, "?Dev/hi"},
		{"a tool's", `{"role": "tool", "content": "3"}`, "tool/3"},
		{"who is no text", `{"role": 7, "content": "hi"}`, `={"role": 7, "content": "hi"}`},
		{"no content", `{"role": "user", "id": "x"}`, `={"role": "user", "id": "x"}`},
		{"one element is none", `[` + one + `, 7]`, "=[" + one + ", 7]"},
		{"the first element is none", `[7, ` + one + `]`, "=[7, " + one + "]"},
		{"space at the end", "Go.\n" + one + "\n \t", "=Go.|user/hi"},
		{"behind many lines", plain + one, "=" + strings.TrimSuffix(plain, "\n") + "|user/hi"},
		{"an empty array", `[] {"a": 1}`, `=[] {"a": 1}`},
		{"broken", `[{"role": "user", "content": "hi"}`, `=[{"role": "user", "content": "hi"}`},
		{"no JSON", `{"a": b}`, `={"a": b}`},
		{"space before the colon", `{"role" : "user", "content" : "hi"}`, "user/hi"},
		{"behind as many others as are tried", many.String() + one, "=" + many.String() + one},
		{"behind fewer", many.String()[len("{\"a\": 1}\n"):] + one,
			"=" + strings.TrimSuffix(many.String()[len("{\"a\": 1}\n"):], "\n") + "|user/hi"},
	} {
		p := New(tt.prompt, testKey)
		var got []string
		for _, b := range p.blocks {
			if b.message == nil {
				got = append(got, "="+b.text)
				continue
			}
			text := strings.ReplaceAll(b.message.text, "\n", "/")
			if b.message.speaker == unknownName {
				text = "?" + text
			}
			got = append(got, text)
		}
		if text := strings.Join(got, "|"); text != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, text, tt.want)
		}
	}
}

// No run is known to have made a tool's call, or to have given the result, that a message has.
func TestToolsInMessages(t *testing.T) {
	const question = `{"role": "user", "content": "one"}`
	const answer = "The totals are computed when an item is added, and the tests pass."
	const said = `{"role": "assistant", "content": "%s"}`
	for _, parts := range []string{
		`{"role": "assistant", "content": "%s", "tool_calls": []}`,
		`{"role": "assistant", "content": "%s", "function_call": {"name": "ls"}}`,
		`{"role": "assistant", "content": [{"type": "text", "text": "%s"}, {"type": "tool_use"}]}`,
		`{"role": "model", "parts": [{"text": "%s"}, {"functionCall": {"name": "ls"}}]}`,
		said + `, {"role": "tool", "content": "3"}`,
		said + `, {"role": "function", "content": "3"}`,
		said + `, {"role": "user", "content": [{"type": "tool_result"}]}`,
		said + `, {"role": "user", "parts": [{"functionResponse": {"name": "ls"}}]}`,
		said + `, {"role": "user", "type": "tool_output", "content": "3"}`,
	} {
		for _, lines := range []bool{false, true} {
			list := "[" + question + ", " + fmt.Sprintf(parts, answer) +
				`, {"role": "user", "content": "two"}]`
			first := "Answer as JSON.\n\n[" + question + "]"
			if lines {
				list = strings.ReplaceAll(strings.Trim(list, "[]"), "}, {\"role", "}\n{\"role")
				first = strings.NewReplacer("[", "", "]", "").Replace(first)
			}
			c := compare(first, "Answer as JSON.\n\n"+list, answer)
			if c.Relation != reason.HistoryEdited || c.Evidence.Transcript {
				t.Errorf("%s: %s, transcript %t", list, c.Relation, c.Evidence.Transcript)
			}
		}
	}
	c := compare("Answer as JSON.\n\n["+question+"]", "Answer as JSON.\n\n["+question+", "+
		fmt.Sprintf(said, "first")+`, {"role": "user", "content": "is \"tool_use\" right?"}]`,
		"first")
	if c.Relation != reason.Extends || !c.Evidence.Transcript {
		t.Errorf("a text about tools: %s", c.Relation)
	}
}

// A conversation in JSON goes on although its frame and layout change.
func TestMessagesGoOn(t *testing.T) {
	turn := func(role, text string) string {
		return fmt.Sprintf(`{"role": %q, "content": %q}`, role, text)
	}
	first := "Answer as JSON.\n\n[" + turn("user", "one") + "]"
	for name, tt := range map[string]struct {
		second string
		want   reason.Code
	}{
		"on one line": {"Answer as JSON.\n\n[" + turn("user", "one") + ", " +
			turn("assistant", "first") + ", " + turn("user", "two") + "]", reason.Extends},
		"on a line each": {"Answer as JSON.\n\n[\n" + turn("user", "one") + ",\n" +
			turn("assistant", "first") + ",\n" + turn("user", "two") + "\n]", reason.Extends},
		"another answer": {"Answer as JSON.\n\n[" + turn("user", "one") + ", " +
			turn("assistant", "other") + ", " + turn("user", "two") + "]", reason.HistoryEdited},
		"another question": {"Answer as JSON.\n\n[" + turn("user", "One") + ", " +
			turn("assistant", "first") + ", " + turn("user", "two") + "]", reason.HistoryEdited},
		"a result invented": {"Answer as JSON.\n\n[" + turn("user", "one") +
			`, {"role": "user", "content": [{"type": "tool_result", "content": "3"}]}, ` +
			turn("assistant", "first") + ", " + turn("user", "two") + "]", reason.HistoryEdited},
		"a result behind": {"Answer as JSON.\n\n[" + turn("user", "one") + ", " +
			turn("assistant", "first") + `, {"role": "tool", "content": "3"}, ` +
			turn("user", "two") + "]", reason.HistoryEdited},
		"a part invented": {"Answer as JSON.\n\n[" + turn("user", "one") +
			`, {"role": "assistant", "content": [{"type": "text", "text": "first"}, ` +
			`{"type": "thinking", "thinking": "zero"}]}, ` + turn("user", "two") + "]",
			reason.HistoryEdited},
		"in a part": {"Answer as JSON.\n\n[" + turn("user", "one") +
			`, {"role": "assistant", "content": [{"type": "text", "text": "first"}]}, ` +
			turn("user", "two") + "]", reason.Extends},
		"an answer invented": {"Answer as JSON.\n\n[" + turn("user", "one") + ", " +
			turn("assistant", "first") + ", " + turn("assistant", "more") + ", " +
			turn("user", "two") + "]", reason.HistoryEdited},
	} {
		c := compare(first, tt.second, "first")
		if c.Relation != tt.want || tt.want == reason.Extends && c.Evidence.Shown != "" {
			t.Errorf("%s: %s (%s), want %s", name, c.Relation, c.Evidence.Shown, tt.want)
		}
	}
}
