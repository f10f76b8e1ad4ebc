package suite

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"reprise/internal/standin"
	"reprise/internal/tested"
	"reprise/test/harness"
	"reprise/test/realcli"
)

// runMatrix tries the matching versions of internal/tested/tested.json one by one and prints the
// features that work with each.
func runMatrix(tools []string, shims, run string) error {
	match, err := regexp.Compile(run)
	if err != nil {
		return err
	}
	fmt.Printf("Run on %s, %s/%s.\n\n", time.Now().Format(time.DateOnly), runtime.GOOS,
		runtime.GOARCH)
	fmt.Println("| tool | version | passed through | managed, fresh | notices | resume |")
	fmt.Println("| --- | --- | --- | --- | --- | --- |")
	for _, tool := range tools {
		for _, row := range tested.BuiltIn().Tool(tool).Rows() {
			if !match.MatchString(row.Version) {
				continue
			}
			var r Row
			if bin, done, err := Install(realcli.Pins[tool].At(row.Version)); err != nil {
				r.PassedThrough = cell(err.Error())
			} else {
				r = Try(tool, bin, shims)
				done()
			}
			fmt.Printf("| %s | %s | %s | %s | %s | %s |\n", tool, row.Version, r.PassedThrough,
				r.Fresh, r.Notices, r.Resumes)
		}
	}
	return nil
}

// A Row lists the working calls of a version, or the reason that it cannot be tried.
type Row struct{ PassedThrough, Fresh, Notices, Resumes string }

// Failures returns the calls that do not work.
func (r Row) Failures() (all []string) {
	for _, c := range []struct{ what, result, want string }{{"passed through", r.PassedThrough,
		"ok"}, {"managed, fresh", r.Fresh, "ok"},
		{"notices", r.Notices, "ok"}, {"resume", r.Resumes, "yes"}} {
		if c.result != c.want {
			all = append(all, c.what+": "+c.result)
		}
	}
	return all
}

// ErrBroken reports that a version does not answer.
var ErrBroken = errors.New("does not run here")

// Install installs a version, for the time being unless it is the pin, and makes a call without the
// shim.
func Install(pin realcli.Pin) (bin string, done func(), err error) {
	done = func() {}
	if pin.Version == realcli.Pins[pin.Tool].Version {
		bin, err = realcli.Install(pin)
	} else {
		var directory string
		if directory, err = os.MkdirTemp("", "reprise-version-"); err != nil {
			return "", done, err
		}
		done = func() { os.RemoveAll(directory) }
		bin, err = realcli.InstallIn(directory, pin)
	}
	if err == nil {
		if why := broken(pin.Tool, bin); why != "" {
			err = fmt.Errorf("%w: %s", ErrBroken, why)
		}
	}
	if err != nil {
		done()
	}
	return bin, done, err
}

// Try runs the core of the suite with the version of a tool that is in a directory.
func Try(tool, bin, shims string) Row {
	st, c := stage{real: bin, shims: shims}, clis[tool]
	return Row{st.tally(c.named(tool, passed)), st.tally(c.named(tool, c.managed())),
		st.tally(c.notices(tool)), st.resumes(tool)}
}

// A Case is calls of a tool in one world, one after the other.
type Case struct {
	Name  string
	Calls []harness.Call
}

// Cases returns the calls with results that depend on the tool alone: no signal, clock or odd
// stream comes in between.
func Cases(tool string) (all []Case) {
	c := clis[tool]
	for name, one := range c.single() {
		all = append(all, Case{name, []call{one}})
	}
	for name, calls := range c.conversations() {
		all = append(all, Case{name, calls})
	}
	for _, s := range c.notices(tool) {
		all = append(all, Case{s.name, s.calls})
	}
	slices.SortFunc(all, func(a, b Case) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// broken returns why the version of a tool in a directory does not answer without the shim, "" if
// it does.
func broken(tool, bin string) string {
	w, err := harness.New(tool, bin, "")
	if err != nil {
		return err.Error()
	}
	defer w.Close()
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

// named returns the scenarios with these names.
func (c cli) named(tool string, names []string) []scenario {
	return slices.DeleteFunc(c.scenarios(tool, 0), func(s scenario) bool {
		return !slices.Contains(names, s.name)
	})
}

// tally plays scenarios and names those in which the shim is noticeable. They can be repeated:
// claude 2.0.76 might or might not count concurrent requests to other models in its result.
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
	return fmt.Sprintf("%d of %d: not %s", len(all)-len(noticed), len(all),
		strings.Join(noticed, "; "))
}

// resumes plays two rounds of a job. It reports whether the second one resumed the session of the
// first, or why not.
func (st stage) resumes(tool string) string {
	w, err := harness.New(tool, st.real, st.shims)
	if err != nil {
		return cell(err.Error())
	}
	defer w.Close()
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
	if !strings.Contains(standin.LastUser(last), "Rule 7:") &&
		strings.Contains(standin.AllText(last), "Rule 7:") {
		return "yes"
	}
	return "no: " + why(w, args)
}

// why returns the last decision in the ledger; there is none for a call that was passed through.
func why(w *harness.World, args []string) string {
	chains, err := chainsOf(w)
	if err != nil {
		return cell(err.Error())
	}
	if len(chains) > 0 {
		return chains[0].Last.String()
	}
	var d decision
	if err := ask(w, append(list("why|--json|--|"+w.Tool), args...), &d); err != nil {
		return cell(err.Error())
	}
	return d.String()
}

// A chain is a line of status.
type chain struct {
	Resumed int
	Last    decision
}

func chainsOf(w *harness.World) ([]chain, error) {
	var status struct{ Chains []chain }
	err := ask(w, list("status|--json"), &status)
	return status.Chains, err
}

type decision struct{ Mode, Reason string }

func (c chain) String() string { return fmt.Sprintf("%d resumed", c.Resumed) }

func (d decision) String() string { return fmt.Sprintf("%s, `%s`", d.Mode, d.Reason) }

// ask parses the output of shimctl.
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
