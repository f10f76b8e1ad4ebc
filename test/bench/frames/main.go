// Command frames measures how much longer a caller that speaks stream-json waits for the first word of
// an answer, with the real claude and a stand-in for its model: without the shim, fresh, and resumed.
// Each round makes all calls, in shuffled order. It needs npm once. With -instant the player, which takes no time,
// stands in for claude, so that milliseconds can be seen on a busy machine.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"reprise/test/harness"
	"reprise/test/player"
	"reprise/test/realcli"
)

func main() {
	noTime := flag.Bool("instant", false, "measure with a tool that takes no time")
	rounds := flag.Int("rounds", 10, "how many `rounds` to measure")
	flag.Parse()
	if err := run(*rounds, *noTime); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// A caller is one call, and how many milliseconds it has waited for the first control_response and for the first
// assistant frame.
type caller struct {
	prompt          string
	waits           bool // for the answer to initialize
	answered, first float64
}

func (c *caller) talk(in io.WriteCloser, stdout io.Reader) {
	began := time.Now()
	out := bufio.NewScanner(stdout)
	out.Buffer(nil, 32<<20)
	until := func(kind string) float64 {
		for out.Scan() {
			var f struct{ Type string }
			if json.Unmarshal(out.Bytes(), &f) == nil && f.Type == kind {
				return float64(time.Since(began).Microseconds()) / 1000
			}
		}
		return 0
	}
	_, _ = io.WriteString(in, `{"type":"control_request","request_id":"a","request":{"subtype":"initialize"}}`+"\n")
	if c.waits {
		c.answered = until("control_response")
	}
	fmt.Fprintf(in, `{"type":"user","session_id":"","message":{"role":"user","content":%q}}`+"\n", c.prompt)
	c.first = until("assistant")
	until("result")
	in.Close()
	until("") // the end of the run is no part of the measurement
}

// kinds are what is measured of each caller, the direct call first.
var kinds = []string{"direct", "fresh", "resumed"}

// A sample is what a kind of call has waited in each round, in milliseconds.
type sample struct{ answered, first []float64 }

func run(rounds int, noTime bool) error {
	dir, err := os.MkdirTemp("", "reprise-frames-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	shims, real := filepath.Join(dir, "shims"), filepath.Join(dir, "real")
	if err := harness.Build(shims); err != nil {
		return err
	}
	if noTime {
		err = player.Build(filepath.Join(real, "claude"))
	} else {
		real, err = realcli.Install(realcli.Pins["claude"])
	}
	if err != nil {
		return err
	}
	worlds := map[string]*harness.World{}
	for _, kind := range kinds {
		with := shims
		if kind == "direct" {
			with = ""
		}
		if worlds[kind], err = harness.New("claude", real, with); err != nil {
			return err
		}
		defer worlds[kind].Close()
	}
	for _, waits := range []bool{false, true} {
		all, err := measure(worlds, rounds, waits)
		if err != nil {
			return err
		}
		report(all, waits)
	}
	return nil
}

// measure makes the calls of one caller. Two rounds before the first fill caches, and leave a session
// to resume.
func measure(worlds map[string]*harness.World, rounds int, waits bool) (map[string]*sample, error) {
	all := map[string]*sample{}
	for round := -2; round < rounds; round++ {
		for _, i := range rand.Perm(len(kinds)) {
			kind := kinds[i]
			task := fmt.Sprintf("job, waits %v", waits)
			if kind == "fresh" {
				task += fmt.Sprint(", round ", round)
			}
			c := caller{prompt: fmt.Sprint("You are the coder.\n\nKeep it small.\n\nFix the case of number ", round), waits: waits}
			r, err := worlds[kind].Run(harness.Call{
				Args: []string{"--output-format", "stream-json", "--verbose", "--input-format", "stream-json"},
				Env:  []string{"REPRISE_TASK=" + task, "REPRISE_ROLE=coder"}, Talk: c.talk,
			})
			if err != nil {
				return nil, err
			}
			if r.Exit != 0 || c.first == 0 {
				return nil, fmt.Errorf("%s call: exit %d, stdout %q, stderr %q", kind, r.Exit, r.Stdout, r.Stderr)
			}
			if round >= 0 {
				if all[kind] == nil {
					all[kind] = &sample{}
				}
				all[kind].answered, all[kind].first = append(all[kind].answered, c.answered), append(all[kind].first, c.first)
			}
		}
	}
	log, err := worlds["resumed"].RunAs("shimctl", harness.Call{Args: []string{"log", "-n", strconv.Itoa(rounds)}})
	if n := strings.Count(log.Stdout, "\tresume: ") + strings.Count(log.Stdout, "\tfork: "); err == nil && n != rounds {
		err = fmt.Errorf("only %d of %d calls were resumed:\n%s", n, rounds, log.Stdout)
	}
	return all, err
}

func report(all map[string]*sample, waits bool) {
	fmt.Println(map[bool]string{false: "a caller that sends its message at once", true: "a caller that waits for the answer to initialize"}[waits])
	direct := all["direct"]
	for _, kind := range kinds {
		s := all[kind]
		fmt.Printf("  %-8s first answer after %6.1f ms at best (%+.1f), median %6.1f (%+.1f in the same round)\n", kind, slices.Min(s.first),
			slices.Min(s.first)-slices.Min(direct.first), harness.Median(s.first), harness.Median(less(s.first, direct.first)))
	}
	if waits {
		fmt.Printf("  a start: initialize is answered after %.0f ms at best, median %.0f\n", slices.Min(direct.answered), harness.Median(direct.answered))
	}
}

// less returns the differences of each round.
func less(a, b []float64) []float64 {
	d := make([]float64, len(a))
	for i := range a {
		d[i] = a[i] - b[i]
	}
	return d
}
