package grammar

import (
	"strings"

	"reprise/rewrite"
)

// Commander reads a command line the way the commander library does, which claude uses. An option
// that needs a value takes any next argument. One with an optional value takes the next argument
// unless it looks like an option. A variadic one takes arguments until one looks like an option,
// unless it has the "=" form. "--" ends the options.
func Commander(args []string, table Options) Args {
	var p Args
	var variadic *ParsedOption
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			for i++; i < len(args); i++ {
				p.Operands = append(p.Operands, rewrite.Span{i, 1})
			}
			break
		}
		if !LooksLikeOption(arg) {
			if variadic != nil {
				variadic.Values = append(variadic.Values, arg)
				variadic.Span.N++
				continue
			}
			p.Operands = append(p.Operands, rewrite.Span{i, 1})
			continue
		}
		variadic = nil
		option, value, inline, ok := findOption(arg, table)
		if !ok {
			p.Unknown = arg
			return p
		}
		found := ParsedOption{Option: option, Span: rewrite.Span{i, 1}}
		switch {
		case inline:
			found.Values = []string{value}
		case !takesNext(option, args[i+1:]):
		case i+1 == len(args):
			p.Bad = true
			return p
		default:
			i++
			found.Values, found.Span.N = []string{args[i]}, 2
		}
		p.Options = append(p.Options, found)
		if option.Arity == rewrite.ManyValues && !inline {
			variadic = &p.Options[len(p.Options)-1]
		}
	}
	return p
}

func takesNext(option rewrite.Option, rest []string) bool {
	switch option.Arity {
	case rewrite.OneValue, rewrite.ManyValues:
		return true
	case rewrite.OptionalValue:
		return len(rest) > 0 && !LooksLikeOption(rest[0])
	}
	return false
}

// LooksLikeOption reports whether a parser takes a word for an option.
func LooksLikeOption(arg string) bool { return len(arg) > 1 && arg[0] == '-' }

// findOption looks up --name, --name=value, -n or -nvalue. It does not split a cluster of short
// options (-pc), which counts as unknown.
func findOption(arg string, table Options) (o rewrite.Option, value string, inline, ok bool) {
	if o, ok = table.Find(arg); ok {
		return o, "", false, true
	}
	if name, value, cut := strings.Cut(arg, "="); cut && strings.HasPrefix(arg, "--") {
		if o, ok = table.Find(name); ok && o.Arity != rewrite.NoValue {
			return o, value, true, true
		}
		return rewrite.Option{}, "", false, false
	}
	if !strings.HasPrefix(arg, "--") && len(arg) > 2 {
		if o, ok = table.Find(arg[:2]); ok && o.Arity != rewrite.NoValue {
			return o, arg[2:], true, true
		}
	}
	return rewrite.Option{}, "", false, false
}
