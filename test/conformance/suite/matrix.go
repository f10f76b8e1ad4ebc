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
	"reprise/test/markers"
	"reprise/test/realcli"
)

// runMatrix tries the matching versions of internal/tested/tested.json one by one and prints the
// calls that do not work with each.
func runMatrix(tools []string, shims, run string) error {
	match, err := regexp.Compile(run)
	if err != nil {
		return err
	}
	fmt.Printf("Run on %s, %s/%s.\n\n", time.Now().Format(time.DateOnly), runtime.GOOS,
		runtime.GOARCH)
	fmt.Println("| tool | version | difference |\n| --- | --- | --- |")
	for _, tool := range tools {
		for _, row := range tested.BuiltIn().Tool(tool).Rows() {
			if !match.MatchString(row.Version) {
				continue
			}
			bin, done, err := Install(realcli.Pins[tool].At(row.Version))
			differed := []string{cell(fmt.Sprint(err))}
			if err == nil {
				differed = Try(tool, bin, shims)
				done()
			}
			fmt.Printf("| %s | %s | %s |\n", tool, row.Version, strings.Join(differed, "; "))
		}
	}
	return nil
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

// Try runs the core of the suite with the version of a tool that is in a directory, and returns the
// calls that do not work.
func Try(tool, bin, shims string) (differed []string) {
	st, c := stage{map[string]string{tool: bin}, shims}, clis[tool]
	for _, part := range [][2]string{
		{"passed through: ", st.tally(c.named(tool, passed))},
		{"fresh: ", st.tally(c.named(tool, c.managed()))},
		{"notices: ", st.tally(c.notices(tool))}, {"resume: ", st.resumes(tool)},
	} {
		if part[1] != "" {
			differed = append(differed, part[0]+part[1])
		}
	}
	return differed
}

// A Case is calls of a tool in one world, one after the other.
type Case struct {
	Name  string
	Calls []harness.Call
}

// Cases returns the calls with results that depend on the tool alone: no signal, clock or odd
// stream comes in between.
func Cases(tool string) (all []Case) {
	for _, s := range clis[tool].scenarios(tool, 0) {
		if slices.Contains(list("single calls|jobs|notices"), s.kind) {
			all = append(all, Case{s.name, s.calls})
		}
	}
	slices.SortFunc(all, func(a, b Case) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// broken returns why the version of a tool in a directory does not answer without the shim, "" if
// it does.
func broken(tool, bin string) string {
	w, err := harness.New(tool, bin, "", markers.Options{})
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

// tally plays scenarios and returns the names of scenarios that notice the shim, "" if none. They
// can be repeated: claude 2.0.76 might or might not count concurrent requests to other models in its
// result.
func (st stage) tally(all []scenario) string {
	var noticed []string
	for i := range all {
		all[i].racy = true
	}
	st.judgeAll(all, func(v verdict) {
		if v.failed {
			noticed = append(noticed, v.name)
			fmt.Fprintf(os.Stderr, "%s %s: %s\n", v.tool, v.name, strings.Join(v.detail, "\n"))
		}
	})
	if len(noticed) == 0 {
		return ""
	}
	slices.Sort(noticed)
	return fmt.Sprintf("%d of %d: not %s", len(all)-len(noticed), len(all),
		strings.Join(noticed, "; "))
}

// resumes plays two rounds of a job. It returns why the second one did not resume the session of
// the first, "" if it did.
func (st stage) resumes(tool string) string {
	w, err := harness.New(tool, st.real[tool], st.shims, markers.Options{})
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
		return ""
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
