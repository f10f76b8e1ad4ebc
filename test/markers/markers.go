// Package markers is the stand-in for the model APIs as the tests use it: words in a prompt say how
// it answers.
//
// Invariant: an answer depends only on the request. "What number" is answered from a "remember
// number N" in the conversation that was sent, so the answer proves whether a CLI really carried
// its session over.
//
// # Markers
//
// Words in the last user message change its behavior; in earlier messages they mean nothing.
//
//	RUNTOOL         asks for one run of `echo hi` with the CLI's shell tool, then answers after its result
//	RUN<<command>>  the same with another command, up to the first >>
//	HTTP401         fails with that status; also 400, 403, 404, 429, 500, 529
//	BADTOOL         fails as for a transcript with a tool call that has no result
//	TOOBIG          fails as for a conversation that exceeds the context window
//	MULTI           answers several lines with U+2028, an accent and an ANSI color
//	EMPTY           answers with an empty text
//	BIG5MB          answers with 5 MB on one line
//	ECHO<<text>>    answers exactly that text, up to the first >>; the last ECHO counts
//	SLOW            sends the answer in about ten pieces, 100 ms apart
//	HANG            sends the first piece, then nothing until the client leaves, at most 60 s
package markers

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"reprise/internal/standin"
	"reprise/test/promptcache"
)

// Options configure a stand-in. The zero value is the usual configuration.
type Options struct {
	Reply func(standin.Request) (standin.Reply, bool) // is called first, if it is not nil
	Cache promptcache.Options
}

// Start starts a stand-in with the cache of each provider.
func Start(o Options) (*standin.Server, error) {
	options := standin.Options{Measure: promptcache.New(o.Cache), Reply: replyTo}
	if o.Reply != nil {
		options.Reply = func(r standin.Request) standin.Reply {
			if reply, ok := o.Reply(r); ok {
				return reply
			}
			return replyTo(r)
		}
	}
	return standin.Start(options)
}

const (
	multi = "line one\n\n  line two \u2028 \u00e9 \x1b[31mred\x1b[0m\n\n"
	// A SLOW answer needs ten pieces, for which "ok" is too short.
	slow = "one two three four five six seven eight nine ten"
)

var (
	remember = regexp.MustCompile(`remember number (\d+)`)
	ask      = regexp.MustCompile(`(?i)what number`)
	status   = regexp.MustCompile(`\bHTTP(40[0134]|429|500|529)\b`)
	word     = regexp.MustCompile(`\b(RUNTOOL|BADTOOL|TOOBIG|MULTI|EMPTY|BIG5MB|SLOW|HANG)\b`)
)

// replyTo returns the reply to a request. It depends on nothing else.
func replyTo(r standin.Request) standin.Reply {
	prompt := standin.LastUser(r)
	marked := map[string]bool{}
	for _, w := range word.FindAllString(prompt, -1) {
		marked[w] = true
	}
	switch m := status.FindStringSubmatch(prompt); {
	case marked["TOOBIG"]:
		return tooBig(r)
	case marked["BADTOOL"]:
		return badTool(r)
	case m != nil:
		code, _ := strconv.Atoi(m[1])
		return Fails(r, code)
	}
	t := spoken{text: say(r, prompt, marked), hangs: marked["HANG"]}
	if marked["SLOW"] {
		t.pause = 100 * time.Millisecond
	}
	reply := standin.Reply{Text: t.text, Say: t.say}
	if standin.StartsTurn(r) {
		reply.Command = command(prompt, marked)
		addTool(&reply, r)
	}
	return reply
}

// addTool calls droid's shell tool, if that is offered: it has more arguments than others.
func addTool(reply *standin.Reply, r standin.Request) {
	body, _ := r.Body.(object)
	tools, _ := body["tools"].([]any)
	if slices.ContainsFunc(tools, func(tool any) bool {
		t, _ := tool.(object)
		return t["name"] == "Execute"
	}) {
		reply.Tool = "Execute"
		reply.Input = object{"command": reply.Command, "summary": "Run the given command",
			"riskLevel": "low", "riskLevelReason": "A test."}
	}
}

func say(r standin.Request, prompt string, marked map[string]bool) string {
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
	text = answer(r, prompt)
	if marked["SLOW"] && text == "ok" {
		return slow
	}
	return text
}

// command returns the command that the CLI's shell tool is asked to run, "" for none.
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
// transcript can contain both sentences; the later one counts.
func answer(r standin.Request, prompt string) string {
	told, asked := last(remember, prompt), last(ask, prompt)
	if told < 0 && asked < 0 {
		return "ok"
	}
	all := remember.FindAllStringSubmatch(standin.AllText(r), -1)
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
