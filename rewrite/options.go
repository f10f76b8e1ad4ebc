package rewrite

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Arity is how many arguments an option takes.
type Arity int

// The arities of all the tools' option parsers.
const (
	NoValue       Arity = iota
	OneValue            // takes the next argument, whatever it is
	OptionalValue       // takes the next argument unless it starts with a dash
	ManyValues          // takes the next argument, and those after it that do not start with a dash
)

// An Option is one option of a tool, under all its names.
type Option struct {
	Names []string // with their dashes; the first names the setting
	Arity Arity
	Kind  optionKind
}

// optionKind is what an option means for a resume.
type optionKind int

const (
	setting     optionKind = iota // part of the settings fingerprint
	fileSetting                   // likewise, and its value may name a file
	neutral                       // irrelevant to the session
	format                        // the output format
	streamOnly                    // rejected by the tool unless the format is stream-json
	callerOwned                   // the caller manages its session itself
	optOut                        // no session is kept
	unmanaged                     // calls with it are not managed
	admin                         // --help and the like
	server                        // starts a server for a client with a protocol of its own
	model                         // the model
)

// An optionTable lists a tool's options.
type optionTable []struct {
	Names []string // with their dashes; the first names the setting
	Arity Arity
	Kind  optionKind
}

// with adds the options that only the binary's own help revealed.
func (t optionTable) with(learned Probe) optionTable {
	if !learned.Known {
		return t
	}
	t = slices.Clone(t)
	for _, o := range learned.Options {
		t = append(t, o)
	}
	return t
}

func (t optionTable) find(name string) (Option, bool) {
	for _, o := range t {
		if slices.Contains(o.Names, name) {
			return o, true
		}
	}
	return Option{}, false
}

// A parsedOption is one occurrence of an option in a command line.
type parsedOption struct {
	Option
	values []string
	span   argSpan
}

type parsedArgs struct {
	options  []parsedOption
	operands []argSpan // the positional arguments, one each
	unknown  string    // the first option that is not in the table
	bad      bool      // an option lacks its value: the tool will reject the call
}

func (p *parsedArgs) has(kind optionKind) bool { return p.first(kind) != "" }

// first returns the name of the first option of a kind, "" if there is none.
func (p *parsedArgs) first(kind optionKind) string {
	for _, o := range p.options {
		if o.Kind == kind {
			return o.Names[0]
		}
	}
	return ""
}

// startsWith reports whether the first operand is one of the words.
func (p *parsedArgs) startsWith(args, words []string) bool {
	return len(p.operands) > 0 && slices.Contains(words, args[p.operands[0].at])
}

// sets reports whether an option that takes a value is there with one for which is returns true.
func (p *parsedArgs) sets(option string, is func(value string) bool) bool {
	return slices.ContainsFunc(p.options, func(o parsedOption) bool { return o.Names[0] == option && is(o.values[0]) })
}

func (p *parsedArgs) names(option string) bool {
	return slices.ContainsFunc(p.options, func(o parsedOption) bool { return o.Names[0] == option })
}

// parseCommander reads a command line the way the commander library does, which claude uses. An
// option that needs a value takes whatever follows. One with an optional value takes the next
// argument unless it looks like an option. A variadic one takes arguments until one looks like an
// option, unless it has the "=" form. "--" ends the options.
func parseCommander(args []string, table optionTable) parsedArgs {
	var p parsedArgs
	var variadic *parsedOption
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			for i++; i < len(args); i++ {
				p.operands = append(p.operands, argSpan{i, 1})
			}
			break
		}
		if !looksLikeOption(arg) {
			if variadic != nil {
				variadic.values = append(variadic.values, arg)
				variadic.span.n++
				continue
			}
			p.operands = append(p.operands, argSpan{i, 1})
			continue
		}
		variadic = nil
		option, value, inline, ok := findOption(arg, table)
		if !ok {
			p.unknown = arg
			return p
		}
		found := parsedOption{Option: option, span: argSpan{i, 1}}
		switch {
		case inline:
			found.values = []string{value}
		case option.Arity == OneValue || option.Arity == ManyValues:
			if i+1 >= len(args) {
				p.bad = true
				return p
			}
			i++
			found.values, found.span.n = []string{args[i]}, 2
		case option.Arity == OptionalValue && i+1 < len(args) && !looksLikeOption(args[i+1]):
			i++
			found.values, found.span.n = []string{args[i]}, 2
		}
		p.options = append(p.options, found)
		if option.Arity == ManyValues && !inline {
			variadic = &p.options[len(p.options)-1]
		}
	}
	return p
}

func looksLikeOption(arg string) bool { return len(arg) > 1 && arg[0] == '-' }

// findOption looks up --name, --name=value, -n or -nvalue. It does not split a cluster of short
// options (-pc), which counts as unknown.
func findOption(arg string, table optionTable) (o Option, value string, inline, ok bool) {
	if o, ok = table.find(arg); ok {
		return o, "", false, true
	}
	if name, value, cut := strings.Cut(arg, "="); cut && strings.HasPrefix(arg, "--") {
		if o, ok = table.find(name); ok && o.Arity != NoValue {
			return o, value, true, true
		}
		return Option{}, "", false, false
	}
	if !strings.HasPrefix(arg, "--") && len(arg) > 2 {
		if o, ok = table.find(arg[:2]); ok && o.Arity != NoValue {
			return o, arg[2:], true, true
		}
	}
	return Option{}, "", false, false
}

// helpOption matches a line of --help that describes an option, as commander, clap, yargs and
// argparse print it: the names, and the value in brackets.
var helpOption = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^ {1,8}(-[A-Za-z0-9](?:, | ))?(--[A-Za-z0-9][-A-Za-z0-9]*)(, --[A-Za-z0-9][-A-Za-z0-9]*)?( ?=?[<\[][^>\]]*[>\]](?:\.\.\.)?)?`)
})

// parseHelp returns the options that a help text lists.
func parseHelp(help string) []Option {
	var options []Option
	for line := range strings.Lines(help) {
		m := helpOption().FindStringSubmatch(line)
		if m == nil {
			continue
		}
		o := Option{Names: []string{m[2]}}
		for _, name := range []string{strings.Trim(m[1], ", "), strings.Trim(m[3], ", ")} {
			if name != "" {
				o.Names = append(o.Names, name)
			}
		}
		switch value := strings.Trim(m[4], " ="); {
		case value == "":
		case strings.Contains(value, "..."):
			o.Arity = ManyValues
		case strings.HasPrefix(value, "["):
			o.Arity = OptionalValue
		default:
			o.Arity = OneValue
		}
		options = append(options, o)
	}
	return options
}

// readProbe reads a help text: it is the one that is wanted if it lists the option known, and the version can resume if
// it lists all the others.
func readProbe(help, known string, resume ...string) Probe {
	p := Probe{Options: parseHelp(help)}
	p.judge(known, resume...)
	return p
}

func (p *Probe) judge(known string, resume ...string) {
	lists := func(name string) bool {
		return slices.ContainsFunc(p.Options, func(o Option) bool { return slices.Contains(o.Names, name) })
	}
	p.Known = lists(known)
	p.Resume = !slices.ContainsFunc(resume, func(name string) bool { return !lists(name) })
}

// askStreamJSON replaces the caller's output format in args by stream-json. It returns what to put in front if the
// caller has given none.
func (c *Call) askStreamJSON(args []string) (front []string) {
	const option = "--output-format=stream-json"
	switch c.formatArg.n {
	case 0:
		return []string{option}
	case 1:
		args[c.formatArg.at] = option
	default:
		args[c.formatArg.at+1] = "stream-json"
	}
	return nil
}
