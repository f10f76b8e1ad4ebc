// Package grammar reads command lines the way the libraries do that the tools use (clap, commander,
// yargs), by tables of a tool's options.
//
// It does no I/O. Invariant: an option that a table lacks is reported as unknown, never guessed.
package grammar

import (
	"strings"

	"reprise/rewrite"
)

// Clap reads a command line from args[at] on the way the clap library does, which codex uses. No
// value can look like an option. A variadic option takes arguments until one looks like an option,
// unless the first value is attached. Short options cluster. Everything after "--" is an operand.
// Clap stops at the first operand before "--" if stop returns true for it, and returns the index,
// otherwise len(args).
func Clap(args []string, at int, table Options, stop func(string) bool) (p Args, end int) {
	return read(args, at, table, false, stop)
}

// Commander reads a command line the way the commander library does, which claude uses: as clap,
// but an option that needs a value takes any next argument, and short options do not cluster. A
// cluster counts as unknown.
func Commander(args []string, table Options) Args {
	p, _ := read(args, 0, table, true, func(string) bool { return false })
	return p
}

func read(args []string, at int, table Options, commander bool,
	stop func(string) bool) (p Args, end int) {
	for i := at; i < len(args) && p.Unknown == "" && !p.Bad; i++ {
		switch arg := args[i]; {
		case arg == "--":
			for i++; i < len(args); i++ {
				p.Operands = append(p.Operands, rewrite.Span{i, 1})
			}
		case !LooksLikeOption(arg):
			if stop(arg) {
				return p, i
			}
			p.Operands = append(p.Operands, rewrite.Span{i, 1})
		case strings.HasPrefix(arg, "--"):
			i += p.long(args, i, table, commander)
		default:
			i += p.cluster(args, i, table, commander)
		}
	}
	return p, len(args)
}

// LooksLikeOption reports whether a parser takes a word for an option.
func LooksLikeOption(arg string) bool { return len(arg) > 1 && arg[0] == '-' }

// long reads --name, --name=value or --name value and returns how many further arguments it took.
func (p *Args) long(args []string, i int, table Options, commander bool) int {
	name, value, inline := strings.Cut(args[i], "=")
	o, ok := table.Find(name)
	switch {
	case !ok, commander && inline && o.Arity == rewrite.NoValue:
		p.Unknown = args[i]
	case inline && o.Arity == rewrite.NoValue:
		p.Bad = true
	case inline:
		p.add(o, i, 1, value)
	case o.Arity == rewrite.NoValue:
		p.add(o, i, 1)
	default:
		return p.values(o, args, i, commander)
	}
	return 0
}

// cluster reads -abc. The first option that takes a value gets the rest of the cluster, for clap
// with or without "=", or else the next argument.
func (p *Args) cluster(args []string, i int, table Options, commander bool) int {
	for letters := args[i][1:]; letters != ""; letters = letters[1:] {
		o, ok := table.Find("-" + letters[:1])
		switch {
		case !ok, commander && o.Arity == rewrite.NoValue && len(args[i]) > 2:
			p.Unknown = args[i]
			return 0
		case o.Arity == rewrite.NoValue:
			p.add(o, i, 1)
		case len(letters) == 1:
			return p.values(o, args, i, commander)
		case commander:
			p.add(o, i, 1, letters[1:])
			return 0
		default:
			p.add(o, i, 1, strings.TrimPrefix(letters[1:], "="))
			return 0
		}
	}
	return 0
}

// values reads the values after an option that has none attached.
func (p *Args) values(o rewrite.Option, args []string, i int, commander bool) int {
	n, most := 0, len(args)-i-1
	if o.Arity != rewrite.ManyValues {
		most = min(most, 1)
	}
	needed := o.Arity != rewrite.OptionalValue
	if commander && needed {
		n = min(most, 1)
	}
	for n < most && !LooksLikeOption(args[i+1+n]) {
		n++
	}
	if n == 0 && needed {
		p.Bad = true
		return 0
	}
	p.add(o, i, 1+n, args[i+1:i+1+n]...)
	return n
}

func (p *Args) add(o rewrite.Option, at, n int, values ...string) {
	p.Options = append(p.Options, ParsedOption{o, values, rewrite.Span{at, n}})
}
