package grammar

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"

	"reprise/rewrite"
)

// The meanings of an option for a resume.
const (
	Setting     rewrite.OptionKind = iota // part of the settings fingerprint
	FileSetting                           // likewise, and its value can name a file
	Neutral                               // irrelevant to the session
	Format                                // the output format
	StreamOnly                            // rejected by the tool unless the format is stream-json
	CallerOwned                           // the caller manages the session itself
	OptOut                                // no session is kept
	Unmanaged                             // calls with it are not managed
	Admin                                 // --help and the like
	Server                                // starts a server for a client with another protocol
	Model                                 // the model
)

// An Options lists a tool's options by their meaning and how many arguments they take. Spaces
// separate the options, and | the names of one option; the first names the setting.
type Options []struct {
	Kind    rewrite.OptionKind
	Arity   rewrite.Arity
	Options string
}

// With adds the options that only the binary's own help revealed.
func (t Options) With(learned rewrite.Probe) Options {
	if !learned.Known {
		return t
	}
	t = slices.Clone(t)
	for _, o := range learned.Options {
		t = append(t, Options{{o.Kind, o.Arity, strings.Join(o.Names, "|")}}...)
	}
	return t
}

// Find returns the option of that name.
func (t Options) Find(name string) (rewrite.Option, bool) {
	for _, group := range t {
		for option := range strings.FieldsSeq(group.Options) {
			for known := range strings.SplitSeq(option, "|") {
				if known == name {
					return rewrite.Option{Names: strings.Split(option, "|"), Arity: group.Arity,
						Kind: group.Kind}, true
				}
			}
		}
	}
	return rewrite.Option{}, false
}

// A ParsedOption is one occurrence of an option in a command line.
type ParsedOption struct {
	rewrite.Option
	Values []string
	Span   rewrite.Span
}

// Value returns the last of the option's values, "" if it has none.
func (o ParsedOption) Value() string {
	if len(o.Values) == 0 {
		return ""
	}
	return o.Values[len(o.Values)-1]
}

// Args are a command line that was read.
type Args struct {
	Options  []ParsedOption
	Operands []rewrite.Span // the positional arguments, one each
	Unknown  string         // the first option that is not in the table
	Bad      bool           // an option lacks the value: the tool will reject the call
}

// Front returns where the first argument ends: the place behind the first option and its values, or
// behind the first operand. It is 0 if the command line begins with "--".
func (p *Args) Front() (end int) {
	for _, o := range p.Options {
		if o.Span.At == 0 { // several, if letters cluster
			end = max(end, o.Span.N)
		}
	}
	if len(p.Operands) > 0 && p.Operands[0].At == 0 {
		end = 1
	}
	return end
}

// Has reports whether there is an option of that kind.
func (p *Args) Has(kind rewrite.OptionKind) bool { return p.First(kind) != "" }

// First returns the name of the first option of a kind, "" if there is none.
func (p *Args) First(kind rewrite.OptionKind) string {
	for _, o := range p.Options {
		if o.Kind == kind {
			return o.Names[0]
		}
	}
	return ""
}

// StartsWith reports whether the first operand is one of the words.
func (p *Args) StartsWith(args, words []string) bool {
	return len(p.Operands) > 0 && slices.Contains(words, args[p.Operands[0].At])
}

// Names reports whether the option is there.
func (p *Args) Names(option string) bool { return len(p.Spans(option)) > 0 }

// Values returns the values of all the option's occurrences.
func (p *Args) Values(option string) (values []string) {
	for _, o := range p.Options {
		if o.Names[0] == option {
			values = append(values, o.Values...)
		}
	}
	return values
}

// Spans returns where the option is.
func (p *Args) Spans(option string) (spans []rewrite.Span) {
	for _, o := range p.Options {
		if o.Names[0] == option {
			spans = append(spans, o.Span)
		}
	}
	return spans
}

// Value returns the option's value, of several the last, or otherwise if the option is not there.
func (p *Args) Value(option, otherwise string) string {
	for _, o := range p.Options {
		if o.Names[0] == option {
			otherwise = o.Value()
		}
	}
	return otherwise
}

// Session returns the last value of the options that manage the caller's session.
func (p *Args) Session() (id string) {
	for _, o := range p.Options {
		if o.Kind == CallerOwned {
			id = cmp.Or(o.Value(), id)
		}
	}
	return id
}

// helpOption matches a line of --help that describes an option, as commander, clap, yargs and
// argparse print it: the names, and the value in brackets.
var helpOption = Compiled(
	`^ {1,8}(-[A-Za-z0-9](?:, | ))?(--[A-Za-z0-9][-A-Za-z0-9]*)(, --[A-Za-z0-9][-A-Za-z0-9]*)?( ?=?[<\[][^>\]]*[>\]](?:\.\.\.)?)?`)

// Compiled returns a function that compiles a pattern when it is first needed.
func Compiled(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// ReadProbe reads a help text: it is the wanted one if it lists the first of names, and the version
// can resume if it lists all the others. yargs names the kind of a value at the end of an option's
// line.
func ReadProbe(help string, yargs bool, names ...string) rewrite.Probe {
	var options []rewrite.Option
	for line := range strings.Lines(help) {
		m := helpOption().FindStringSubmatch(line)
		if m == nil {
			continue
		}
		o := rewrite.Option{Names: []string{m[2]}}
		for _, name := range []string{strings.Trim(m[1], ", "), strings.Trim(m[3], ", ")} {
			if name != "" {
				o.Names = append(o.Names, name)
			}
		}
		switch value := strings.Trim(m[4], " ="); {
		case yargs && (strings.Contains(line, "[string]") || strings.Contains(line, "[number]")):
			o.Arity = rewrite.OneValue
		case yargs && strings.Contains(line, "[array]"), strings.Contains(value, "..."):
			o.Arity = rewrite.ManyValues
		case value == "":
		case strings.HasPrefix(value, "["):
			o.Arity = rewrite.OptionalValue
		default:
			o.Arity = rewrite.OneValue
		}
		options = append(options, o)
	}
	lacks := func(name string) bool {
		return !slices.ContainsFunc(options, func(o rewrite.Option) bool {
			return slices.Contains(o.Names, name)
		})
	}
	return rewrite.Probe{Known: !lacks(names[0]), Resume: !slices.ContainsFunc(names[1:], lacks),
		Options: options}
}
