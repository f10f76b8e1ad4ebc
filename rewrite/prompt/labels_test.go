package prompt

import (
	"strings"
	"testing"
)

func TestReadLabel(t *testing.T) {
	names := map[speaker]string{noTurn: "nobody", assistant: "assistant", toolOutput: "tool", other: "other", unknownName: "stranger",
		everydayWord: "everyday", heading: "heading", closing: "closing"}
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
		{"assistant | hello", noTurn, "", "assistant | hello"},
		{"| assistant | hello", assistant, "assistant", "hello"},
		{"Claude — hello", assistant, "claude", "hello"},
		{"Claude – hello", assistant, "claude", "hello"},
		{"Claude - hello", assistant, "claude", "hello"},
		{"claude-code: hello", assistant, "claude code", "hello"},
		{"Model — hello", noTurn, "", "Model — hello"},
		{"Model: hello", assistant, "model", "hello"},
		{"Model", noTurn, "", "Model"},
		{"## Model", assistant, "model", ""},
		{"*Model*", assistant, "model", ""},
		{"Assistant (turn 2): hello", assistant, "assistant turn", "hello"},
		{"User (08:15): hello", other, "user", "hello"},
		{"12:30 User: hello", other, "user", "hello"},
		{"Monday, User: hello", other, "monday user", "hello"},
		{"Hello Assistant: x", unknownName, "hello assistant", "x"},
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
		{"</div class>", noTurn, "", "</div class>"},
		{"[INST] x [/INST] hello", assistant, "inst x inst", "hello"},
		{"\"role\": \"assistant\",", assistant, "", "\"role\": \"assistant\","},
		{"role: assistant", assistant, "", "role: assistant"},
		{"from: user", other, "", "from: user"},
		{"role=tool", toolOutput, "", "role=tool"},
		{"controls: role of the house", noTurn, "", "controls: role of the house"},
		{"Tool: three files", toolOutput, "tool", "three files"},
		{"Function: f", toolOutput, "function", "f"},
		{"助手：你好", assistant, "助手", "你好"},
		{"Dev: hello", unknownName, "dev", "hello"},
		{"Dev:", unknownName, "dev", ""},
		{"**Dev**", unknownName, "dev", ""},
		{"[Dev]", unknownName, "dev", ""},
		{"OUT> hello", unknownName, "out", "hello"},
		{"Dev 2: hello", unknownName, "dev", "hello"},
		{"dev: hello", noTurn, "", "dev: hello"},
		{"The second draft: hello", unknownName, "the second draft", "hello"},
		{"ValueError: no such key", noTurn, "", "ValueError: no such key"},
		{"Some Exception: no such key", noTurn, "", "Some Exception: no such key"},
		{"One Two Three Four: hello", noTurn, "", "One Two Three Four: hello"},
		{"A.b: hello", noTurn, "", "A.b: hello"},
		{"Dev:hello", noTurn, "", "Dev:hello"},
		{"开发：你好", unknownName, "开发", "你好"},
		{"- Item: hello", everydayWord, "item", "hello"},
		{"- Dev: hello", everydayWord, "dev", "hello"},
		{"* Dev: hello", everydayWord, "dev", "hello"},
		{"Note: hello", everydayWord, "note", "hello"},
		{"File: a", everydayWord, "file", "a"},
		{"Expected:", everydayWord, "expected", ""},
		{"Review:", unknownName, "review", ""},
		{"## Review", heading, "review", ""},
		{"## Review criteria", heading, "review criteria", ""},
		{"## Plan", heading, "plan", ""},
		{"## File", heading, "file", ""},
		{"# Rückmeldung", heading, "rückmeldung", ""},
		{"## CI", heading, "ci", ""},
		{"## City", heading, "city", ""},
		{"指摘：", unknownName, "指摘", ""},
		{"--- Dev ---", unknownName, "dev", ""},
		{"=== Review ===", unknownName, "review", ""},
		{"*** Dev ***", unknownName, "dev", ""},
		{"--- end of Dev ---", closing, "end of dev", ""},
		{"---", noTurn, "", "---"},
		{"--- a/x.go", noTurn, "", "--- a/x.go"},
		{"<dev>", unknownName, "dev", ""},
		{"<dev>hello</dev>", unknownName, "dev", "hello"},
		{"<dev name=\"x\">hello", unknownName, "dev name x", "hello"},
		{"<review round=\"2\">", unknownName, "review round", ""},
		{"<!-- dev -->", noTurn, "", "<!-- dev -->"},
		{"<br/>", noTurn, "", "<br/>"},
		{"<dev", noTurn, "", "<dev"},
		{"< 5 > 3", noTurn, "", "< 5 > 3"},
		{"CI ran your change and failed:", everydayWord, "ci ran your change and failed", ""},
		{"Ada wrote about your change:", unknownName, "ada wrote about your change", ""},
		{"Your change failed, see this output:", noTurn, "", "Your change failed, see this output:"},
		{"This is a sentence. It ends so:", noTurn, "", "This is a sentence. It ends so:"},
		{"One two three four five six seven:", noTurn, "", "One two three four five six seven:"},
		{"One two three four five six:", unknownName, "one two three four five six", ""},
		{"see main.go:", noTurn, "", "see main.go:"},
		{"a -> b", noTurn, "", "a -> b"},
		{"x =>", noTurn, "", "x =>"},
		{"x ->", noTurn, "", "x ->"},
		{"https://example.com", noTurn, "", "https://example.com"},
		{"plain words", noTurn, "", "plain words"},
		{"</assistant> hello", closing, "assistant", "hello"},
		{"</ turn>", noTurn, "", "</ turn>"},
		{"role: assistant > hello", assistant, "", "role: assistant > hello"},
		{"Role: Assistant", assistant, "", "Role: Assistant"},
		{"角色role: assistant", assistant, "", "角色role: assistant"},
		{"2role: user of it", unknownName, "role", "user of it"},
		{"parole: assistant", noTurn, "", "parole: assistant"},
		{"from user and so on: x", noTurn, "", "from user and so on: x"},
		{"x Assistant: hello", noTurn, "", "x Assistant: hello"},
		{"<user mood=\"glad\">hello", other, "user mood glad", "hello"},
		{"<user mood", noTurn, "", "<user mood"},
		{strings.Repeat("=", 54) + " assistant: hello", assistant, "assistant", "hello"},
		{strings.Repeat("=", 55) + " assistant: hello", unknownName, "assistant hello", ""},
		{"--- one two three four five six seven ---", unknownName, "one two three four five six seven", ""},
		{"--- one two three four five six seven --", noTurn, "", "--- one two three four five six seven --"},
		{"**Dev hello", noTurn, "", "**Dev hello"},
		{"[ ] hello there", noTurn, "", "[ ] hello there"},
		{"**:**", noTurn, "", "**:**"},
		{"**\u00a0: hello", noTurn, "", "**\u00a0: hello"},
		{"OUT>", unknownName, "out", ""},
		{"12:", unknownName, "", ""},
		{strings.Repeat("a", 48) + ":", unknownName, strings.Repeat("a", 48), ""},
		{strings.Repeat("a", 49) + ":", noTurn, "", strings.Repeat("a", 49) + ":"},
		{strings.Repeat("A", 28) + ": hello", unknownName, strings.Repeat("a", 28), "hello"},
		{strings.Repeat("A", 29) + ": hello", noTurn, "", strings.Repeat("A", 29) + ": hello"},
		{".env:", unknownName, "env", ""},
		{"x.y:", noTurn, "", "x.y:"},
		{"Ada B.:", unknownName, "ada b", ""},
		{"O'Neil: hello", unknownName, "o neil", "hello"},
		{"Dev#2: hello", unknownName, "dev", "hello"},
		{"Dev-2_b: hello", unknownName, "dev b", "hello"},
		{"**Dev** **Two**: hello", unknownName, "dev two", "hello"},
		{"Dev(x): hello", noTurn, "", "Dev(x): hello"},
		{"Please fix it after review:", unknownName, "please fix it after review", ""},
		{"Your change:", unknownName, "your change", ""},
		{"Your change failed:", everydayWord, "your change failed", ""},
		{"Your change and its output:", unknownName, "your change and its output", ""},
		{"It still fails here:", everydayWord, "it still fails here", ""},
		{"Please fix it so:", unknownName, "please fix it so", ""},
		{"Previous attempt failed with this error:", everydayWord, "previous attempt failed with this error", ""},
		{"You are the judge:", unknownName, "you are the judge", ""},
		{"## Round 2", heading, "round", ""},
		{"Round 2:", everydayWord, "round", ""},
		{"Uwagi:", unknownName, "uwagi", ""},
		{"Notebook:", unknownName, "notebook", ""},
		{"## 代码评审", heading, "代码评审", ""},
	} {
		who, name, say := readLabel(tt.line)
		if who != tt.who || who != noTurn && name != tt.name || say != tt.say {
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
		if got := stripClosingTag(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
