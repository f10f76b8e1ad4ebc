package rewrite

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"reprise/rewrite/reason"
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

type optionTable []Option

func (t optionTable) find(name string) (Option, bool) {
	i := slices.IndexFunc(t, func(o Option) bool { return slices.Contains(o.Names, name) })
	if i < 0 {
		return Option{}, false
	}
	return t[i], true
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

func (p *parsedArgs) has(kind optionKind) bool {
	return slices.ContainsFunc(p.options, func(o parsedOption) bool { return o.Kind == kind })
}

// unmanagedBy notes the first of the options that make the call unmanaged.
func (c *Call) unmanagedBy(options []parsedOption) reason.Code {
	at := slices.IndexFunc(options, func(o parsedOption) bool { return o.Kind == unmanaged })
	c.Unmanaged = options[at].Names[0]
	return reason.UnmanagedOption
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
