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
	for i := at; i < len(args); i++ {
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
			i += p.clapLong(args, i, table)
		default:
			i += p.clapCluster(args, i, table)
		}
		if p.Unknown != "" || p.Bad {
			break
		}
	}
	return p, len(args)
}

// clapLong reads --name, --name=value or --name value and returns how many further arguments it
// took.
func (p *Args) clapLong(args []string, i int, table Options) int {
	name, value, inline := strings.Cut(args[i], "=")
	o, ok := table.Find(name)
	switch {
	case !ok:
		p.Unknown = args[i]
	case inline && o.Arity == rewrite.NoValue:
		p.Bad = true
	case inline || o.Arity == rewrite.NoValue:
		p.add(o, i, 1, inline, value)
	default:
		return p.clapValues(o, args, i)
	}
	return 0
}

// clapCluster reads -abc. The first option that takes a value gets the rest of the cluster, with or
// without "=", or else the next argument.
func (p *Args) clapCluster(args []string, i int, table Options) int {
	for letters := args[i][1:]; letters != ""; letters = letters[1:] {
		o, ok := table.Find("-" + letters[:1])
		switch {
		case !ok:
			p.Unknown = args[i]
			return 0
		case o.Arity == rewrite.NoValue:
			p.add(o, i, 1, false, "")
		case len(letters) > 1:
			p.add(o, i, 1, true, strings.TrimPrefix(letters[1:], "="))
			return 0
		default:
			return p.clapValues(o, args, i)
		}
	}
	return 0
}

// clapValues reads the values after an option that has none attached.
func (p *Args) clapValues(o rewrite.Option, args []string, i int) int {
	n := 0
	for i+1+n < len(args) && !LooksLikeOption(args[i+1+n]) &&
		(n == 0 || o.Arity == rewrite.ManyValues) {
		n++
	}
	if n == 0 && o.Arity != rewrite.OptionalValue {
		p.Bad = true
		return 0
	}
	p.add(o, i, 1+n, n > 0, args[i+1:i+1+n]...)
	return n
}

func (p *Args) add(o rewrite.Option, at, n int, hasValue bool, values ...string) {
	found := ParsedOption{Option: o, Span: rewrite.Span{at, n}}
	if hasValue {
		found.Values = values
	}
	p.Options = append(p.Options, found)
}
