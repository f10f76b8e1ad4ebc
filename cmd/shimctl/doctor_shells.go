package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"reprise/config"
	"reprise/internal/shells"
	"reprise/rewrite"
	"reprise/shim"
)

// shellFacts is what fresh shells run, for doctor and setup.
type shellFacts struct {
	world   shells.World
	answers []shells.Answer
	lines   []shells.Line
	config  config.Config
}

// askShells asks fresh shells for the names of all tools.
func (a *app) askShells(cfg config.Config) shellFacts {
	f := shellFacts{world: shells.NewWorld(a.environ, a.shimDirectory(), rewrite.Names), config: cfg}
	if !filepath.IsAbs(f.world.Home) {
		return f
	}
	f.answers, f.world = shells.Ask(context.Background(), f.world)
	f.lines = f.world.ReadLines(shells.EveryStartFile(f.world))
	return f
}

// behind returns the real binary that the shim of the tool finds in a shell, "" for none.
func (a *app) behind(f shellFacts, answer shells.Answer, tool string) string {
	env := a.shimEnv()
	env.Environ = slices.DeleteFunc(slices.Clone(a.environ), func(entry string) bool { return strings.HasPrefix(entry, "PATH=") })
	env.Environ = append(env.Environ, "PATH="+strings.Join(answer.Path, string(filepath.ListSeparator)))
	return shim.Locate(env, tool, f.config.Tools[tool].Path).Real
}

// installed returns the tools of which there is a binary.
func (a *app) installed(f shellFacts) []string {
	return slices.DeleteFunc(slices.Clone(rewrite.Names), func(tool string) bool { return a.binary(f, tool) == "" })
}

// binary returns a binary of the tool that is found here, in a fresh shell, or behind an alias or a function; "" if none is.
func (a *app) binary(f shellFacts, tool string) string {
	found := shim.Locate(a.shimEnv(), tool, f.config.Tools[tool].Path).Real
	for _, answer := range f.answers {
		if found == "" {
			found = a.behind(f, answer, tool)
		}
		for _, finding := range answer.Findings {
			if found == "" && finding.Tool == tool && finding.Kind != shells.Shim && shells.Runnable(finding.Path) {
				found = finding.Path
			}
		}
	}
	return found
}

// shellChecks returns what fresh shells make of the tools: one check for a shell where all is well, else one for each
// thing that is not.
func (a *app) shellChecks(f shellFacts, tools []string) (checks []check) {
	byShell := map[string][]shells.Answer{}
	var names []string
	for _, answer := range f.answers {
		name := answer.Shell.Name()
		if byShell[name] == nil {
			names = append(names, name)
		}
		byShell[name] = append(byShell[name], answer)
	}
	for _, name := range names {
		checks = append(checks, a.shellCheck(f, name, byShell[name], tools)...)
	}
	return checks
}

// shellCheck returns the checks of one shell. What several starts have in common is one check.
func (a *app) shellCheck(f shellFacts, name string, answers []shells.Answer, tools []string) (checks []check) {
	var all, starts []string
	of := map[check][]string{}
	for _, answer := range answers {
		all = append(all, answer.Start)
		for _, c := range a.answerChecks(f, answer, tools) {
			if of[c] == nil {
				checks = append(checks, c)
			}
			if !slices.Contains(of[c], answer.Start) {
				of[c] = append(of[c], answer.Start)
			}
		}
	}
	if checks == nil && answers[0].Shell.Path != "" {
		return []check{{name, "ok", fmt.Sprintf("%s: the shim (%s)", strings.Join(tools, ", "), strings.Join(all, ", ")), ""}}
	}
	for i, c := range checks {
		if starts = of[c]; answers[0].Shell.Path != "" {
			checks[i].Finds = c.Finds + " (" + strings.Join(starts, ", ") + ")"
		}
	}
	return checks
}

// answerChecks returns what is wrong in one shell that was started in one way.
func (a *app) answerChecks(f shellFacts, answer shells.Answer, tools []string) (checks []check) {
	name := answer.Shell.Name()
	if answer.Problem != "" {
		checks = a.lineChecks(f, answer)
		if answer.Shell.Path != "" || answer.Shell.Login {
			checks = append(checks, check{name, "note", name + " " + answer.Problem, "run type -a " + rewrite.Names[0] + " in it: the shim must come first"})
		}
		return checks
	}
	if !answer.HasShims {
		checks = append(checks, check{name, "note", "the shims are not on PATH", "run shimctl setup"})
	}
	for _, finding := range answer.Findings {
		if slices.Contains(tools, finding.Tool) {
			checks = append(checks, a.findingCheck(f, answer, finding)...)
		}
	}
	return checks
}

// findingCheck returns what is wrong with one tool in one shell, if anything.
func (a *app) findingCheck(f shellFacts, answer shells.Answer, finding shells.Finding) []check {
	c := check{Name: finding.Tool + " in " + answer.Shell.Name(), Result: "note", Fix: "run shimctl setup"}
	real := a.behind(f, answer, finding.Tool)
	switch finding.Kind {
	case shells.Shim:
		known := a.binary(f, finding.Tool)
		if real != "" || known == "" {
			return nil // a tool that is not installed is a check of its own
		}
		c.Finds = "the shim is found, but PATH has no real binary after it"
		c.Fix = fmt.Sprintf("put the directory of the binary on PATH there, or write path = %q under [tool.%s]",
			a.tilde(known), finding.Tool)
		return []check{c}
	case shells.Alias:
		c.Finds = "an alias"
	case shells.Function:
		c.Finds = "a function"
	default:
		if !answer.HasShims {
			return nil // that is a check of its own
		}
		c.Finds = fmt.Sprintf("%s is found before the shim%s", a.tilde(finding.Path), a.cause(f, answer, finding))
		return []check{c}
	}
	c.Result = "problem"
	c.Finds += fmt.Sprintf(" beats PATH%s: what is typed never reaches the shim", a.cause(f, answer, finding))
	if r := remedyFor(finding, real); !r.remove {
		c.Finds += "; " + r.left
		c.Fix = a.adviceFor(finding, real)
	}
	return []check{c}
}

// cause names the line that explains a finding.
func (a *app) cause(f shellFacts, answer shells.Answer, finding shells.Finding) string {
	files := answer.Shell.StartFiles(f.world)
	lines := slices.DeleteFunc(slices.Clone(f.lines), func(l shells.Line) bool { return !slices.Contains(files, l.File) })
	line, ok := shells.Cause(lines, finding)
	switch {
	case !ok:
		return ""
	case finding.Kind == shells.File:
		return fmt.Sprintf(", by %s (%s)", cmp.Or(line.Puts, "its directory"), a.tilde(line.Place()))
	}
	return " (" + a.tilde(line.Place()) + ")"
}

// lineChecks goes by what the files say, for a shell that did not answer.
func (a *app) lineChecks(f shellFacts, answer shells.Answer) (checks []check) {
	kinds := map[shells.Kind]string{shells.Alias: "an alias", shells.Function: "a function", shells.File: "a remembered place"}
	for _, l := range f.lines {
		if l.Tool != "" && slices.Contains(answer.Shell.StartFiles(f.world), l.File) {
			checks = append(checks, check{l.Tool + " in " + answer.Shell.Name(), "problem",
				fmt.Sprintf("%s has %s that beats PATH: what is typed never reaches the shim", a.tilde(l.Place()), kinds[l.Kind]),
				fmt.Sprintf("start %s by its name there, not by a path; shimctl doctor reports whether PATH has a binary after the shim", l.Tool)})
		}
	}
	return checks
}

// A remedy is what setup does about an alias or a function.
type remedy struct {
	remove bool
	path   string // what tool.NAME.path must be then, "" if it may stay
	left   string // why it is left alone
}

// remedyFor never leaves the user without the tool, or with another one. real is the binary that the shim finds.
func remedyFor(f shells.Finding, real string) remedy {
	switch {
	case f.Path == "":
		return remedy{left: "what it starts is not known"}
	case !f.Plain:
		return remedy{left: "it sets more than the path"}
	case !shells.Runnable(f.Path) && real != "":
		return remedy{remove: true}
	case !shells.Runnable(f.Path):
		return remedy{left: "what it starts does not exist"}
	case real == "":
		return remedy{remove: true, path: f.Path}
	case sameFile(real, f.Path):
		return remedy{remove: true}
	}
	return remedy{left: "it starts another binary than the shim finds"}
}

func sameFile(a, b string) bool {
	left, err := os.Stat(a)
	if err != nil {
		return false
	}
	right, err := os.Stat(b)
	return err == nil && os.SameFile(left, right)
}

// adviceFor says what the user can do about an alias or a function that setup leaves alone.
func (a *app) adviceFor(finding shells.Finding, real string) string {
	name := finding.Tool
	advice := fmt.Sprintf("start %s there by its name, not by a path", name)
	if finding.Kind == shells.Function {
		advice = fmt.Sprintf("write command %s there, not a path", name)
	}
	switch {
	case finding.Path != "" && !shells.Runnable(finding.Path) && real == "":
		return fmt.Sprintf("install %s, then run shimctl setup", name)
	case finding.Path == "" && real == "":
		return fmt.Sprintf("write path = \"/...\" under [tool.%s], with the path of the binary, and %s", name, advice)
	case finding.Path != "" && shells.Runnable(finding.Path) && !sameFile(real, finding.Path):
		return fmt.Sprintf("write path = %q under [tool.%s], and %s", a.tilde(finding.Path), name, advice)
	}
	return advice
}
