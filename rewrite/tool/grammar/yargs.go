package grammar

import (
	"slices"
	"strings"

	"reprise/rewrite"
)

// Yargs reads a command line the way the yargs library does, which gemini uses. An option that
// needs a value does not take an argument that looks like an option. A flag takes a "true" or
// "false" that follows it. "--no-x" turns a flag off. "--outputFormat" is "--output-format". Single
// letters can cluster, and the last can take a value. An array takes one value per occurrence. "--"
// and the arguments behind it count as bad usage: gemini ignores a prompt there
// (docs/internals/gemini.md).
func Yargs(args []string, table Options) Args {
	var p Args
	for at := 0; at < len(args) && p.Unknown == "" && !p.Bad; {
		switch arg := args[at]; {
		case arg == "--":
			p.Bad = true
		case LooksLikeOption(arg):
			at += p.yargsOption(args, at, table)
		default:
			p.Operands = append(p.Operands, rewrite.Span{at, 1})
			at++
		}
	}
	return p
}

// yargsOption reads the option at args[at] and returns how many arguments it takes.
func (p *Args) yargsOption(args []string, at int, table Options) int {
	arg := args[at]
	name, value, inline := strings.Cut(arg, "=")
	if !strings.HasPrefix(arg, "--") {
		name = p.yargsCluster(name, at, inline, table)
	}
	option, off, ok := findYargs(name, table)
	if !ok {
		p.Unknown = arg
		return 1
	}
	found := ParsedOption{Option: option, Span: rewrite.Span{at, 1}}
	switch {
	case option.Arity == rewrite.NoValue:
		found.Span.N += p.yargsFlag(&found, args[at+1:], value, inline, off)
	case inline:
		found.Values = []string{value}
	case at+1 < len(args) && takesYargs(option.Arity, args[at+1]):
		found.Values, found.Span.N = []string{args[at+1]}, 2
	case option.Arity != rewrite.OptionalValue:
		p.Bad = true
		return 1
	}
	p.Options = append(p.Options, found)
	return found.Span.N
}

// yargsCluster reads all of "-abc" but the last letter, which it returns as a separate option. Only
// flags can precede the last.
func (p *Args) yargsCluster(arg string, at int, inline bool, table Options) string {
	last := len(arg) - 1
	for i := 1; i < last; i++ {
		option, ok := table.Find("-" + arg[i:i+1])
		if !ok || option.Arity != rewrite.NoValue || inline {
			return arg // not in any table
		}
		p.Options = append(p.Options, ParsedOption{Option: option, Values: []string{"true"},
			Span: rewrite.Span{at, 1}})
	}
	return "-" + arg[last:]
}

// yargsFlag sets the value of a flag and returns how many of the following arguments that takes.
func (p *Args) yargsFlag(flag *ParsedOption, rest []string, value string, inline, off bool) int {
	switch {
	case off:
		flag.Values, p.Bad = []string{"false"}, p.Bad || inline
	case inline:
		flag.Values, p.Bad = []string{value}, p.Bad || value != "true" && value != "false"
	case len(rest) > 0 && (rest[0] == "true" || rest[0] == "false"):
		flag.Values = rest[:1]
		return 1
	default:
		flag.Values = []string{"true"}
	}
	return 0
}

// findYargs looks up an option under the names that yargs accepts for it. off reports that the name
// turns a flag off.
func findYargs(name string, table Options) (o rewrite.Option, off, ok bool) {
	if o, ok = table.Find(kebabCase(name)); ok {
		return o, false, true
	}
	if positive, no := strings.CutPrefix(name, "--no-"); no {
		if o, ok = table.Find(kebabCase("--" + positive)); ok && o.Arity == rewrite.NoValue {
			return o, true, true
		}
	}
	return rewrite.Option{}, false, false
}

func kebabCase(name string) string {
	if !strings.HasPrefix(name, "--") {
		return name
	}
	var b strings.Builder
	for _, r := range name {
		if r >= 'A' && r <= 'Z' {
			b.WriteByte('-')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// takesYargs reports whether an option takes the argument that follows it. An option that needs a
// value also takes a negative number.
func takesYargs(arity rewrite.Arity, next string) bool {
	if !LooksLikeOption(next) {
		return arity != rewrite.OptionalValue || next != "-"
	}
	return arity != rewrite.OptionalValue && next[1] >= '0' && next[1] <= '9'
}

// Repeated reports whether an option that is neither flag nor array occurs twice. yargs turns it
// into an array, which the tool does not expect.
func (p Args) Repeated(allowed ...string) bool {
	seen := map[string]bool{}
	for _, o := range p.Options {
		name := o.Names[0]
		if o.Arity == rewrite.NoValue || o.Arity == rewrite.ManyValues ||
			slices.Contains(allowed, name) {
			continue
		}
		if seen[name] {
			return true
		}
		seen[name] = true
	}
	return false
}

// WithoutOff removes flags that are turned off, and an empty prompt, which means none.
func (p Args) WithoutOff() Args {
	p.Options = slices.DeleteFunc(slices.Clone(p.Options), func(o ParsedOption) bool {
		return o.Arity == rewrite.NoValue && o.Values[0] == "false" ||
			o.Names[0] == "--prompt" && o.Values[0] == ""
	})
	return p
}
