package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"reprise/internal/demo"
	"reprise/internal/standin"
	"reprise/test/harness"
	"reprise/test/realcli"
)

const (
	losingJobs   = 14
	losingRounds = 3
)

// loses plays jobs in which resuming costs more than it saves: the first call reads a lot, the next
// ones need nothing of it, and each finds the provider's cache expired. Half of the jobs are held
// out, so that the shim has something to compare with. It prints how the shim reacts.
func loses(shims string) error {
	real, err := realcli.Install(realcli.Claude)
	if err != nil {
		return err
	}
	root, err := os.MkdirTemp("", "reprise-savings-")
	if err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	defer os.RemoveAll(root)
	w, err := harness.NewWith(root, "claude", real, shims, standin.Options{Reply: demo.Agent})
	if err != nil {
		return err
	}
	defer w.Close()
	if err := demo.WriteProject(w.Project); err != nil {
		return err
	}
	if err := w.Configure("rollout = 0.5\nunrelated = \"resume\"\n"); err != nil {
		return err
	}
	costs := map[string]*cost{}
	var order []string
	for job := range losingJobs {
		for round := range losingRounds {
			w.Model.ForgetCache()
			var one cost
			call := harness.Call{Env: []string{fmt.Sprintf("REPRISE_TASK=errand-%d", job), "REPRISE_ROLE=agent"}}
			_, decision, err := one.call(w, call, errand(round))
			if err != nil {
				return fmt.Errorf("a job in which resuming loses: %w", err)
			}
			order = append(order, decision)
			if round > 0 {
				add(costs, decision, one)
			}
		}
	}
	fmt.Printf("\nWhere resuming loses (%d jobs of %d calls, the first reads a lot, the cache is always cold, rollout = 0.5):\n",
		losingJobs, losingRounds)
	for _, decision := range slices.Sorted(maps.Keys(costs)) {
		c := costs[decision]
		fmt.Printf("  %-24s %3d calls, %6d tokens each that no cache had\n", decision, c.calls, c.added()/c.calls)
	}
	for i, decision := range order {
		if strings.Contains(decision, "dearer") {
			fmt.Printf("  from call %d on resuming is suspended: %s\n", i+1, decision)
			return nil
		}
	}
	return fmt.Errorf("resuming lost in %d calls, and was not suspended", len(order))
}

func add(costs map[string]*cost, decision string, one cost) {
	c := costs[decision]
	if c == nil {
		c = &cost{}
		costs[decision] = c
	}
	c.calls += one.calls
	c.tokens.Add(one.tokens)
}

// errand returns the prompt of a round: in the first the agent reads, the others request something
// unrelated.
func errand(round int) string {
	if round == 0 {
		return openings["reviewer"] + "\n\nRead these first:\n" + files + "\n" + standards(200)
	}
	return fmt.Sprintf("Say in one word that errand %d is done.\n", round)
}
