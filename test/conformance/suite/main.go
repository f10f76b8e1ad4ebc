// Package suite runs the real CLIs against a stand-in for their models, each call with and
// without the shim, in two equal homes, and compares everything that caller and model see. Apart
// from the download of the CLIs, it stays on this machine.
//
// test/harness/differences.go lists the allowed differences, with the reasons.
package suite

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime"
	"slices"
	"sync"

	"reprise/test/harness"
	"reprise/test/realcli"
	"reprise/test/toolbox"

	"golang.org/x/sync/errgroup"
)

// parallel is how many scenarios run at a time: some of them only wait.
var parallel = runtime.NumCPU() + 1

// Main is the command test/conformance.
func Main() {
	var o options
	flag.StringVar(&o.tool, "tool", "", "run the scenarios of this `tool` only")
	flag.StringVar(&o.run, "run", "", "run the scenarios, with -matrix the versions, that match "+
		"this `regexp` only")
	flag.Uint64Var(&o.seed, "seed", 0,
		"draw what is drawn by chance by this `number`; 0 for another one each time")
	flag.BoolVar(&o.sample, "sample", false,
		"run a part of the scenarios, drawn by chance: one of each kind of one tool, and one "+
			"scenario of each other tool")
	flag.BoolVar(&o.matrix, "matrix", false,
		"run a few scenarios with many versions of each tool, and print a table in Markdown")
	flag.Parse()
	// a shell that runs us in the background makes us ignore some, and the tools would inherit that
	toolbox.RestoreSignals()
	if err := o.main(); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

type options struct {
	tool, run      string
	sample, matrix bool
	seed           uint64
}

func (o options) main() error {
	tools := slices.Sorted(maps.Keys(clis))
	if o.tool != "" {
		if _, ok := clis[o.tool]; !ok {
			return fmt.Errorf("no scenarios for the tool %q", o.tool)
		}
		tools = []string{o.tool}
	}
	shims, err := os.MkdirTemp("", "reprise-conformance-shims-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(shims)
	if err := harness.Build(shims); err != nil {
		return err
	}
	if o.seed == 0 {
		o.seed = rand.Uint64N(1e9) + 1
	}
	if o.matrix {
		return runMatrix(tools, shims, o.run)
	}
	return o.suite(tools, shims)
}

// suite runs all scenarios of the tools.
func (o options) suite(tools []string, shims string) error {
	all, err := o.chosen(tools)
	if err != nil {
		return err
	}
	real := map[string]string{}
	for _, tool := range tools {
		if real[tool], err = realcli.Install(realcli.Pins[tool]); err != nil {
			return err
		}
	}
	fmt.Println("seed", o.seed)
	failed := 0
	stage{real, shims}.judgeAll(all, func(v verdict) {
		v.print()
		if v.failed {
			failed++
		}
	})
	fmt.Printf("%d passed, %d failed\n", len(all)-failed, failed)
	if failed > 0 {
		return errors.New("the shim can be noticed")
	}
	return nil
}

// chosen returns the selected scenarios in the order of their names.
func (o options) chosen(tools []string) ([]scenario, error) {
	match, err := regexp.Compile(o.run)
	if err != nil {
		return nil, err
	}
	var all []scenario
	for _, tool := range tools {
		all = append(all, clis[tool].scenarios(tool, o.seed)...)
	}
	all = slices.DeleteFunc(all, func(s scenario) bool { return !match.MatchString(s.name) })
	if len(all) == 0 {
		return nil, fmt.Errorf("no scenario matches %q", o.run)
	}
	if o.sample {
		all = sample(all, o.seed)
	}
	slices.SortFunc(all, func(a, b scenario) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.tool, b.tool))
	})
	return all, nil
}

// sample draws a scenario of each kind. The tools take turns, so that each has at least one; a tool
// that starts slowly takes every third turn.
func sample(all []scenario, seed uint64) (drawn []scenario) {
	all = slices.DeleteFunc(slices.Clone(all), func(s scenario) bool { return s.slow })
	slices.SortFunc(all, func(a, b scenario) int {
		return cmp.Or(cmp.Compare(a.tool, b.tool), cmp.Compare(a.name, b.name))
	})
	dice := harness.Dice(seed, "sample")
	dice.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	has, turns := map[string]bool{}, map[string]int{}
	for _, first := range all {
		if has[first.kind] {
			continue
		}
		same := slices.DeleteFunc(slices.Clone(all), func(s scenario) bool {
			return s.kind != first.kind
		})
		s := slices.MinFunc(same, func(a, b scenario) int { return turns[a.tool] - turns[b.tool] })
		drawn, has[s.kind] = append(drawn, s), true
		if turns[s.tool]++; clis[s.tool].modest {
			turns[s.tool] += 2
		}
	}
	return drawn
}

// judgeAll judges several scenarios at a time, and timed ones one by one. It repeats each that
// differs alone at the end: a fault of the shim persists, an effect of the busy machine does not.
func (st stage) judgeAll(all []scenario, report func(verdict)) {
	var again []scenario
	var mu sync.Mutex
	try := func(s scenario) {
		v := st.judge(s)
		mu.Lock()
		defer mu.Unlock()
		if v.failed {
			again = append(again, s)
		} else {
			report(v)
		}
	}
	var busy errgroup.Group
	busy.SetLimit(parallel)
	for _, s := range all {
		if !s.timed {
			busy.Go(func() error { try(s); return nil })
		}
	}
	_ = busy.Wait() // none fails
	for _, s := range all {
		if s.timed {
			try(s)
		}
	}
	for _, s := range again {
		report(st.judge(s))
	}
}
