package prompt

import (
	"fmt"
	"strings"
	"testing"

	"reprise/rewrite/reason"
)

// The answers of a session that a prompt shows decide how the two relate. second is the prompt
// that follows first, or the text behind first in it where it begins with a newline. want says
// the relation, "shown" where the prompt counts as a conversation, "proven" where it shows every
// answer unchanged and a new turn, "answer" where it shows the newest one and that is long,
// "foreign" where it adds another's turn or answer, and what a resume is sent where that is not the
// whole prompt.
func TestHistories(t *testing.T) {
	const long = "The totals are computed when an item is added to the cart.\n    begin it\n    " +
		"    add one\nThe cart is kept in the session."
	const two = "Be kind.\n\nUser: one\n\nAssistant: first\n\nUser: two"
	const cart, page = "The totals are computed when an item is added to the cart.",
		"The cart is kept in the session, and the page is drawn from it."
	const tags = "Be kind.\n\n<user>\none\n</user>\n\n<assistant>\nfirst\n</assistant>\n\n<user>\ntwo\n</user>"
	for _, tt := range []struct {
		name, first, second string
		answers             []string
		want                string
	}{
		{"goes on", "Be kind.\n\nUser: one", "\n\nAssistant: first\n\nUser: two", []string{"first"},
			"extends shown proven <User: two>"},
		{"in mail quotes", "Be kind.\n\nUser: one", "\n\n> Assistant: first\n\nUser: two",
			[]string{"first"}, "extends shown proven <User: two>"},
		{"quoted lines", "Be kind.\n\nUser: one", "\n\n> Assistant: first\n> second\n\nUser: two",
			[]string{"first\nsecond"}, "extends shown proven <User: two>"},
		{"half quoted", "Be kind.\n\nUser: one", "\n\n> Assistant: first\nsecond\n\nUser: two",
			[]string{"first\nsecond"}, "extends shown proven <User: two>"},
		{"indented otherwise", "Be kind.\n\nUser: one",
			"\n\nAssistant:\n" + strings.Replace(long, "        add", "    add", 1) +
				"\n\nUser: two", []string{long}, "history_edited shown foreign"},
		{"indented as a whole", "Be kind.\n\nUser: one",
			"\n\nAssistant:\n  " + strings.ReplaceAll(long, "\n", "\n  ") + "\n\nUser: two",
			[]string{long}, "extends shown proven answer <User: two>"},
		{"a distinctive answer under no name", "Be kind.\n\nBuild it.",
			"\n\n" + long + "\n\nPlease fix it.", []string{long}, "extends answer"},
		{"a short answer under no name", "Be kind.\n\nBuild it.", "\n\nfirst\n\nPlease fix it.",
			[]string{"first"}, "extends"},
		{"39 bytes under no name", "Be kind.\n\nBuild it.",
			"\n\n" + strings.Repeat("a", 39) + "\n\nPlease fix it.",
			[]string{strings.Repeat("a", 39)}, "extends"},
		{"40 bytes under no name", "Be kind.\n\nBuild it.",
			"\n\n" + strings.Repeat("a", 40) + "\n\nPlease fix it.",
			[]string{strings.Repeat("a", 40)}, "extends answer"},
		{"most of it", "Be kind.\n\nBuild it.", "\n\n" + strings.Join(strings.Split(long, "\n")[:3],
			"\n") + "\n\nPlease fix it.", []string{long}, "extends"},
		{"half of it", "Be kind.\n\nBuild it.", "\n\n" + strings.Join(strings.Split(long, "\n")[:2],
			"\n") + "\n\nPlease fix it.", []string{long}, "extends"},
		{"most of it under a name", "Be kind.\n\nBuild it.",
			"\n\nReport: The totals are computed when an item is added to the cart.\nThe cart " +
				"is kept in the session.\nPlease fix it.",
			[]string{"The totals are computed when an item is added to the cart.\nThe cart is " +
				"kept in the session.\nSo."}, "extends"},
		{"under a heading", "Be kind.\n\nBuild it.",
			"\n\n## Your report\n\nfirst\n\n## Review\n\nPlease fix it.", []string{"first"},
			"extends"},
		{"under a heading with more", "Be kind.\n\nBuild it.",
			"\n\n## Your report\n\nfirst\n\nmore\n\n## Review\n\nPlease fix it.", []string{"first"},
			"extends foreign"},
		{"under a heading up to a name", "Be kind.\n\nBuild it.",
			"\n\n## Your report\n\nfirst\n\nUser: Please fix it.", []string{"first"},
			"extends shown proven"},
		{"under a label for notes", "Be kind.\n\nBuild it.",
			"\n\nReview:\nfirst\n\n## Next\n\nPlease fix it.", []string{"first"}, "extends"},
		{"rules between", "Be kind.\n\nUser: one",
			"\n\n---\n\nAssistant: first\n\n---\n\nUser: two", []string{"first"},
			"extends shown proven <User: two>"},
		{"a rule behind the answer", "Be kind.\n\nUser: one",
			"\n\nAssistant: first\n\n---\n\nUser: two", []string{"first"},
			"extends shown proven <User: two>"},
		{"the name below its words", "Be kind.\n\n--- user ---\n\none",
			"Be kind.\n\none\n\n--- user ---\n\n--- assistant ---\n\nfirst\n\n--- user ---\n\ntwo",
			[]string{"first"}, "history_edited shown"},
		{"nothing behind it", "Be kind.\n\nUser: one", "\n\nAssistant: first", []string{"first"},
			"extends shown"},
		{"a cue behind it", "Be kind.\n\nUser: one",
			"\n\nAssistant: first\n\nUser: two\n\nAssistant:", []string{"first"},
			"extends shown proven <User: two\n\nAssistant:>"},
		{"the cue before it", "Be kind.\n\nUser: one\n\nAssistant:", "\n\nfirst\n\nUser: two",
			[]string{"first"}, "extends shown proven <User: two>"},
		{"another one behind the cue", "Be kind.\n\nUser: one\n\nAssistant:",
			"\n\nsecond\n\nUser: two", []string{"first"}, "history_edited shown foreign"},
		{"another one behind the cue, and nothing more", "Be kind.\n\nUser: one\n\nAssistant:",
			"\n\nsecond", []string{"first"}, "history_edited shown"},
		{"the name again behind the cue", "Be kind.\n\nUser: one\n\nAssistant:",
			"\n\nAssistant: first\n\nUser: two", []string{"first"},
			"extends shown proven <User: two>"},
		{"a cue for another one", "Meet.\n\nAda: one\n\nBob:", "\n\nfirst\n\nAda:",
			[]string{"first"}, "history_edited shown"},
		{"a cue for the same one", "Meet.\n\nAda: one\n\nBob:",
			"\n\nfirst\n\nAda: two\n\nBob:", []string{"first"}, "extends shown"},
		{"text before the cue", "Be kind.\n\nUser: one\n\nAssistant:",
			"Be kind.\n\nUser: one\n\nAnd quickly.\n\nAssistant:", []string{"first"}, "extends"},
		{"the assistant again", "Be kind.\n\nUser: one",
			"\n\nAssistant: first\n\nAssistant: more\n\nUser: two", []string{"first"},
			"history_edited shown"},
		{"a tool before it", "Be kind.\n\nUser: one",
			"\n\nTool: three files\n\nAssistant: first\n\nUser: two", []string{"first"},
			"history_edited shown"},
		{"a tool behind it", "Be kind.\n\nUser: one",
			"\n\nAssistant: first\n\nTool: three files\n\nUser: two", []string{"first"},
			"history_edited shown"},
		{"text before it", "Be kind.\n\nUser: one",
			"\n\nAnd quickly.\n\nAssistant: first\n\nUser: two", []string{"first"},
			"history_edited shown"},
		{"a stranger behind it", "Be kind.\n\nUser: one", "\n\nAssistant: first\n\nAda: two",
			[]string{"first"}, "extends shown foreign"},
		{"a known stranger", "Be kind.\n\nAda: one", "\n\nBob: first\n\nAda: two",
			[]string{"first"}, "extends shown proven"},
		{"a stranger between", "Be kind.\n\nAda: one", "\n\nEve: hm\n\nBob: first\n\nAda: two",
			[]string{"first"}, "history_edited shown"},
		{"in the wrong mouth", "Be kind.\n\nBob: hello\n\nAda: one", "\n\nBob: first\n\nAda: two",
			[]string{"first"}, "extends shown"},
		{"the same name goes on", "Be kind.\n\nAda: one", "\n\nBob: first\n\nBob: two",
			[]string{"first"}, "extends"},
		{"questions and answers", "Be kind.\n\nQ: one", "\n\nA: first\n\nQ: two", []string{"first"},
			"extends shown proven <Q: two>"},
		{"an answer without a question", "Be kind.\n\nBuild it.", "\n\nA: first\n\nPlease fix it.",
			[]string{"first"}, "extends"},
		{"tags", "Be kind.\n\n<ada>one</ada>", "\n\n<bob>first</bob>\n\n<ada>two</ada>",
			[]string{"first"}, "extends shown proven"},
		{"tags on lines", "Be kind.\n\n<ada>\none\n</ada>",
			"\n\n<bob>\nfirst\n</bob>\n\n<ada>\ntwo\n</ada>", []string{"first"},
			"extends shown proven"},
		{"three turns", two, "\n\nAssistant: second\n\nUser: three", []string{"first", "second"},
			"extends shown proven <User: three>"},
		{"three turns, the first answer edited", two[:len(two)-9] + "\n\nUser: two",
			"\n\nAssistant: second\n\nUser: three", []string{"other", "second"},
			"history_edited shown foreign"},
		{"the same answer twice", two, "\n\nAssistant: first\n\nUser: three",
			[]string{"first", "first"}, "extends shown proven <User: three>"},
		{"another name for the answer", two, "\n\nBob: second\n\nUser: three",
			[]string{"first", "second"}, "extends shown proven"},
		{"an aside below the turn", "Be kind.\n\nUser: one",
			"\n\nAssistant: first\n\nUser: two\n\nSummarize the talk.", []string{"first"},
			"extends shown proven <User: two\n\nSummarize the talk.>"},
		{"a request within the turn", "Be kind.\n\nUser: one",
			"\n\nAssistant: first\n\nUser: two\nSummarize the talk.", []string{"first"},
			"extends shown proven <User: two\nSummarize the talk.>"},
		{"a way below the turn", "Be kind.\n\nUser: one",
			"\n\nAssistant: first\n\nUser: two\n\nUse a mutex.", []string{"first"},
			"extends shown proven <User: two\n\nUse a mutex.>"},
		{"indented as a whole, with lines alike", "Be kind.\n\nUser: one",
			"\n\nAssistant:\n  do\n  more\n    and more\n\nUser: two",
			[]string{"do\nmore\n  and more"}, "extends shown proven <User: two>"},
		{"indented from its first line on", "Be kind.\n\nUser: one",
			"\n\nAssistant:\n  do\nmore\n\nUser: two", []string{"  do\nmore"},
			"extends shown proven <User: two>"},
		{"an empty answer", "Be kind.\n\nUser: one", "\n\nUser: two", []string{""},
			"extends foreign"},
		{"no answer", two, "\n\nUser: three", nil, "history_edited shown foreign"},
		{"names in its lines", "Be kind.\n\nUser: one",
			"\n\nAssistant: first\nPath: a\n\nUser: two", []string{"first\nPath: a"},
			"extends shown proven <User: two>"},
		{"a name in its first line", "Be kind.\n\nUser: one",
			"\n\nAssistant:\nPath: a\nmore\n\nUser: two", []string{"Path: a\nmore"},
			"extends shown proven <User: two>"},
		{"chat markup on a line", "Be kind.\n\n<|im_start|>user\none<|im_end|>",
			"\n\n<|im_start|>assistant\nfirst<|im_end|>\n\n<|im_start|>user\ntwo<|im_end|>",
			[]string{"first"},
			"extends shown proven <<|im_start|>user\ntwo<|im_end|>>"},
		{"a heading within the turn", "Be kind.\n\nUser: one",
			"\n\nAssistant: first\n\n## Details\n\nmore\n\nUser: two", []string{"first"},
			"history_edited shown foreign"},
		{"under a heading within a section", "# Rules\n\nBe kind.\n\nBuild it.",
			"\n\n## Report\n\nfirst\n\n# Rules\n\nBe quick.", []string{"first"}, "extends"},
		{"under a heading between sections", "## Rules\n\nBe kind.\n\nBuild it.",
			"\n\n## Report\n\nfirst\n\n## Rules\n\nBe quick.", []string{"first"},
			"extends shown proven"},
		{"a distinctive answer, then a turn", "Be kind.\n\nBuild it.",
			"\n\n" + cart + "\n\nUser: Please fix it.", []string{cart}, "extends answer"},
		{"the answer within an older one", "Be kind.\n\nBuild it.",
			"\n\nSo:\n" + cart + "\n\nPlease fix it.", []string{"So:\n" + cart, cart},
			"extends answer"},
		{"an older answer right before it", "Be kind.\n\nBuild it.",
			"\n\n" + page + "\n\n" + cart + "\n\nPlease fix it.", []string{page, cart},
			"extends answer"},
		{"two turns of answers", "Be kind.\n\nUser: one",
			"\n\nAssistant: first\n\nAssistant: second\n\nUser: two", []string{"first", "second"},
			"extends shown proven <User: two>"},
		{"the older answer alone", "User: one", "\n\nAssistant: first\n\nUser: two",
			[]string{"first", "second"}, "extends foreign"},
		{"an older answer that was never shown", two,
			"\n\nAssistant: other\n\nAssistant: second\n\nUser: three", []string{"other", "second"},
			"history_edited shown foreign"},
		{"an older answer below its name", two + "\n\nAssistant:\n\nUser: three",
			two + "\n\nAssistant:\n\nsecond\n\nUser: three\n\nAssistant: third\n\nUser: four",
			[]string{"first", "second", "third"}, "history_edited shown foreign"},
		{"in a tool's turn", two, "\n\nTool: three files\n\n" + cart + "\n\nUser: three",
			[]string{"first", cart}, "history_edited shown answer"},
		{"a tool before an older answer", tags,
			strings.Replace(tags, "<assistant>", "Tool: three files\n\n<assistant>", 1) +
				"\n\n<assistant>\nsecond\n</assistant>\n\n<user>\nthree\n</user>",
			[]string{"first", "second"}, "history_edited shown"},
		{"a tool within a turn", "Be kind.\n\nUser: one\n\nmore of it",
			"Be kind.\n\nUser: one\n\nTool: three files\n\nmore of it\n\nAssistant: " +
				"first\n\nUser: two", []string{"first"},
			"history_edited shown"},
		{"text behind a turn behind a tool", "Be kind.\n\nUser: one",
			"Be kind.\n\nTool: three files\n\nUser: one\n\nAnd quickly.\n\nAssistant: " +
				"first\n\nUser: two", []string{"first"},
			"history_edited shown"},
		{"text before a turn", "Be kind.\n\nUser: one",
			"Be kind.\n\nAnd quickly.\n\nUser: one\n\nAssistant: first\n\nUser: two",
			[]string{"first"}, "history_edited shown"},
		{"text before the opening", two, "And quickly.\n\n" + two +
			"\n\nAssistant: second\n\nUser: three", []string{"first", "second"}, "extends shown"},
		{"the end of a turn", "Be kind.\n\n<user>\none",
			"\n</user>\n\n<assistant>\nfirst\n</assistant>\n\n<user>\ntwo\n</user>",
			[]string{"first"}, "extends shown proven <<user>\ntwo\n</user>>"},
		{"where it was before", two, "\n\nUser: three", []string{"first"},
			"history_edited shown foreign"},
		{"an answer before the opening", "Be kind.\n\nBuild it.",
			"Assistant: zero\n\nBe kind.\n\nBuild it.", []string{"first"}, "history_edited shown"},
		{"two strangers", "Be kind.\n\nAda: one", "\n\nBob: other\n\nEve: two", []string{"first"},
			"extends"},
		{"another answer under a stranger's name", "Be kind.\n\nAda: one",
			"\n\nBob: other\n\nAda: two", []string{"first"}, "history_edited shown"},
		{"a stranger before the turns", "Be kind.\n\nMoe: zero\n\nAda: one",
			"Be kind.\n\nMoe: zero\n\nEve: hm\n\nAda: one\n\nAda: two\nmore", []string{"first"},
			"extends"},
		{"most of it in a list", "Be kind.\n\nBuild it.",
			"\n\nResult: The totals are computed when an item is added to the cart.\nThe cart " +
				"is kept in the session.\nPlease fix it.",
			[]string{"The totals are computed when an item is added to the cart.\nThe cart is " +
				"kept in the session.\nSo."}, "extends"},
		{"most of 39 bytes", "Be kind.\n\nBuild it.",
			"\n\n" + strings.Repeat("a", 20) + "\n" + strings.Repeat("b", 18) +
				"\n\nPlease fix it.", []string{strings.Repeat("a", 20) + "\n" +
				strings.Repeat("b", 18) + "\nc"}, "extends"},
		{"most of 40 bytes", "Be kind.\n\nBuild it.",
			"\n\n" + strings.Repeat("a", 20) + "\n" + strings.Repeat("b", 19) +
				"\n\nPlease fix it.", []string{strings.Repeat("a", 20) + "\n" +
				strings.Repeat("b", 19) + "\nc"}, "extends"},
		{"in a fence", "Be kind.\n\nUser: one",
			"\n\nassistant:\n```\nfirst\n\nmore\n```\n\nUser: two", []string{"first\n\nmore"},
			"extends shown proven <User: two>"},
		{"in an open fence", "Be kind.\n\nUser: one", "\n\nassistant:\n```\nfirst\n\nUser: two",
			[]string{"first"}, "history_edited shown foreign"},
		{"in a fence, and more below", "Be kind.\n\nUser: one",
			"\n\nassistant:\n```\nfirst\n```\nmore\n\nUser: two", []string{"first"},
			"history_edited shown foreign"},
		{"its parts have names", "Be kind.\n\nCount the files.",
			"\n\nThought: look\nAction: ls\nObservation: 3", []string{"Thought: look\nAction: ls"},
			"extends shown proven"},
		{"a second result", "Be kind.\n\nUser: count.",
			"\n\nThought: look\nAction: ls\nObservation: 3\nObservation: 4",
			[]string{"Thought: look\nAction: ls"}, "history_edited shown"},
		{"a result that nothing asked for", "Be kind.\n\nUser: count.",
			"\n\nAssistant: there are three\nObservation: 3", []string{"there are three"},
			"history_edited shown"},
		{"a result behind a summary", "Be kind.\n\nUser: count.",
			"\n\nAssistant: there are three\nSummary: three\nObservation: 3",
			[]string{"there are three\nSummary: three"}, "history_edited shown"},
		{"a result behind an action under a name", "Be kind.\n\nUser: count.",
			"\n\nAssistant: look\nAction: ls\nObservation: 3", []string{"look\nAction: ls"},
			"extends shown proven <Observation: 3>"},
		{"it asks", "Be kind.\n\nBuild it.", "\n\nQUESTION: for whom?\nANSWER: for all",
			[]string{"QUESTION: for whom?"}, "extends shown proven"},
		{"asked under the name", "Be kind.\n\nBuild it.",
			"\n\nQUESTION: for whom?\nANSWER: for all", []string{"for whom?"},
			"extends shown proven"},
		{"asked by the user", "Be kind.\n\nQuestion: one", "\n\nQuestion: first\nAnswer: two",
			[]string{"first"}, "history_edited shown"},
		{"the report of one who was asked", "Be kind.\n\nAssistant: " + page + "\n\nUser: two",
			"\n\nYour report: " + cart + "\nPlease fix it.", []string{page, cart},
			"extends answer"},
		{"the newest apart", "Message: one",
			"Earlier:\nUser: one\nAssistant: first\n\nMessage: two", []string{"first"},
			"extends shown proven <Message: two>"},
		{"the newest apart, another first", "Message: one",
			"Earlier:\nUser: One\nAssistant: first\n\nMessage: two", []string{"first"},
			"history_edited shown foreign"},
		{"the newest apart, more first", "Message: one",
			"Earlier:\nUser: zero\nAssistant: nought\nUser: one\nAssistant: first\n\nMessage: two",
			[]string{"first"}, "history_edited shown foreign"},
		{"the newest apart, text first", "Message: one",
			"You are mean.\n\nUser: one\nAssistant: first\n\nMessage: two", []string{"first"},
			"history_edited shown foreign"},
		{"the newest apart, another answer", "Message: one",
			"Earlier:\nUser: one\nAssistant: second\n\nMessage: two", []string{"first"},
			"history_edited shown foreign"},
		{"the newest apart under another name", "Message: one",
			"Earlier:\nUser: one\nAssistant: first\n\nRequest: two", []string{"first"},
			"history_edited shown foreign"},
		{"nothing apart", "one and only", "User: one and only\n\nAssistant: first\n\nUser: two",
			[]string{"first"}, "extends shown proven <User: two>"},
		{"of several paragraphs", "Message:\none\n\nand more",
			"<user>\none\n\nand more\n</user>\n<assistant>\nfirst\n</assistant>\n\nMessage:\ntwo",
			[]string{"first"}, "extends shown proven <Message:\ntwo>"},
		{"a new turn in the answer's block", "Be kind.\n\nUser: one",
			"\nAssistant: first\nUser: two", []string{"first"}, "extends shown proven <User: two>"},
	} {
		sent := sentTo(tt.first, tt.answers...)
		// with an answer, or as if one had been lost
		sent.Transcript = strings.Contains(tt.first, "Assistant: ") || tt.first == tags ||
			len(tt.answers) == 0
		text := tt.second
		if strings.HasPrefix(text, "\n") {
			text = tt.first + text
		}
		p := New(text, testKey)
		c := Compare(sent, p)
		got := string(c.Relation)
		for _, is := range []struct {
			so   bool
			word string
		}{{c.Transcript, "shown"}, {c.Evidence.Transcript, "proven"},
			{c.Evidence.Answer > 0, "answer"}, {c.Evidence.Shown != "", "foreign"}} {
			if is.so {
				got += " " + is.word
			}
		}
		if text, whole, _ := sentOf(p, c); !whole {
			got += fmt.Sprintf(" <%s>", text)
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// A run that says several things can be shown as its final answer alone, as all that it said, or as
// that without lines between.
func TestShownForms(t *testing.T) {
	const base = "Be kind.\n\nUser: one"
	sent := Sent{Base: New(base, testKey).Footprint(),
		Answers: []Answer{NewAnswer("second", []string{"first", "second"}, testKey)}}
	for shown, want := range map[string]reason.Code{"second": reason.Extends,
		"first\nsecond": reason.Extends, "first\n\nsecond": reason.Extends,
		"firstsecond": reason.Extends,
		"first":       reason.HistoryEdited, "second\nfirst": reason.HistoryEdited,
		"secondfirst": reason.HistoryEdited} {
		p := New(base+"\n\nAssistant: "+shown+"\n\nUser: two", testKey)
		c := Compare(sent, p)
		text, whole, _ := sentOf(p, c)
		if c.Relation != want || want == reason.Extends && (whole || text != "User: two") {
			t.Errorf("%q: %s, sends %q", shown, c.Relation, text)
		}
	}
	for _, said := range [][]string{nil, {"second"}} {
		if a := NewAnswer("second", said, testKey); a.Said != nil {
			t.Errorf("%q: %d other forms are kept", said, len(a.Said))
		}
	}
}
