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
	slow := false
	add := func(name string, shown func(harness.Result) string, calls ...call) {
		calls = slices.Clone(calls)
		for i := range calls {
			if !headlessAtTerminal(tool, calls[i]) {
				return
			}
			if calls[i].To == harness.Reader {
				calls[i].To = harness.Screen
			}
		}
		all = append(all, scenario{name: name + atTerminal, calls: calls, shown: shown, slow: slow})
	}
	for name, one := range c.single() {
		slow = c.modest && !slices.Contains(c.managed(), name) && !slices.Contains(passed, name)
		add(name, nil, one)
	}
	for name, calls := range c.conversations() {
		slow = c.modest
		add(name, nil, calls...)
	}
	slow = false
	for _, f := range c.some() {
		add("stdout alone, "+f.name, nil, call{Args: c.ask(f, "hi remember number 5"),
			To: harness.ScreenOut})
		add("5 MB answer, "+f.name, nil, call{Args: c.ask(f, "BIG5MB")})
	}
	add("resize", nil, call{Args: c.ask(c.text(), "SLOW"), Size: 100, At: harness.Middle})
	add("Ctrl-Z and fg", nil, call{Args: c.ask(c.text(), "SLOW"), Typed: "\x1a", At: harness.Middle,
		Around: jobControl})
	add("Ctrl-C", nil, call{Args: c.ask(c.text(), c.pause), Typed: "\x03", At: harness.Middle})
	all[len(all)-1].racy = true // see signals
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
