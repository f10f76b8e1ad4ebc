package rewrite

import (
	"strings"
	"testing"
)

func TestStoresTurn(t *testing.T) {
	const id, other = "00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"
	user := func(content string) string {
		return `{"type":"user","message":{"role":"user","content":` + content + `}}`
	}
	says := func(id string) string {
		return `{"type":"assistant","uuid":"` + id +
			`","message":{"content":[]}}`
	}
	result := user(`[{"type":"tool_result","content":"x"}]`)
	for name, tt := range map[string]struct {
		lines []string
		want  bool
	}{
		"a turn": {[]string{user(`"hi"`), says(id)}, true},
		"records around it": {[]string{`{"type":"queue-operation"}`, user(`"hi"`), says(id),
			`{"type":"attachment"}`, `{"type":"cost-state"}`}, true},
		"a part of type text": {[]string{user(`[{"type":"text","text":"hi"}]`), says(id)},
			true},
		"tools between": {[]string{user(`"hi"`), says(other), result, says(id)}, true},
		"a reminder between": {[]string{user(`"hi"`),
			strings.Replace(user(`"x"`), `"type"`, `"isMeta":true,"type"`, 1), says(id)}, true},
		"a subagent's answer": {[]string{user(`"hi"`), says(id),
			strings.Replace(says(other), `"type"`, `"isSidechain":true,"type"`, 1)}, true},
		"no answer yet":             {[]string{user(`"hi"`)}, false},
		"the answer is another":     {[]string{user(`"hi"`), says(other)}, false},
		"something was said since":  {[]string{user(`"hi"`), says(id), says(other)}, false},
		"something was asked since": {[]string{user(`"hi"`), says(id), user(`"more"`)}, false},
		"answers something else": {[]string{user(`"hi"`), says(other),
			user(`"<task-notification>"`), says(id)}, false},
		"an image with it": {[]string{
			user(`[{"type":"text","text":"hi"},{"type":"image"}]`), says(id)}, false},
		"the message is not there": {[]string{says(id)}, false},
		"half a line":              {[]string{user(`"hi"`), says(id), `{"type":`}, false},
		"nothing":                  {nil, false},
	} {
		if got := StoresTurn([]byte(strings.Join(tt.lines, "\n")+"\n"), "hi", id); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if StoresTurn([]byte(user(`"hi"`)+"\n"+says("")+"\n"), "hi", "") {
		t.Error("an answer without an ID is taken for one")
	}
}
