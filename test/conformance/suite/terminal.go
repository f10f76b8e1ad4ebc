package suite

import (
	"slices"

	"reprise/rewrite"
	"reprise/rewrite/reason"
	"reprise/test/harness"
)

// atTerminal is behind the name of a scenario that takes place at a terminal.
const atTerminal = ", at a terminal"

// jobControl is a shell that goes on with its job when that has been stopped.
const jobControl = `set -m; (exec -a "${0##*/}" "$0" "$@"); status=$?; [ $status -le 128 ] || { fg; status=$?; }; exit $status`

// terminals are calls with output to a terminal: the calls of all other scenarios that are headless
// there, and actions of people at a terminal.
func (c cli) terminals(tool string) (all []scenario) {
	add := func(slow bool, name string, calls ...call) {
		s := scenario{name: name + atTerminal, slow: slow}
		for _, one := range calls {
			if !headlessAtTerminal(tool, one) {
				return
			}
			if one.To == harness.Reader {
				one.To = harness.Screen
			}
			s.racy = s.racy || one.Typed == "\x03" // see signals
			s.calls = append(s.calls, one)
		}
		all = append(all, s)
	}
	for name, one := range c.single() {
		add(c.modest && !slices.Contains(c.managed(), name) && !slices.Contains(passed, name), name,
			one)
	}
	for name, calls := range c.conversations() {
		add(c.modest, name, calls...)
	}
	for _, f := range c.some() {
		add(false, "stdout alone, "+f.name, call{Args: c.ask(f, "hi remember number 5"),
			To: harness.ScreenOut})
		add(false, "5 MB answer, "+f.name, call{Args: c.ask(f, "BIG5MB")})
	}
	add(false, "resize", call{Args: c.ask(c.text(), "SLOW"), Size: 100, At: harness.Middle})
	add(false, "Ctrl-Z and fg", call{Args: c.ask(c.text(), "SLOW"), Typed: "\x1a",
		At: harness.Middle, Around: jobControl})
	add(false, "Ctrl-C", call{Args: c.ask(c.text(), c.pause), Typed: "\x03", At: harness.Middle})
	return all
}

// headlessAtTerminal reports whether a call is headless also if its output goes to a terminal.
func headlessAtTerminal(tool string, c call) bool {
	t, _ := rewrite.Lookup(tool)
	parsed := t.Parse(rewrite.Input{
		Args: c.Args, Env: func(string) string { return "" },
		StdinTTY: c.Stdin == "" && c.From == harness.Pipe, StdoutTTY: true,
	})
	return parsed.Reason != reason.Interactive
}
