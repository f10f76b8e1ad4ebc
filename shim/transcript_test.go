package shim

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A turn of a conversation: the user's, the assistant's, or the result of a tool.
type chatTurn struct{ who, text string }

const chatRules = "You look after the machines of a small print shop in Lund. Answer what you " +
	"are asked, and say so when you do not know.\n\n"

// render writes turns as lines, each under its name.
func render(turns []chatTurn, name func(chatTurn) string, between string) string {
	var all []string
	for _, t := range turns {
		all = append(all, name(t))
	}
	return strings.Join(all, between)
}

// messages writes turns as messages in JSON.
func messages(turns []chatTurn, indent string) string {
	list := []map[string]string{}
	for _, t := range turns {
		list = append(list, map[string]string{"role": t.who, "content": t.text})
	}
	data, _ := json.MarshalIndent(list, "", indent)
	if indent == "" {
		data, _ = json.Marshal(list)
	}
	return string(data)
}

func lastAndRest(turns []chatTurn) (history []chatTurn, newest string) {
	return turns[:len(turns)-1], turns[len(turns)-1].text
}

func named(t chatTurn) string {
	name := map[string]string{"user": "User", "assistant": "Assistant", "tool": "Tool"}[t.who]
	return name + ": " + t.text
}

// The ways in which callers show a conversation.
var chatForms = map[string]func(turns []chatTurn) string{
	"names": func(turns []chatTurn) string { return chatRules + render(turns, named, "\n\n") },
	"names on lines that follow": func(turns []chatTurn) string {
		return chatRules + "Conversation:\n" + render(turns, named, "\n")
	},
	"names in lower case over fences": func(turns []chatTurn) string {
		return chatRules + render(turns,
			func(t chatTurn) string { return t.who + ":\n```\n" + t.text + "\n```" }, "\n\n")
	},
	"names before fences": func(turns []chatTurn) string {
		return chatRules + render(turns,
			func(t chatTurn) string { return "**" + t.who + ":** ```text\n" + t.text + "\n```" },
			"\n\n")
	},
	"names over quotation marks": func(turns []chatTurn) string {
		return chatRules + render(turns,
			func(t chatTurn) string { return t.who + ":\n\"\"\"\n" + t.text + "\n\"\"\"" }, "\n\n")
	},
	"lines across the page": func(turns []chatTurn) string { return chatRules + render(turns, named, "\n\n---\n\n") },
	"headings": func(turns []chatTurn) string {
		return chatRules + render(turns,
			func(t chatTurn) string { return "## " + t.who + "\n\n" + t.text }, "\n\n")
	},
	"tags": func(turns []chatTurn) string {
		return chatRules + render(turns,
			func(t chatTurn) string { return "<" + t.who + ">\n" + t.text + "\n</" + t.who + ">" },
			"\n\n")
	},
	"accounts": func(turns []chatTurn) string {
		names := map[string]string{"user": "@ada.berg", "assistant": "@opsy", "tool": "Tool"}
		return chatRules + "Thread 17\n" +
			render(turns, func(t chatTurn) string { return names[t.who] + ": " + t.text }, "\n")
	},
	"messages on one line": func(turns []chatTurn) string { return chatRules + messages(turns, "") },
	"messages indented": func(turns []chatTurn) string {
		return chatRules + "Messages:\n" + messages(turns, "  ") + "\n\nAnswer the last one."
	},
	"messages in a fence": func(turns []chatTurn) string {
		return chatRules + "```json\n" + messages(turns, "  ") + "\n```\n\nAnswer the last one."
	},
	"messages behind a name": func(turns []chatTurn) string { return chatRules + "Messages: " + messages(turns, "") + "\nAnswer." },
	"messages in a tag":      func(turns []chatTurn) string { return chatRules + "<messages>" + messages(turns, "") + "</messages>" },
	"messages a line each": func(turns []chatTurn) string {
		return chatRules + render(turns, func(t chatTurn) string {
			m := messages([]chatTurn{t}, "")
			return m[1 : len(m)-1]
		}, "\n")
	},
	"messages and the newest apart": func(turns []chatTurn) string {
		history, newest := lastAndRest(turns)
		if len(history) == 0 {
			return "Current user message: " + newest
		}
		return "Conversation history:\n" + messages(history, "  ") + "\n\nCurrent user message: " +
			newest
	},
	"names and the newest apart": func(turns []chatTurn) string {
		history, newest := lastAndRest(turns)
		before := "(none)"
		if len(history) > 0 {
			before = render(history, named, "\n")
		}
		return chatRules + "Conversation so far:\n" + before + "\n\nNew message:\n" + newest
	},
	"headings and the newest apart": func(turns []chatTurn) string {
		history, newest := lastAndRest(turns)
		before := ""
		if len(history) > 0 {
			before = "## History\n\n" + render(history, named, "\n\n") + "\n\n"
		}
		return chatRules + before + "## Message\n\n" + newest
	},
	"the first message alone": func(turns []chatTurn) string {
		if len(turns) == 1 {
			return turns[0].text
		}
		return render(turns, named, "\n\n")
	},
	"thoughts and actions": func(turns []chatTurn) string {
		return chatRules + render(turns, func(t chatTurn) string {
			switch t.who {
			case "user":
				return "Observation: " + t.text
			case "tool":
				return "Observation (ls): " + t.text
			}
			return t.text
		}, "\n")
	},
	"questions and answers": func(turns []chatTurn) string {
		return chatRules + render(turns, func(t chatTurn) string {
			switch t.who {
			case "user":
				return "ANSWER: " + t.text
			case "tool":
				return "TOOL: " + t.text
			}
			return t.text
		}, "\n")
	},
}

// chatAnswers are two answers of several lines, as a form has them.
func chatAnswers(form string) (first, second string) {
	first = "The folder sticks because the rollers are worn.\n\n- Change both of them.\n- Clean " +
		"the feeder:\n    blow it out\n        then wipe it\n\nDo you have spare ones?"
	second = "Then take the old rollers of the other folder.\n\nThey have the same width."
	switch form {
	case "thoughts and actions":
		return "Thought: I have to see the log of the folder.\nAction: read[folder.log]",
			"Thought: the rollers are worn.\nAction: order[rollers, 2]"
	case "questions and answers":
		return "QUESTION: Which of the two folders sticks?", "QUESTION: Since when does it stick?"
	}
	return first, second
}

// A conversation goes on in every form that callers show it in, and never if an earlier part is
// another.
func TestConversations(t *testing.T) {
	for form, show := range chatForms {
		first, second := chatAnswers(form)
		turns := []chatTurn{{"user", "The folder of the big press sticks.\n\nWhat can it be?"},
			{"assistant", first}, {"user", "No, none."},
			{"assistant", second},
			{"user", "That works, thank you. And how often should I do that from now on?"}}
		play := func(name string, want bool, third []chatTurn) {
			t.Helper()
			s := sequence{Name: form + ", " + name, Calls: []sequenceCall{{Prompt: show(turns[:1]),
				Answer: first, Caller: []byte(`""`)},
				{Prompt: show(turns[:3]), Answer: second, Caller: []byte(`""`)},
				{Prompt: show(third), Caller: []byte(`""`)}}}
			d := s.decisions(t)
			if !d[1].Mode.Continues() || d[2].Mode.Continues() != want ||
				want && d[2].session != d[1].session {
				t.Errorf("%s: %s (%s), %s (%s), want %v\n%s\n\n%s", s.Name, d[1].Mode, d[1].Reason,
					d[2].Mode, d[2].Reason, want, s.Calls[1].Prompt, s.Calls[2].Prompt)
			}
		}
		change := func(edit func([]chatTurn) []chatTurn) []chatTurn {
			return edit(slices.Clone(turns))
		}
		play("goes on", true, turns)
		for at := range 4 {
			play(fmt.Sprintf("turn %d edited", at+1), false, change(func(c []chatTurn) []chatTurn {
				c[at].text = strings.Replace(c[at].text, " ", " not ", 1)
				return c
			}))
			play(fmt.Sprintf("turn %d missing", at+1), false,
				change(func(c []chatTurn) []chatTurn { return slices.Delete(c, at, at+1) }))
			play(fmt.Sprintf("an invented result before turn %d", at+1), false,
				change(func(c []chatTurn) []chatTurn {
					return slices.Insert(c, at, chatTurn{"tool", "permission denied"})
				}))
			play(fmt.Sprintf("an invented answer before turn %d", at+1), false,
				change(func(c []chatTurn) []chatTurn {
					return slices.Insert(c, at,
						chatTurn{"assistant", strings.Replace(first, "the", "that", 1)})
				}))
		}
		play("answers exchanged", false, change(func(c []chatTurn) []chatTurn {
			c[1], c[3] = c[3], c[1]
			return c
		}))
		play("rounds exchanged", false, change(func(c []chatTurn) []chatTurn {
			c[0], c[1], c[2], c[3] = c[2], c[3], c[0], c[1]
			return c
		}))
		play("an answer cut", false, change(func(c []chatTurn) []chatTurn {
			c[3].text = c[3].text[:len(c[3].text)-3]
			return c
		}))
		play("an answer with more", false, change(func(c []chatTurn) []chatTurn {
			c[3].text += "\n\nAnd nothing else."
			return c
		}))
	}
}
