package grammar

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"reprise/rewrite"
)

// helpOption matches a line of --help that describes an option, as commander, clap, yargs and
// argparse print it: the names, and the value in brackets.
var helpOption = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`^ {1,8}(-[A-Za-z0-9](?:, | ))?(--[A-Za-z0-9][-A-Za-z0-9]*)(, --[A-Za-z0-9][-A-Za-z0-9]*)?( ?=?[<\[][^>\]]*[>\]](?:\.\.\.)?)?`)
})

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
