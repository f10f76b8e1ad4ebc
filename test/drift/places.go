package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A place is where a CLI's code asks for its output format, with what follows, without the names that a minifier chose.
type place = string

// code is where a tool's readable code is, as a regexp of paths below its installation. codex is missing: a compiled
// condition leaves no text, so its strings do not show which of them depend on the format. vibe is compiled from 3.0 on.
var code = map[string]*regexp.Regexp{
	"claude":   regexp.MustCompile(`@anthropic-ai/claude-code(/cli\.js|-linux-\w+/claude)$`),
	"copilot":  regexp.MustCompile(`/\.unpacked/pkg/.*/(cli-main|index|app)\.js$`), // its binary has it compressed
	"droid":    regexp.MustCompile(`/bin/droid$`),
	"gemini":   regexp.MustCompile(`@google/gemini-cli(-core)?/(bundle|dist)/.*\.js$`),
	"opencode": regexp.MustCompile(`/bin/opencode$`),
	"qwen":     regexp.MustCompile(`@qwen-code/qwen-code/(cli|chunks/.*)\.js$`),
	"vibe":     regexp.MustCompile(`/site-packages/vibe/.*\.py$`),
}

// An operand is what a format is compared with: a variable, a property or a call without arguments.
const operand = `((?:[\w$]+(?:\?\.|\.))*[\w$]+(?:\(\)|\["[\w-]+"\])?)`

var (
	values     = []string{`"stream-json"`, `"stream-jsonrpc"`, `"json"`, `"text"`, `"debug"`, "OutputFormat"}
	compared   = regexp.MustCompile(operand + ` ?(?:===|!==|==|!=| is | is not ) ?(?:"(stream-json|stream-jsonrpc|json|text|default|debug)"|OutputFormat\d*\.(\w+))$`)
	passedOn   = regexp.MustCompile(`outputFormat:([\w$]+)\b`)
	declared   = regexp.MustCompile(`function\*? ?([\w$]+)\(([^()]*)\) ?\{`)
	assigned   = regexp.MustCompile(`(?:let |const |var |,|;|\n)\s*([\w$]{2,}) ?= ?[^=;,]*$`)
	partOfName = regexp.MustCompile(`[\w$.]`)
	constant   = regexp.MustCompile(`[\w.]`)
	formats    = regexp.MustCompile(`(?i)(output_?format|output_?format\(\)|output-?format"\])$`)
)

// How far apart things are in minified code that belong together.
const (
	near    = 2 << 10
	farther = 8 << 10
)

// places returns what a tool's installation asks about its output format: comparisons, uses of their result, and calls
// of functions that compare their parameter. A format that goes through more than one function is not seen, nor is a
// condition on something else. Found: claude 2.1.330 about 150, gemini 0.61.0 70, qwen 0.24.4 36, droid 0.225.2 15,
// opencode 1.18.33 6, copilot 1.0.102 5.
func places(tool, directory string) (map[place]bool, error) {
	pattern, ok := code[tool]
	if !ok {
		return nil, fmt.Errorf("read the code of %s: compiled conditions cannot be read", tool)
	}
	directory, err := filepath.EvalSymlinks(directory)
	if err != nil {
		return nil, err
	}
	all := map[place]bool{}
	err = filepath.WalkDir(directory, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || !pattern.MatchString(path) {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, found := range search(tool, string(text)) {
			all[found] = true
		}
		return nil
	})
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("read the code of %s: nothing in it asks for the output format", tool)
	}
	return all, err
}

// search returns the places in one file. It follows a format one step: to the calls of a function that asks for its own
// parameter, and to the uses of a variable that has the answer.
func search(tool, text string) (found []place) {
	all := comparisons(text)
	answers := map[string]bool{} // the functions without arguments that return it
	for _, c := range all {
		if c.value == "stream-json" && strings.HasSuffix(c.name, "()") {
			answers[c.name] = true
		}
	}
	seen := map[string]bool{}
	for _, c := range all {
		name, start, end := c.name, c.start, c.end
		if !asks(tool, text, name, c.value, start, answers) {
			continue
		}
		found = append(found, surroundings(text, start))
		before := text[max(0, start-100):start]
		if m := assigned.FindStringSubmatch(before); m != nil {
			found = append(found, uses(text, m[1], end)...)
		}
		if f := asker(text, name, start); f != "" && !seen[f] {
			seen[f] = true
			found = append(found, calls(text, f, start)...)
		}
	}
	return found
}

// A comparison of something with a word that may be an output format; the value is "" for a constant.
type comparison struct {
	name, value string
	start, end  int
}

// comparisons searches the words first: a regexp takes minutes for a binary of 400 MB.
func comparisons(text string) (all []comparison) {
	for _, value := range values {
		for offset := 0; ; {
			i := strings.Index(text[offset:], value)
			if i < 0 {
				break
			}
			from, end := max(0, offset+i-120), offset+i+len(value)
			for value == "OutputFormat" && end < len(text) && constant.MatchString(text[end:end+1]) {
				end++
			}
			if m := compared.FindStringSubmatchIndex(text[from:end]); m != nil {
				c := comparison{name: text[from:end][m[2]:m[3]], start: from + m[0], end: end}
				if m[4] >= 0 {
					c.value = text[from:end][m[4]:m[5]]
				}
				all = append(all, c)
			}
			offset = end
		}
	}
	return all
}

// asks reports whether a comparison is with the output format. The input format's is not, nor are the many others with "text".
func asks(tool, text, name, value string, at int, answers map[string]bool) bool {
	last := name[strings.LastIndex(name, ".")+1:]
	switch {
	case strings.HasPrefix(last, "inputFormat") || strings.Contains(name, "getInputFormat"):
		return false
	case value == "" || value == "stream-json" || formats.MatchString(last) || answers[name]:
		return true
	case tool == "opencode":
		return last == "format" && value == "json"
	case last != name || len(name) < 1:
		return false
	}
	word := regexp.QuoteMeta(name)
	around := text[max(0, at-near):min(len(text), at+near)]
	if regexp.MustCompile(`(?:^|[^\w$.])` + word + `[!=]==?"stream-json"`).MatchString(around) {
		return true
	}
	for _, m := range passedOn.FindAllStringSubmatch(text[max(0, at-farther):at], -1) {
		if m[1] == name {
			return true
		}
	}
	return false
}

// asker returns the function around a comparison of its own parameter, "" if there is none near.
func asker(text, name string, at int) string {
	root, _, _ := strings.Cut(name, ".")
	from := max(0, at-700)
	all := declared.FindAllStringSubmatchIndex(text[from:at], -1)
	for _, m := range slices.Backward(all) {
		head, body := text[from:at][m[4]:m[5]], text[from+m[1]:at]
		if strings.Count(body, "}") > strings.Count(body, "{") {
			continue
		}
		if regexp.MustCompile(`(?:^|[^\w$])` + regexp.QuoteMeta(root) + `(?:$|[^\w$])`).MatchString(head) {
			return text[from:at][m[2]:m[3]]
		}
	}
	return ""
}

// most calls of a function: one with more is not about notices, or its name is used for several.
const mostCalls = 40

// calls returns the calls of a function: in the whole file if its name is long enough to be the only one, otherwise in the
// piece of the bundle around it.
func calls(text, function string, at int) (found []place) {
	from, to := 0, len(text)
	if len(function) < 3 {
		const piece = "// @bun"
		from = max(0, strings.LastIndex(text[:at], piece))
		if next := strings.Index(text[at:], piece); next >= 0 {
			to = at + next
		}
	}
	for rest, offset := text[from:to], from; ; {
		i := strings.Index(rest, function+"(")
		if i < 0 {
			break
		}
		here := offset + i
		rest, offset = rest[i+len(function):], here+len(function)
		if here == 0 || strings.HasSuffix(text[:here], "function ") || partOfName.MatchString(text[here-1:here]) {
			continue
		}
		if found = append(found, surroundings(text, here)); len(found) > mostCalls {
			return nil
		}
	}
	return found
}

// uses returns the conditions on a variable that follow its assignment.
func uses(text, name string, at int) (found []place) {
	use := regexp.MustCompile(`(?:if ?\( ?!?|[&|(,!])` + regexp.QuoteMeta(name) + ` ?(?:\)|&&|\|\||\?[^.])`)
	part := text[at:min(len(text), at+farther)]
	for _, m := range use.FindAllStringIndex(part, -1) {
		found = append(found, surroundings(text, at+m[0]))
	}
	return found
}

var (
	token   = regexp.MustCompile("//[^\n]*|/\\*.*?\\*/|\"(?:[^\"\\\\\n]|\\\\.)*\"|'(?:[^'\\\\\n]|\\\\.)*'|`[^`]*`|[\\w$]+|[^\\s]")
	keyword = regexp.MustCompile(`^(if|else|let|var|new|null|true|this|case|for|try|void|None|True)$`)
	chunk   = regexp.MustCompile(`chunk-\w+`)
	filled  = regexp.MustCompile(`\$\{[^{}]*\}`)
	name    = regexp.MustCompile(`^[A-Za-z_$]`)
	letter  = regexp.MustCompile(`[\w$]$`)
)

const (
	wordsAfter = 36 // with more, changes that have nothing to do with the format would count
	bytesAfter = 1200
)

// surroundings returns a place from the start of its statement on. A minifier's names are short, except for properties,
// which it keeps.
func surroundings(text string, at int) place {
	from := max(0, at-150)
	if i := strings.LastIndexAny(text[from:at], ";{}\n"); i >= 0 {
		from += i + 1
	}
	words := token.FindAllString(text[from:min(len(text), at+bytesAfter)], wordsAfter)
	words = slices.DeleteFunc(words, func(w string) bool { return len(w) > 1 && w[0] == '/' })
	var b strings.Builder
	for i, word := range words {
		before, next := neighbor(words, i-1), neighbor(words, i+1)
		spread := before == "." && neighbor(words, i-2) == "."
		shown := word
		switch property := before == "." && !spread || next == ":" && (before == "{" || before == ","); {
		case strings.ContainsAny(word[:1], "\"'`"):
			shown = filled.ReplaceAllString(chunk.ReplaceAllString(word, "chunk"), "$${_}")
		case name.MatchString(word) && !property && !keyword.MatchString(word):
			if shown = strings.TrimRight(word, "0123456789"); len(word) <= 4 {
				shown = "_"
			}
		}
		if name.MatchString(shown) && i > 0 && letter.MatchString(before) {
			b.WriteByte(' ')
		}
		b.WriteString(shown)
	}
	return strings.ToValidUTF8(b.String(), "?")
}

// neighbor returns a word, "" if there is none.
func neighbor(words []string, i int) string {
	if i < 0 || i >= len(words) {
		return ""
	}
	return words[i]
}

// installation returns the directory of the version that has a directory of commands.
func installation(bin string) string {
	if before, _, ok := strings.Cut(bin, "/node_modules/"); ok {
		return before
	}
	return filepath.Dir(bin)
}
