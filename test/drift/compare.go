package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"reprise/rewrite"
	"reprise/test/conformance/suite"
	"reprise/test/harness"
	"reprise/test/markers"
	"reprise/test/realcli"

	"golang.org/x/sync/errgroup"
)

// A version of a tool that is installed.
type version struct{ tool, number, bin string }

// compare installs both versions, compares them, and tries the newer one with the shims if their
// directory is named.
func (p pair) compare(match *regexp.Regexp, shims string) report {
	r := report{tool: p.new.Tool, old: p.old.Version, new: p.new.Version}
	if r.unknown = p.why; p.why != nil {
		return r
	}
	if p.unbuilt {
		r.add("not tried", false, []string{"the registry does not have it for this platform"})
		return r
	}
	if _, calls := realcli.Pins[p.new.Tool]; !calls {
		r.unknown = r.try(p)
		return r
	}
	var both [2]version
	for i, pin := range []realcli.Pin{p.old, p.new} {
		bin, done, err := suite.Install(pin)
		if err != nil {
			err = fmt.Errorf("%s %s: %w", pin.Tool, pin.Version, err)
			if r.unknown = err; i == 1 && errors.Is(err, suite.ErrBroken) {
				r.unknown = nil
				r.add("no call", true, []string{err.Error()})
			}
			return r
		}
		defer done()
		both[i] = version{pin.Tool, pin.Version, bin}
	}
	r.compare(slices.DeleteFunc(suite.Cases(r.tool), func(c suite.Case) bool {
		return c.Name == "help" || !match.MatchString(c.Name)
	}),
		both[0].observe, both[1].observe)
	r.compareOptions(both)
	if shims != "" {
		failures := suite.Try(r.tool, both[1].bin, shims)
		r.add("with the shim", true, failures)
		if failures == nil {
			r.add("with the shim", false, []string{"the core of the suite holds"})
		}
	}
	return r
}

// try runs the jobs of kilo and the SDKs with the newer pin in the list.
func (r *report) try(p pair) error {
	before, err := os.ReadFile(list)
	if err = cmp.Or(err, p.pin()); err != nil {
		return err
	}
	jobs := exec.Command("go", "test", "-count=1", "-timeout=40m", "-run=SDK|AppServers|Kilo",
		"./test/jobs")
	jobs.Env = append(os.Environ(), "REPRISE_E2E=1")
	if said, err := jobs.CombinedOutput(); err != nil {
		r.add("jobs", true, strings.Split(strings.TrimSpace(string(said)), "\n"))
	} else {
		r.add("jobs", false, []string{"all pass"})
	}
	return os.WriteFile(list, before, 0o644)
}

// runs is how often a case that differs is made with each version: so each is compared with itself
// too. With three, a command that codex 0.169.0 and 0.171.0 show in one run of six was a
// difference.
const runs = 5

// A trial is the result of one case with the older version and the newer.
type trial struct {
	suite.Case
	of [2][]*seen
}

// compare makes the calls with both versions, some cases at a time, and reports the lines that each
// run of one version has and none of the other's.
func (r *report) compare(cases []suite.Case, older, newer func(suite.Case) *seen) {
	trials := make([]trial, len(cases))
	var busy errgroup.Group
	busy.SetLimit(runtime.NumCPU() + 1)
	for i, c := range cases {
		busy.Go(func() error {
			t := &trials[i]
			for t.Case = c; len(t.of[0]) < runs && (t.of[0] == nil || t.differs()); {
				t.of[0], t.of[1] = append(t.of[0], older(c)), append(t.of[1], newer(c))
			}
			return nil
		})
	}
	_ = busy.Wait() // none fails
	types, broken := set{}, set{}
	for i := range trials {
		r.failures(&trials[i], broken)
		for _, s := range trials[i].of[0] {
			for name := range strings.FieldsSeq(strings.Join(s.lines[order], " ")) {
				types.note(single(name), "")
			}
		}
	}
	r.addLines("no result", nil, broken)
	chance, moved := set{}, set{}
	for _, title := range aspects {
		gone, new := set{}, set{}
		for _, t := range trials {
			t.changed(title, types, gone, new, chance)
		}
		r.addLines(title, gone, new)
	}
	for _, t := range trials {
		t.moved(moved)
	}
	r.addLines("numbers", nil, moved)
	r.add("differs between runs of one version", false, slices.Sorted(maps.Keys(chance)))
	r.addTime(trials)
}

// A set holds lines, each with the calls that show it.
type set map[string][]string

func (s set) note(line, call string) { s[line] = append(s[line], call) }

// differs reports whether the latest runs differ.
func (t *trial) differs() bool {
	a, b := t.of[0][len(t.of[0])-1], t.of[1][len(t.of[1])-1]
	moved := set{}
	t.moved(moved)
	return a.failed != nil || b.failed != nil ||
		!maps.EqualFunc(a.lines, b.lines, slices.Equal[[]string]) || len(moved) > 0
}

// failures takes out the runs that could not be made. If only the newer version has none that
// could, that is a difference.
func (r *report) failures(t *trial, broken set) {
	var failed [2]error
	for i, all := range t.of {
		t.of[i] = slices.DeleteFunc(all, func(s *seen) bool {
			if s.failed != nil {
				failed[i] = s.failed
			}
			return s.failed != nil
		})
	}
	switch {
	case len(t.of[0]) == 0:
		r.unknown, t.of[1] = errors.Join(r.unknown, fmt.Errorf("%s: %w", t.Name, failed[0])), nil
	case len(t.of[1]) == 0:
		t.of[0] = nil
		broken.note(failed[1].Error(), t.Name)
	}
}

// changed notes the lines that each run of the older version has and none of the newer, and the
// reverse. Types of events that the older version never has are in no order.
func (t *trial) changed(title string, types, gone, new, chance set) {
	var counts [2]map[string]int
	texts := [2]set{{}, {}}
	for i, all := range t.of {
		counts[i] = map[string]int{}
		for _, s := range all {
			lines := slices.Clone(s.lines[title])
			for n, line := range lines {
				if title == order {
					names := slices.DeleteFunc(strings.Fields(line), func(name string) bool {
						return types[single(name)] == nil
					})
					lines[n] = strings.Join(names, " ")
				}
				counts[i][lines[n]]++
			}
			texts[i].note(strings.Join(lines, "\n"), "")
		}
	}
	same := true
	for i, to := range []set{gone, new} {
		for line, n := range counts[i] {
			switch {
			case n < len(t.of[i]):
				chance.note(t.Name+": "+title, "")
				same = false
			case counts[1-i][line] == 0:
				to.note(line, t.Name)
				same = false
			}
		}
	}
	for text := range texts[0] {
		if same && len(texts[0]) == 1 && texts[1][text] == nil {
			new.note("the same lines in another order", t.Name)
		}
	}
}

// single returns a type without its number in a row.
func single(name string) string {
	name, _, _ = strings.Cut(name, "*")
	return name
}

// moved notes the numbers that differ by more than a quarter, though each version's own are alike:
// another cost, or other totals.
func (t *trial) moved(lines set) {
	if len(t.of[0]) == 0 {
		return
	}
	for path := range t.of[0][0].numbers {
		var least, most [2]float64
		for i, all := range t.of {
			for n, s := range all {
				if value := s.numbers[path]; n == 0 || value < least[i] {
					least[i] = value
				}
				most[i] = max(most[i], s.numbers[path])
			}
		}
		steady := most[0] <= 1.1*least[0] && most[1] <= 1.1*least[1]
		switch _, still := t.of[1][0].numbers[path]; {
		case !steady || !still:
		case most[1] == 0 && least[0] > 0:
			lines.note(path+" is 0", t.Name)
		case least[1] > 1.25*most[0] || least[0] > 1.25*most[1]:
			lines.note(fmt.Sprintf("%s is %.1f times as much", path, least[1]/least[0]), t.Name)
		}
	}
}

// addTime lists by how much the newer version is slower, unless that is little: a machine is never
// quiet.
func (r *report) addTime(trials []trial) {
	var all []time.Duration
	for _, t := range trials {
		if len(t.of[0]) > 0 {
			all = append(all, t.of[1][0].took-t.of[0][0].took)
		}
	}
	if len(all) > 0 && harness.Median(all) > 200*time.Millisecond {
		r.add("time", false, []string{fmt.Sprintf("half of the calls take %v more, or longer",
			harness.Median(all).Round(100*time.Millisecond))})
	}
}

var option = regexp.MustCompile(`--[a-z][\w-]+`)

// compareOptions compares the options in the help of the tool, and of the command that takes a
// prompt.
func (r *report) compareOptions(both [2]version) {
	tool, _ := rewrite.Lookup(r.tool)
	commands := [][]string{{"--help"}}
	if words := tool.Descriptor().HelpArgs(); len(words) > 1 {
		commands = append(commands, words)
	}
	in := [2]set{{}, {}}
	for i, v := range both {
		for _, args := range commands {
			w, err := harness.New(v.tool, v.bin, "", markers.Options{})
			if err != nil {
				r.unknown = errors.Join(r.unknown, err)
				return
			}
			said, err := w.Run(harness.Call{Args: args})
			r.unknown = errors.Join(r.unknown, err, w.Close())
			for _, name := range option.FindAllString(said.Stdout+said.Stderr, -1) {
				in[i].note(name, strings.Join(args, " "))
			}
		}
	}
	gone, new := maps.Clone(in[0]), maps.Clone(in[1])
	maps.DeleteFunc(gone, func(name string, _ []string) bool { return in[1][name] != nil })
	maps.DeleteFunc(new, func(name string, _ []string) bool { return in[0][name] != nil })
	r.addLines("options", gone, new)
}
