package rewrite

import (
	"strings"
	"testing"
)

func TestReadLabel(t *testing.T) {
	names := map[speaker]string{nobody: "nobody", assistant: "assistant", toolOutput: "tool", other: "other", stranger: "stranger",
		feedback: "feedback", everyday: "everyday", heading: "heading", closing: "closing"}
	for _, tt := range []struct {
		line      string
		who       speaker
		name, say string
	}{
		{"Assistant: hello", assistant, "assistant", "hello"},
		{"assistant:", assistant, "assistant", ""},
		{"**Assistant:** hello", assistant, "assistant", "hello"},
		{"**User**: hello", other, "user", "hello"},
		{"__User__: hello", other, "user", "hello"},
		{"## assistant", assistant, "assistant", ""},
		{"### Claude's reply", assistant, "claude s reply", ""},
		{"[08:15] assistant> hello", assistant, "assistant", "hello"},
		{"[assistant] hello", assistant, "assistant", "hello"},
		{"assistant | hello", nobody, "", "assistant | hello"},
		{"| assistant | hello", assistant, "assistant", "hello"},
		{"Claude — hello", assistant, "claude", "hello"},
		{"Claude – hello", assistant, "claude", "hello"},
		{"Claude - hello", assistant, "claude", "hello"},
		{"claude-code: hello", assistant, "claude code", "hello"},
		{"Model — hello", nobody, "", "Model — hello"},
		{"Model: hello", assistant, "model", "hello"},
		{"Model", nobody, "", "Model"},
		{"## Model", assistant, "model", ""},
		{"*Model*", assistant, "model", ""},
		{"Assistant (turn 2): hello", assistant, "assistant turn", "hello"},
		{"User (08:15): hello", other, "user", "hello"},
		{"12:30 User: hello", other, "user", "hello"},
		{"Monday, User: hello", other, "monday user", "hello"},
		{"Hello Assistant: x", stranger, "hello assistant", "x"},
		{"User assistant: x", other, "user assistant", "x"},
		{"User 12:30: hi", other, "user", "hi"},
		{"User 2: hi", other, "user", "hi"},
		{"User:30 is", other, "user", "30 is"},
		{"<assistant>", assistant, "assistant", ""},
		{"<assistant>hello</assistant>", assistant, "assistant", "hello"},
		{"<user id=\"1\">hello", other, "user id", "hello"},
		{"<turn speaker=\"assistant\">hello</turn>", assistant, "turn speaker assistant", "hello"},
		{"<|im_start|>assistant", assistant, "im start assistant", ""},
		{"</assistant>", closing, "assistant", ""},
		{"</turn>", closing, "turn", ""},
		{"</div class>", nobody, "", "</div class>"},
		{"[INST] x [/INST] hello", assistant, "inst x inst", "hello"},
		{"\"role\": \"assistant\",", assistant, "", "\"role\": \"assistant\","},
		{"role: assistant", assistant, "", "role: assistant"},
		{"from: user", other, "", "from: user"},
		{"role=tool", toolOutput, "", "role=tool"},
		{"controls: role of the house", nobody, "", "controls: role of the house"},
		{"Tool: three files", toolOutput, "tool", "three files"},
		{"Function: f", toolOutput, "function", "f"},
		{"助手：你好", assistant, "助手", "你好"},
		{"Dev: hello", stranger, "dev", "hello"},
		{"Dev:", stranger, "dev", ""},
		{"**Dev**", stranger, "dev", ""},
		{"[Dev]", stranger, "dev", ""},
		{"OUT> hello", stranger, "out", "hello"},
		{"Dev 2: hello", stranger, "dev", "hello"},
		{"dev: hello", nobody, "", "dev: hello"},
		{"The second draft: hello", stranger, "the second draft", "hello"},
		{"ValueError: no such key", nobody, "", "ValueError: no such key"},
		{"Some Exception: no such key", nobody, "", "Some Exception: no such key"},
		{"One Two Three Four: hello", nobody, "", "One Two Three Four: hello"},
		{"A.b: hello", nobody, "", "A.b: hello"},
		{"Dev:hello", nobody, "", "Dev:hello"},
		{"开发：你好", stranger, "开发", "你好"},
		{"- Item: hello", everyday, "item", "hello"},
		{"- Dev: hello", everyday, "dev", "hello"},
		{"* Dev: hello", everyday, "dev", "hello"},
		{"Note: hello", feedback, "note", "hello"},
		{"File: a", everyday, "file", "a"},
		{"Expected:", everyday, "expected", ""},
		{"Review:", feedback, "review", ""},
		{"## Review", feedback, "review", ""},
		{"## Review criteria", heading, "review criteria", ""},
		{"## Plan", heading, "plan", ""},
		{"## File", heading, "file", ""},
		{"# Rückmeldung", feedback, "rückmeldung", ""},
		{"## CI", feedback, "ci", ""},
		{"## City", heading, "city", ""},
		{"指摘：", feedback, "指摘", ""},
		{"--- Dev ---", stranger, "dev", ""},
		{"=== Review ===", feedback, "review", ""},
		{"*** Dev ***", stranger, "dev", ""},
		{"--- end of Dev ---", closing, "end of dev", ""},
		{"---", nobody, "", "---"},
		{"--- a/x.go", nobody, "", "--- a/x.go"},
		{"<dev>", stranger, "dev", ""},
		{"<dev>hello</dev>", stranger, "dev", "hello"},
		{"<dev name=\"x\">hello", stranger, "dev name x", "hello"},
		{"<review round=\"2\">", feedback, "review round", ""},
		{"<!-- dev -->", nobody, "", "<!-- dev -->"},
		{"<br/>", nobody, "", "<br/>"},
		{"<dev", nobody, "", "<dev"},
		{"< 5 > 3", nobody, "", "< 5 > 3"},
		{"CI ran your change and failed:", everyday, "ci ran your change and failed", ""},
		{"Ada wrote about your change:", stranger, "ada wrote about your change", ""},
		{"Your change failed, see this output:", nobody, "", "Your change failed, see this output:"},
		{"This is a sentence. It ends so:", nobody, "", "This is a sentence. It ends so:"},
		{"One two three four five six seven:", nobody, "", "One two three four five six seven:"},
		{"One two three four five six:", stranger, "one two three four five six", ""},
		{"see main.go:", nobody, "", "see main.go:"},
		{"a -> b", nobody, "", "a -> b"},
		{"x =>", nobody, "", "x =>"},
		{"x ->", nobody, "", "x ->"},
		{"https://example.com", nobody, "", "https://example.com"},
		{"plain words", nobody, "", "plain words"},
		{"</assistant> hello", closing, "assistant", "hello"},
		{"</ turn>", nobody, "", "</ turn>"},
		{"role: assistant > hello", assistant, "", "role: assistant > hello"},
		{"Role: Assistant", assistant, "", "Role: Assistant"},
		{"角色role: assistant", assistant, "", "角色role: assistant"},
		{"2role: user of it", stranger, "role", "user of it"},
		{"parole: assistant", nobody, "", "parole: assistant"},
		{"from user and so on: x", nobody, "", "from user and so on: x"},
		{"x Assistant: hello", nobody, "", "x Assistant: hello"},
		{"<user mood=\"glad\">hello", other, "user mood glad", "hello"},
		{"<user mood", nobody, "", "<user mood"},
		{strings.Repeat("=", 54) + " assistant: hello", assistant, "assistant", "hello"},
		{strings.Repeat("=", 55) + " assistant: hello", stranger, "assistant hello", ""},
		{"--- one two three four five six seven ---", stranger, "one two three four five six seven", ""},
		{"--- one two three four five six seven --", nobody, "", "--- one two three four five six seven --"},
		{"**Dev hello", nobody, "", "**Dev hello"},
		{"[ ] hello there", nobody, "", "[ ] hello there"},
		{"**:**", nobody, "", "**:**"},
		{"**\u00a0: hello", nobody, "", "**\u00a0: hello"},
		{"OUT>", stranger, "out", ""},
		{"12:", stranger, "", ""},
		{strings.Repeat("a", 48) + ":", stranger, strings.Repeat("a", 48), ""},
		{strings.Repeat("a", 49) + ":", nobody, "", strings.Repeat("a", 49) + ":"},
		{strings.Repeat("A", 28) + ": hello", stranger, strings.Repeat("a", 28), "hello"},
		{strings.Repeat("A", 29) + ": hello", nobody, "", strings.Repeat("A", 29) + ": hello"},
		{".env:", stranger, "env", ""},
		{"x.y:", nobody, "", "x.y:"},
		{"Ada B.:", stranger, "ada b", ""},
		{"O'Neil: hello", stranger, "o neil", "hello"},
		{"Dev#2: hello", stranger, "dev", "hello"},
		{"Dev-2_b: hello", stranger, "dev b", "hello"},
		{"**Dev** **Two**: hello", stranger, "dev two", "hello"},
		{"Dev(x): hello", nobody, "", "Dev(x): hello"},
		{"Please fix it after review:", feedback, "please fix it after review", ""},
		{"Your change:", stranger, "your change", ""},
		{"Your change failed:", everyday, "your change failed", ""},
		{"Your change and its output:", stranger, "your change and its output", ""},
		{"It still fails here:", everyday, "it still fails here", ""},
		{"Please fix it so:", everyday, "please fix it so", ""},
		{"You are the judge:", stranger, "you are the judge", ""},
		{"## Round 2", feedback, "round", ""},
		{"Round 2:", everyday, "round", ""},
		{"Uwagi:", feedback, "uwagi", ""},
		{"Notebook:", stranger, "notebook", ""},
		{"## 代码评审", feedback, "代码评审", ""},
	} {
		who, name, say := readLabel(tt.line)
		if who != tt.who || who != nobody && name != tt.name || say != tt.say {
			t.Errorf("{%q, %s, %q, %q}, want %s, %q, %q", tt.line, names[who], name, say, names[tt.who], tt.name, tt.say)
		}
	}
}

func TestQuestionsAndAnswers(t *testing.T) {
	for line, want := range map[string]string{"Q: one": "q one", "A: one": "a one", "Q1: one": "q one", "**Q1.** one": "q one", "A2) one": "a one", "> A. one": "a one",
		"Q:one": "q one", "Q one": " ", "Apple: one": " ", "Q": " ", "": " ", "B: one": " "} {
		if letter, rest := questionOrAnswer(line); letter+" "+rest != want {
			t.Errorf("%q: %q %q, want %q", line, letter, rest, want)
		}
	}
}

func TestWithoutClosingTag(t *testing.T) {
	for text, want := range map[string]string{"a<|im_end|>": "a", "a <|eot_id|>": "a", "a<end_of_turn>": "a", "a</s>": "a", "a</turn>": "a", "a</b> c": "a</b> c",
		"a</x y>": "a</x y>", "a</>": "a</>", "a <b>c</b>": "a <b>c", "a": "a", "</turn>": ""} {
		if got := withoutClosingTag(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
