package standin

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A Reply is how the stand-in answers one request.
type Reply struct {
	Text    string        // the model's text
	Command string        // a shell command that the model requests instead, "" for none
	Status  int           // the request fails with this HTTP status, 0 for success
	TooBig  bool          // the request fails: the conversation exceeds the context window
	BadTool bool          // the request fails: a tool call in it has no result
	Pause   time.Duration // the text comes in about ten pieces, this far apart
	Hang    bool          // nothing comes after the first piece
}

func (r Reply) fails() bool { return r.Status != 0 || r.TooBig || r.BadTool }

const (
	multi = "line one\n\n  line two \u2028 \u00e9 \x1b[31mred\x1b[0m\n\n"
	// A SLOW answer needs ten pieces, for which "ok" is too short.
	slow = "one two three four five six seven eight nine ten"
	// The model's text before it requests a tool, as models write.
	beforeTool = "Let me run it."
)

var (
	remember = regexp.MustCompile(`remember number (\d+)`)
	ask      = regexp.MustCompile(`(?i)what number`)
	status   = regexp.MustCompile(`\bHTTP(401|403|429|500|529)\b`)
	word     = regexp.MustCompile(`\b(RUNTOOL|BADTOOL|TOOBIG|MULTI|EMPTY|BIG5MB|SLOW|HANG)\b`)
)

// replyTo returns the reply to a conversation. It depends on nothing else.
func replyTo(c conversation) Reply {
	prompt := c.prompt()
	marked := map[string]bool{}
	for _, w := range word.FindAllString(prompt, -1) {
		marked[w] = true
	}
	r := Reply{TooBig: marked["TOOBIG"], BadTool: marked["BADTOOL"], Hang: marked["HANG"]}
	if m := status.FindStringSubmatch(prompt); m != nil {
		r.Status, _ = strconv.Atoi(m[1])
	}
	if !c.toolRan() {
		r.Command = command(prompt, marked)
	}
	r.Text = say(c, prompt, marked)
	if marked["SLOW"] {
		r.Pause = 100 * time.Millisecond
	}
	return r
}

func say(c conversation, prompt string, marked map[string]bool) string {
	text, echoed := markerText(prompt, "ECHO<<")
	switch {
	case echoed:
		return text
	case marked["MULTI"]:
		return multi
	case marked["EMPTY"]:
		return ""
	case marked["BIG5MB"]:
		return strings.Repeat("0123456789", 5<<20/10)
	}
	text = answer(c, prompt)
	if marked["SLOW"] && text == "ok" {
		return slow
	}
	return text
}

// command returns what the CLI's shell tool is asked to run, "" for nothing.
func command(prompt string, marked map[string]bool) string {
	if text, ok := markerText(prompt, "RUN<<"); ok {
		return text
	}
	if marked["RUNTOOL"] {
		return "echo hi"
	}
	return ""
}

// markerText returns the content of the last such marker, up to >>.
func markerText(prompt, marker string) (string, bool) {
	i := strings.LastIndex(prompt, marker)
	if i < 0 {
		return "", false
	}
	text, _, closed := strings.Cut(prompt[i+len(marker):], ">>")
	return text, closed
}

// answer acknowledges a number, or names the last one in the conversation. A prompt that repeats a
// transcript may contain both sentences; the later one counts.
func answer(c conversation, prompt string) string {
	told, asked := last(remember, prompt), last(ask, prompt)
	if told < 0 && asked < 0 {
		return "ok"
	}
	all := remember.FindAllStringSubmatch(c.text(), -1)
	if len(all) == 0 {
		return "I do not know any number."
	}
	number := all[len(all)-1][1]
	if asked > told {
		return number
	}
	return "Got it: " + number + "."
}

// last returns where the last match begins, -1 if there is none.
func last(re *regexp.Regexp, s string) int {
	all := re.FindAllStringIndex(s, -1)
	if len(all) == 0 {
		return -1
	}
	return all[len(all)-1][0]
}
