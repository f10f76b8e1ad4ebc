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

// onPath returns the real binaries that the shim of the tool finds here and in fresh shells.
func (a *app) onPath(f shellFacts, tool string) []string {
	found := []string{shim.Locate(a.shimEnv(), tool, f.config.Tools[tool].Path).Real}
	for _, answer := range f.answers {
		found = append(found, a.behind(f, answer, tool))
	}
	return slices.DeleteFunc(found, func(path string) bool { return path == "" })
}

// binary returns a binary of the tool that is on a PATH, or behind an alias or a function; "" if there is none.
func (a *app) binary(f shellFacts, tool string) string {
	if found := a.onPath(f, tool); len(found) > 0 {
		return found[0]
	}
	for _, answer := range f.answers {
		for _, finding := range answer.Findings {
			if finding.Tool == tool && finding.Kind != shells.Shim && shells.Runnable(finding.Path) {
				return finding.Path
			}
		}
	}
	return ""
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
	var all []string
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
		if answers[0].Shell.Path != "" {
			checks[i].Finds = c.Finds + " (" + strings.Join(of[c], ", ") + ")"
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
			checks = append(checks, check{name, "note", name + " " + answer.Problem, "run type -a " + tools[0] + " in it: the shim must come first"})
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
	switch finding.Kind {
	case shells.Shim:
		return nil // where no binary is behind it, none was found before either
	case shells.Alias:
		c.Finds = "an alias"
	case shells.Function:
		c.Finds = "a function"
	default:
		if !answer.HasShims {
			return nil // that is a check of its own
		}
		c.Finds = fmt.Sprintf("%s is found before the shim%s", a.tilde(finding.Path), a.cause(f, answer, finding))
		if text, _ := os.ReadFile(answer.File); shells.EndsWithBlock(string(text)) {
			c.Fix = fmt.Sprintf("something puts its directory first after %s was read: let it leave %s first", a.tilde(answer.File), a.tilde(f.world.Shims))
		}
		return []check{c}
	}
	c.Result = "problem"
	c.Finds += fmt.Sprintf(" beats PATH%s: what is typed never reaches the shim", a.cause(f, answer, finding))
	if r := a.remedyFor(f, answer, finding); !r.remove {
		c.Finds += "; " + r.left
		c.Fix = a.adviceFor(finding, a.behind(f, answer, finding.Tool))
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
