package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"reprise/internal/standin"
	"reprise/test/harness"
	"reprise/test/realcli"
)

// versions are those of the matrix, spread over a year. Each tool's pin follows, and a newer one if there is one.
var versions = map[string][]string{
	"claude":   {"2.0.76", "2.1.100", "2.1.197", "2.1.257", "2.1.290", "2.1.310"},
	"codex":    {"0.58.0", "0.80.0", "0.104.0", "0.125.0", "0.142.0", "0.154.0"},
	"copilot":  {"1.0.80", "1.0.83", "1.0.92"},
	"droid":    {"0.99.0", "0.109.3", "0.215.0"},
	"gemini":   {"0.19.1", "0.33.0", "0.45.2", "0.54.4"},
	"qwen":     {"0.15.10", "0.23.4"},
	"vibe":     {"2.14.1", "2.18.4", "2.22.0", "2.23.3", "2.25.8", "2.26.1"},
	"opencode": {"1.15.13", "1.17.0", "1.18.3"},
}

// runMatrix tries the matching versions one by one and prints what works with each.
func runMatrix(tools []string, shims, run string) error {
	match, err := regexp.Compile(run)
	if err != nil {
		return err
	}
	fmt.Printf("Run on %s, %s/%s.\n\n", time.Now().Format(time.DateOnly), runtime.GOOS, runtime.GOARCH)
	fmt.Println("| tool | version | passed through | managed, fresh | notices | places | resume |")
	fmt.Println("| --- | --- | --- | --- | --- | --- | --- |")
	for _, tool := range tools {
		var news changes
		for _, version := range tried(tool) {
			if !match.MatchString(version) {
				continue
			}
			if err := tryVersion(tool, version, shims, &news); err != nil {
				return err
			}
		}
		news.print()
	}
	return nil
}

// tried returns the versions of a tool that the matrix tries, the oldest first.
func tried(tool string) []string {
	all := append(slices.Clone(versions[tool]), realcli.Pins[tool].Version)
	if newest, ok := realcli.Newest[tool]; ok {
		all = append(all, newest.Version)
	}
	return all
}

// tryVersion prints a version's row. It removes what it installs for that.
func tryVersion(tool, version, shims string, news *changes) error {
	pin := realcli.Pins[tool]
	pin.Version = version
	folder, err := os.MkdirTemp("", "reprise-matrix-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	bin, err := realcli.InstallIn(folder, pin)
	if err != nil {
		fmt.Printf("| %s | %s | cannot be installed | | | | |\n", tool, version)
		return nil
	}
	st := stage{real: bin, shims: shims}
	if why := st.broken(tool); why != "" {
		fmt.Printf("| %s | %s | does not run here: %s | | | | |\n", tool, version, why)
		return nil
	}
	c := clis[tool]
	asking := news.count(tool, version, installation(bin))
	fmt.Printf("| %s | %s | %s | %s | %s | %s | %s |\n", tool, version, st.tally(c.named(tool, c.passed)), st.tally(c.named(tool, c.managed)),
		st.tally(c.notices(tool)), asking, st.resumes(tool))
	return nil
}

// broken returns why a version does not answer without the shim.
func (st stage) broken(tool string) string {
	w, done, err := st.lone(tool, "")
	if err != nil {
		return err.Error()
	}
	defer done()
	c := clis[tool]
	r, err := w.Run(call{Args: c.ask(c.text(), "remember number 4711")})
	switch {
	case err != nil:
		return err.Error()
	case !strings.Contains(r.Stdout, "Got it: 4711."):
		return cell(fmt.Sprintf("exit %d, %s", r.Exit, lastLine(r.Stderr+r.Stdout)))
	}
	return ""
}

// lone creates a world of its own.
func (st stage) lone(tool, shims string) (w *harness.World, done func(), err error) {
	root, err := os.MkdirTemp("", "reprise-matrix-")
	if err != nil {
		return nil, nil, err
	}
	if w, err = st.world(filepath.Join(root, "a"), tool, shims); err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(root))
	}
	return w, func() { w.Close(); os.RemoveAll(root) }, nil
}

// named returns the tool's own calls with these names.
func (c cli) named(tool string, names []string) (all []scenario) {
	for _, name := range names {
		all = append(all, scenario{tool: tool, name: name, calls: []call{c.own[name]}})
	}
	return all
}

// tally plays scenarios and names those in which the shim is noticeable. They may be repeated:
// claude 2.0.76 may or may not count in its result what it asks other models at the same time.
func (st stage) tally(all []scenario) string {
	var noticed []string
	for i := range all {
		all[i].racy = true
	}
	for v := range verdicts(all, st.judge) {
		if v.failed {
			noticed = append(noticed, v.name)
			fmt.Fprintf(os.Stderr, "%s %s: %s\n", v.tool, v.name, strings.Join(v.detail, "\n"))
		}
	}
	if len(noticed) == 0 {
		return "ok"
	}
	slices.Sort(noticed)
	return fmt.Sprintf("%d of %d: not %s", len(all)-len(noticed), len(all), strings.Join(noticed, "; "))
}

// resumes plays two rounds of a job. It reports whether the second one resumed the session of the
// first, or why not.
func (st stage) resumes(tool string) string {
	w, done, err := st.lone(tool, st.shims)
	if err != nil {
		return cell(err.Error())
	}
	defer done()
	c := clis[tool]
	var r harness.Result
	var args []string
	for _, prompt := range []string{harness.Round(), harness.Round("what number was it?")} {
		args = c.ask(c.text(), prompt)
		if r, err = w.Run(call{Args: args}); err != nil {
			return cell(err.Error())
		}
	}
	if strings.TrimSpace(r.Stdout) != "4711" || len(r.Asked) == 0 {
		return cell(fmt.Sprintf("the answer is %q", r.Stdout))
	}
	last := r.Asked[len(r.Asked)-1]
	if !strings.Contains(standin.LastUser(last), "Rule 7:") && strings.Contains(standin.AllText(last), "Rule 7:") {
		return "yes"
	}
	return "no: " + why(w, args)
}

// why returns the last decision in the ledger; there is none for a call that was passed through.
func why(w *harness.World, args []string) string {
	var status struct {
		Chains []struct{ Last decision }
	}
	if err := ask(w, list("status|--json"), &status); err != nil {
		return cell(err.Error())
	}
	if len(status.Chains) > 0 {
		return status.Chains[0].Last.String()
	}
	var d decision
	if err := ask(w, append(list("explain|--json|--|"+w.Tool), args...), &d); err != nil {
		return cell(err.Error())
	}
	return d.String()
}

type decision struct{ Mode, Reason string }

func (d decision) String() string { return fmt.Sprintf("%s, `%s`", d.Mode, d.Reason) }

// ask parses what shimctl prints.
func ask(w *harness.World, args []string, answer any) error {
	r, err := w.RunAs("shimctl", call{Args: args})
	if err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(r.Stdout), answer); err != nil {
		return fmt.Errorf("read shimctl %s: %w", args[0], err)
	}
	return nil
}

// cell makes a text fit into a table.
func cell(text string) string {
	text = strings.Join(strings.Fields(strings.ReplaceAll(text, "|", "/")), " ")
	return text[:min(len(text), 200)]
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}
