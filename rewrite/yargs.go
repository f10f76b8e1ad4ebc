package rewrite

import (
	"slices"
	"strings"
)

// parseYargs reads a command line the way the yargs library does, which gemini uses. An option that
// needs a value does not take one that looks like an option. A flag takes a "true" or "false" that
// follows it. "--no-x" turns a flag off. "--outputFormat" is "--output-format". Single letters may
// cluster, and the last may take a value. An array takes one value per occurrence. "--" and what
// follows count as bad usage: gemini ignores a prompt there (docs/internals/gemini.md).
func parseYargs(args []string, table optionTable) parsedArgs {
	var p parsedArgs
	for at := 0; at < len(args) && p.unknown == "" && !p.bad; {
		switch arg := args[at]; {
		case arg == "--":
			p.bad = true
		case looksLikeOption(arg):
			at += p.yargsOption(args, at, table)
		default:
			p.operands = append(p.operands, argSpan{at, 1})
			at++
		}
	}
	return p
}

// yargsOption reads the option at args[at] and returns how many arguments it takes.
func (p *parsedArgs) yargsOption(args []string, at int, table optionTable) int {
	arg := args[at]
	name, value, inline := strings.Cut(arg, "=")
	if !strings.HasPrefix(arg, "--") {
		name = p.yargsCluster(name, at, inline, table)
	}
	option, off, ok := findYargs(name, table)
	if !ok {
		p.unknown = arg
		return 1
	}
	found := parsedOption{Option: option, span: argSpan{at, 1}}
	switch {
	case option.Arity == NoValue:
		found.span.n += p.yargsFlag(&found, args[at+1:], value, inline, off)
	case inline:
		found.values = []string{value}
	case at+1 < len(args) && takesYargs(option.Arity, args[at+1]):
		found.values, found.span.n = []string{args[at+1]}, 2
	case option.Arity != OptionalValue:
		p.bad = true
		return 1
	}
	p.options = append(p.options, found)
	return found.span.n
}

// yargsCluster reads all of "-abc" but its last letter, which it returns as an option of its own.
// Only flags may precede the last.
func (p *parsedArgs) yargsCluster(arg string, at int, inline bool, table optionTable) string {
	last := len(arg) - 1
	for i := 1; i < last; i++ {
		option, ok := table.find("-" + arg[i:i+1])
		if !ok || option.Arity != NoValue || inline {
			return arg // not in any table
		}
		p.options = append(p.options, parsedOption{Option: option, values: []string{"true"}, span: argSpan{at, 1}})
	}
	return "-" + arg[last:]
}

// yargsFlag sets the value of a flag and returns how many of the following arguments that takes.
func (p *parsedArgs) yargsFlag(flag *parsedOption, rest []string, value string, inline, off bool) int {
	switch {
	case off:
		flag.values, p.bad = []string{"false"}, p.bad || inline
	case inline:
		flag.values, p.bad = []string{value}, p.bad || value != "true" && value != "false"
	case len(rest) > 0 && (rest[0] == "true" || rest[0] == "false"):
		flag.values = rest[:1]
		return 1
	default:
		flag.values = []string{"true"}
	}
	return 0
}

// findYargs looks up an option under the names that yargs accepts for it. off reports that the name
// turns a flag off.
func findYargs(name string, table optionTable) (o Option, off, ok bool) {
	if o, ok = table.find(kebabCase(name)); ok {
		return o, false, true
	}
	if positive, no := strings.CutPrefix(name, "--no-"); no {
		if o, ok = table.find(kebabCase("--" + positive)); ok && o.Arity == NoValue {
			return o, true, true
		}
	}
	return Option{}, false, false
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

// takesYargs reports whether an option takes the argument that follows it. One that needs a value
// also takes a negative number.
func takesYargs(arity Arity, next string) bool {
	if !looksLikeOption(next) {
		return arity != OptionalValue || next != "-"
	}
	return arity != OptionalValue && next[1] >= '0' && next[1] <= '9'
}

// repeated reports whether an option that is neither flag nor array occurs twice. yargs turns it
// into an array, which the tool does not expect.
func (p parsedArgs) repeated(allowed ...string) bool {
	seen := map[string]bool{}
	for _, o := range p.options {
		name := o.Names[0]
		if o.Arity == NoValue || o.Arity == ManyValues || slices.Contains(allowed, name) {
			continue
		}
		if seen[name] {
			return true
		}
		seen[name] = true
	}
	return false
}
