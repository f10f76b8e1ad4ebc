package grammar

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"reprise/rewrite"
)

// helpOption matches a line of --help that describes an option, as commander, clap, yargs and argparse print it: the
// names, and the value in brackets.
var helpOption = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^ {1,8}(-[A-Za-z0-9](?:, | ))?(--[A-Za-z0-9][-A-Za-z0-9]*)(, --[A-Za-z0-9][-A-Za-z0-9]*)?( ?=?[<\[][^>\]]*[>\]](?:\.\.\.)?)?`)
})

// parseHelp returns the options that a help text lists.
func parseHelp(help string) []rewrite.Option {
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
		case value == "":
		case strings.Contains(value, "..."):
			o.Arity = rewrite.ManyValues
		case strings.HasPrefix(value, "["):
			o.Arity = rewrite.OptionalValue
		default:
			o.Arity = rewrite.OneValue
		}
		options = append(options, o)
	}
	return options
}

// ReadProbe reads a help text: it is the one that is wanted if it lists the option known, and the version can resume if
// it lists all the others.
func ReadProbe(help, known string, resume ...string) rewrite.Probe {
	return probe(parseHelp(help), known, resume...)
}

func probe(options []rewrite.Option, known string, resume ...string) rewrite.Probe {
	lacks := func(name string) bool {
		return !slices.ContainsFunc(options, func(o rewrite.Option) bool { return slices.Contains(o.Names, name) })
	}
	return rewrite.Probe{Known: !lacks(known), Resume: !slices.ContainsFunc(resume, lacks), Options: options}
}

// YargsProbe reads yargs' help, which names the kind of a value at the end of an option's line.
func YargsProbe(help, known, resume string) rewrite.Probe {
	var options []rewrite.Option
	for line := range strings.Lines(help) {
		for _, o := range parseHelp(line) {
			switch {
			case strings.Contains(line, "[string]"), strings.Contains(line, "[number]"):
				o.Arity = rewrite.OneValue
			case strings.Contains(line, "[array]"):
				o.Arity = rewrite.ManyValues
			}
			options = append(options, o)
		}
	}
	return probe(options, known, resume)
}
