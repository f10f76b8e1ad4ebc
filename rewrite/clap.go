package rewrite

import "strings"

// parseClap reads a command line from args[at] on the way the clap library does, which codex uses.
// No value may look like an option. A variadic option takes arguments until one looks like an
// option, unless its first value is attached. Short options cluster. Everything after "--" is an
// operand. parseClap stops at the first operand before "--" for which stop returns true and returns
// its index, otherwise len(args).
func parseClap(args []string, at int, table optionTable, stop func(string) bool) (p parsedArgs, end int) {
	for i := at; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "--":
			for i++; i < len(args); i++ {
				p.operands = append(p.operands, argSpan{i, 1})
			}
		case !looksLikeOption(arg):
			if stop(arg) {
				return p, i
			}
			p.operands = append(p.operands, argSpan{i, 1})
		case strings.HasPrefix(arg, "--"):
			i += p.clapLong(args, i, table)
		default:
			i += p.clapCluster(args, i, table)
		}
		if p.unknown != "" || p.bad {
			break
		}
	}
	return p, len(args)
}

// clapLong reads --name, --name=value or --name value and returns how many further arguments it
// took.
func (p *parsedArgs) clapLong(args []string, i int, table optionTable) int {
	name, value, inline := strings.Cut(args[i], "=")
	o, ok := table.find(name)
	switch {
	case !ok:
		p.unknown = args[i]
	case inline && o.Arity == NoValue:
		p.bad = true
	case inline || o.Arity == NoValue:
		p.add(o, i, 1, inline, value)
	default:
		return p.clapValues(o, args, i)
	}
	return 0
}

// clapCluster reads -abc. The first option that takes a value gets the rest of the cluster, with or
// without "=", or else the next argument.
func (p *parsedArgs) clapCluster(args []string, i int, table optionTable) int {
	for letters := args[i][1:]; letters != ""; letters = letters[1:] {
		o, ok := table.find("-" + letters[:1])
		switch {
		case !ok:
			p.unknown = args[i]
			return 0
		case o.Arity == NoValue:
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
func (p *parsedArgs) clapValues(o Option, args []string, i int) int {
	n := 0
	for i+1+n < len(args) && !looksLikeOption(args[i+1+n]) && (n == 0 || o.Arity == ManyValues) {
		n++
	}
	if n == 0 && o.Arity != OptionalValue {
		p.bad = true
		return 0
	}
	p.add(o, i, 1+n, n > 0, args[i+1:i+1+n]...)
	return n
}

func (p *parsedArgs) add(o Option, at, n int, hasValue bool, values ...string) {
	found := parsedOption{Option: o, span: argSpan{at, n}}
	if hasValue {
		found.values = values
	}
	p.options = append(p.options, found)
}
