package main

import (
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"reprise/rewrite"
	"reprise/test/conformance/suite"
	"reprise/test/harness"
	"reprise/test/realcli"

	"golang.org/x/sync/errgroup"
)

// A version of a tool that is installed.
type version struct{ tool, number, bin string }

// compare installs both versions, compares them, and tries the newer one with the shims if their directory is named.
func (p pair) compare(match *regexp.Regexp, shims string) report {
	r := report{tool: p.new.Tool, old: p.old.Version, new: p.new.Version}
	if p.why != nil {
		r.unknown = p.why
		return r
	}
	var both [2]version
	for i, pin := range []realcli.Pin{p.old, p.new} {
		bin, done, err := suite.Install(pin)
		if err != nil {
			r.unknown = fmt.Errorf("%s %s: %w", pin.Tool, pin.Version, err)
			return r
		}
		defer done()
		both[i] = version{pin.Tool, pin.Version, bin}
	}
	r.compare(both, slices.DeleteFunc(suite.Cases(r.tool), func(c suite.Case) bool { return c.Name == "help" || !match.MatchString(c.Name) }))
	if shims != "" {
		failures := suite.Try(r.tool, both[1].bin, shims).Failures()
		r.add("with the shim", true, failures)
		if failures == nil {
			r.add("with the shim", false, []string{"the core of the suite holds"})
		}
	}
	return r
}

// compare makes the calls with both versions. A call that differs is made once more: what differs then in another way is chance.
func (r *report) compare(both [2]version, cases []suite.Case) {
	var first, second [2]map[string]observed
	for i, v := range both {
		if first[i], r.unknown = v.play(cases); r.unknown != nil {
			return
		}
	}
	again := slices.DeleteFunc(slices.Clone(cases), func(c suite.Case) bool { return first[0][c.Name].same(first[1][c.Name]) })
	for i, v := range both {
		if second[i], r.unknown = v.play(again); r.unknown != nil {
			return
		}
	}
	var chance []string
	for _, kind := range []struct{ name, title string }{{"call", ""}, {"job", "resume: "}, {"notice", "notices: "}} {
		for _, aspect := range aspects {
			calls := map[string][]string{} // that show a difference
			for _, c := range again {
				a, b := aspect.of(first[0][c.Name]), aspect.of(first[1][c.Name])
				switch steady := a == aspect.of(second[0][c.Name]) && b == aspect.of(second[1][c.Name]); {
				case a == b || c.Kind != kind.name:
				case !steady:
					chance = append(chance, c.Name+": "+aspect.name)
				default:
					for _, difference := range aspect.differ(a, b) {
						calls[difference] = append(calls[difference], c.Name)
					}
				}
			}
			r.add(kind.title+aspect.name, true, listed(calls))
		}
	}
	r.add("differed in one of two runs only", false, chance)
	r.compareHelp(both)
	before, now := union(first[0]), union(first[1])
	for _, title := range slices.Sorted(maps.Keys(merged(before, now))) {
		r.addSets(title, before[title], now[title])
	}
}

// aspects are what is compared of each call by itself.
var aspects = [...]struct {
	name   string
	of     func(observed) string
	differ func(a, b string) []string
}{
	{"exit status", func(o observed) string { return o.exit }, func(a, b string) []string { return []string{a + ", now " + b} }},
	{"stdout", func(o observed) string { return o.stdout }, changedLines},
	{"stderr", func(o observed) string { return o.stderr }, changedLines},
	{"project's files", func(o observed) string { return o.files }, changedLines},
}

// play makes the calls with a version, some at a time, and returns what was seen, by name.
func (v version) play(cases []suite.Case) (map[string]observed, error) {
	seen := make([]observed, len(cases))
	var busy errgroup.Group
	busy.SetLimit(runtime.NumCPU() + 1)
	for i, c := range cases {
		busy.Go(func() (err error) {
			seen[i], err = v.observe(c)
			return err
		})
	}
	if err := busy.Wait(); err != nil {
		return nil, fmt.Errorf("%s %s: %w", v.tool, v.number, err)
	}
	all := map[string]observed{}
	for i, c := range cases {
		all[c.Name] = seen[i]
	}
	return all, nil
}

// observe makes the calls of one case in a world of its own, without the shim.
func (v version) observe(c suite.Case) (o observed, err error) {
	w, err := harness.New(v.tool, v.bin, "")
	if err != nil {
		return o, err
	}
	defer w.Close()
	o.sets = sets{}
	for _, call := range c.Calls {
		r, err := w.Run(call)
		if err != nil {
			return o, fmt.Errorf("%s: %w", c.Name, err)
		}
		o.add(v, w, r)
	}
	return o, o.addFiles(v, w)
}

// compareHelp compares what the tool says of its options. One that is gone matters.
func (r *report) compareHelp(both [2]version) {
	var options, text [2]set
	for i, v := range both {
		help, err := v.help()
		if err != nil {
			r.unknown = err
			return
		}
		options[i] = set{}
		for _, option := range option.FindAllString(help, -1) {
			options[i][option] = true
		}
		text[i] = entries(help)
	}
	r.addSets("options in --help", options[0], options[1])
	r.add("text of --help", false, changed(text[0], text[1]))
}

// beside is where the descriptions of options begin at the earliest.
const beside = 12

// entries returns what a help says of each option or command, in one line: the width of its columns changes with each longer option.
func entries(help string) set {
	all, entry := set{}, ""
	for line := range strings.Lines(help) {
		text := strings.TrimLeft(line, " ")
		if len(line)-len(text) < beside {
			all[entry], entry = true, ""
		}
		entry = strings.TrimSpace(entry + " " + strings.Join(strings.Fields(text), " "))
	}
	all[entry] = true
	return all
}

var option = regexp.MustCompile(`--[a-z][\w-]+`)

// help returns the help of the tool, and of the command that takes a prompt.
func (v version) help() (string, error) {
	tool, _ := rewrite.Lookup(v.tool)
	commands := [][]string{{"--help"}}
	if words := tool.Descriptor().Headless; len(words) > 1 && !strings.HasPrefix(words[1], "-") {
		commands = append(commands, []string{words[1], "--help"})
	}
	w, err := harness.New(v.tool, v.bin, "")
	if err != nil {
		return "", err
	}
	defer w.Close()
	var text strings.Builder
	for _, args := range commands {
		r, err := w.Run(harness.Call{Args: args})
		if err != nil {
			return "", err
		}
		text.WriteString(v.mask(w, r.Stdout+r.Stderr))
	}
	return text.String(), nil
}

// files returns the paths below a directory.
func files(dir string) (all []string, err error) {
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			all = append(all, path)
		}
		return err
	})
	return all, err
}
