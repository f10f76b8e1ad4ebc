// Command frames measures how much longer a caller that speaks stream-json waits for the first word of
// an answer, with the real claude and a stand-in for its model: without the shim, fresh, and resumed.
// Each round makes all calls, in shuffled order. It needs npm once. With -instant a tool that takes no time
// stands in for claude, so that milliseconds can be seen on a busy machine.
//
// The same program, under claude's name, is that tool.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"reprise/test/harness"
	"reprise/test/realcli"
)

func main() {
	if filepath.Base(os.Args[0]) == "claude" {
		instant()
		return
	}
	noTime := flag.Bool("instant", false, "measure with a tool that takes no time")
	rounds := flag.Int("rounds", 10, "how many `rounds` to measure")
	talks := flag.String("talk", "", "be a caller with this `prompt`, and print what it has waited")
	waits := flag.Bool("wait", false, "as a caller, wait for the answer to initialize")
	flag.Parse()
	err := error(nil)
	if *talks != "" {
		err = call(*talks, *waits)
	} else {
		err = run(*rounds, *noTime)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// call is a caller. It prints how many milliseconds it has waited for the first control_response and for
// the first assistant frame.
func call(prompt string, waits bool) error {
	cmd := exec.Command("claude", "--output-format", "stream-json", "--verbose", "--input-format", "stream-json")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	out := bufio.NewScanner(stdout)
	out.Buffer(nil, 32<<20)
	began := time.Now()
	until := func(kind string) float64 {
		for out.Scan() {
			var f struct{ Type string }
			if json.Unmarshal(out.Bytes(), &f) == nil && f.Type == kind {
				break
			}
		}
		return float64(time.Since(began).Microseconds()) / 1000
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	_, _ = io.WriteString(in, `{"type":"control_request","request_id":"a","request":{"subtype":"initialize"}}`+"\n")
	answered := 0.0
	if waits {
		answered = until("control_response")
	}
	text, err := json.Marshal(prompt)
	if err != nil {
		return err
	}
	fmt.Fprintf(in, `{"type":"user","session_id":"","message":{"role":"user","content":%s}}`+"\n", text)
	fmt.Println(answered, until("assistant"))
	until("result")
	in.Close()
	for out.Scan() { // the end of the run is no part of the measurement
	}
	return cmd.Wait()
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
	shims := filepath.Join(dir, "shims")
	if err := os.Mkdir(shims, 0o755); err != nil {
		return err
	}
	if err := harness.Build(shims); err != nil {
		return err
	}
	real, err := tool(dir, noTime)
	if err != nil {
		return err
	}
	worlds := map[string]*harness.World{}
	for _, kind := range kinds {
		with, root := shims, filepath.Join(dir, kind)
		if kind == "direct" {
			with = ""
		}
		if err := os.Mkdir(root, 0o755); err != nil {
			return err
		}
		if worlds[kind], err = harness.New(root, "claude", real, with); err != nil {
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

// tool returns the directory of the tool that is measured with.
func tool(dir string, noTime bool) (string, error) {
	if !noTime {
		return realcli.Install(realcli.Pins["claude"])
	}
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	real := filepath.Join(dir, "real")
	return real, errors.Join(os.Mkdir(real, 0o755), os.Symlink(self, filepath.Join(real, "claude")))
}

// instant is a claude that answers at once.
func instant() {
	id := fmt.Sprintf("00000000-0000-4000-8000-%012d", time.Now().UnixNano()%1e12)
	if i := slices.Index(os.Args, "--resume"); i >= 0 {
		id = os.Args[i+1]
	}
	session := filepath.Join(os.Getenv("HOME"), ".claude/projects/x", id+".jsonl")
	_ = os.MkdirAll(filepath.Dir(session), 0o700) // without it nothing is resumed, which is reported
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		if !strings.Contains(in.Text(), `"type":"user"`) {
			fmt.Println(`{"type":"control_response","response":{"subtype":"success","request_id":"a","response":{}}}`)
			continue
		}
		_ = os.WriteFile(session, in.Bytes(), 0o600) // likewise
		fmt.Printf(`{"type":"assistant","message":{"model":"m","content":[{"type":"text","text":"ok"}]},"session_id":%q}`+"\n", id)
		fmt.Printf(`{"type":"result","subtype":"success","is_error":false,"result":"ok","session_id":%q}`+"\n", id)
	}
}

// measure makes the calls of one caller. Two rounds before the first fill caches, and leave a session
// to resume.
func measure(worlds map[string]*harness.World, rounds int, waits bool) (map[string]*sample, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	all := map[string]*sample{}
	for round := -2; round < rounds; round++ {
		for _, i := range rand.Perm(len(kinds)) {
			kind := kinds[i]
			task := fmt.Sprintf("job, waits %v", waits)
			if kind == "fresh" {
				task += fmt.Sprint(", round ", round)
			}
			r, err := worlds[kind].RunAs(self, harness.Call{
				Args: []string{"-wait=" + strconv.FormatBool(waits), "-talk", fmt.Sprint("You are the coder.\n\nKeep it small.\n\nFix the case of number ", round)},
				Env:  []string{"REPRISE_TASK=" + task, "REPRISE_ROLE=coder"},
			})
			if err != nil {
				return nil, err
			}
			var answered, first float64
			if _, err := fmt.Sscan(r.Stdout, &answered, &first); err != nil || r.Exit != 0 {
				return nil, fmt.Errorf("%s call: exit %d, stdout %q, stderr %q", kind, r.Exit, r.Stdout, r.Stderr)
			}
			if round >= 0 {
				if all[kind] == nil {
					all[kind] = &sample{}
				}
				all[kind].answered, all[kind].first = append(all[kind].answered, answered), append(all[kind].first, first)
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
			slices.Min(s.first)-slices.Min(direct.first), median(s.first), median(less(s.first, direct.first)))
	}
	if waits {
		fmt.Printf("  a start: initialize is answered after %.0f ms at best, median %.0f\n", slices.Min(direct.answered), median(direct.answered))
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

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
