package setup

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"reprise/config"
	"reprise/internal/ctl/app"
	"reprise/internal/ctl/setup/shells"
	"reprise/rewrite"
	"reprise/shim"
)

// ShellFacts is what fresh shells run, for doctor and setup.
type ShellFacts struct {
	World   shells.World
	Answers []shells.Answer
	lines   []shells.Line
	Config  config.Config
}

// AskShells asks fresh shells for the names of all tools.
func AskShells(a *app.App, cfg config.Config) ShellFacts {
	f := ShellFacts{World: shells.NewWorld(a.Environ, ShimDirectory(a), rewrite.Names), Config: cfg}
	if !filepath.IsAbs(f.World.Home) {
		return f
	}
	f.Answers, f.World = shells.Ask(context.Background(), f.World)
	f.lines = f.World.ReadLines(shells.EveryStartFile(f.World))
	return f
}

// behind returns the real binary that the shim of the tool finds in a shell, "" for none.
func behind(a *app.App, f ShellFacts, answer shells.Answer, tool string) string {
	env := a.ShimEnv()
	env.Environ = slices.DeleteFunc(slices.Clone(a.Environ), func(entry string) bool { return strings.HasPrefix(entry, "PATH=") })
	env.Environ = append(env.Environ, "PATH="+strings.Join(answer.Path, string(filepath.ListSeparator)))
	return shim.Locate(env, tool, f.Config.Tools[tool].Path).Real
}

// installed returns the tools of which there is a binary.
func installed(a *app.App, f ShellFacts) []string {
	return slices.DeleteFunc(slices.Clone(rewrite.Names), func(tool string) bool { return Binary(a, f, tool) == "" })
}

// onPath returns the real binaries that the shim of the tool finds here and in fresh shells.
func onPath(a *app.App, f ShellFacts, tool string) []string {
	found := []string{shim.Locate(a.ShimEnv(), tool, f.Config.Tools[tool].Path).Real}
	for _, answer := range f.Answers {
		found = append(found, behind(a, f, answer, tool))
	}
	return slices.DeleteFunc(found, func(path string) bool { return path == "" })
}

// Binary returns a binary of the tool that is on a PATH, or behind an alias or a function; "" if there is none.
func Binary(a *app.App, f ShellFacts, tool string) string {
	if found := onPath(a, f, tool); len(found) > 0 {
		return found[0]
	}
	for _, answer := range f.Answers {
		for _, finding := range answer.Findings {
			if finding.Tool == tool && finding.Kind != shells.Shim && shells.Runnable(finding.Path) {
				return finding.Path
			}
		}
	}
	return ""
}

// ShellChecks returns what fresh shells make of the tools: one check for a shell where all is well, else one for each
// thing that is not.
func ShellChecks(a *app.App, f ShellFacts, tools []string) []Check {
	checks := []Check{}
	for rest := f.Answers; len(rest) > 0; {
		of := slices.IndexFunc(rest, func(o shells.Answer) bool { return o.Shell.Name() != rest[0].Shell.Name() })
		if of < 0 {
			of = len(rest)
		}
		checks = append(checks, shellCheck(a, f, rest[:of], tools)...)
		rest = rest[of:]
	}
	return checks
}

// shellCheck returns the checks of one shell. What several starts have in common is one check.
func shellCheck(a *app.App, f ShellFacts, answers []shells.Answer, tools []string) (checks []Check) {
	var all []string
	of := map[Check][]string{}
	for _, answer := range answers {
		all = append(all, answer.Start)
		for _, c := range answerChecks(a, f, answer, tools) {
			if of[c] == nil {
				checks = append(checks, c)
			}
			if !slices.Contains(of[c], answer.Start) {
				of[c] = append(of[c], answer.Start)
			}
		}
	}
	if checks == nil && answers[0].Shell.Path != "" {
		return []Check{OK(answers[0].Shell.Name(), fmt.Sprintf("%s: the shim (%s)", strings.Join(tools, ", "), strings.Join(all, ", ")))}
	}
	for i, c := range checks {
		if answers[0].Shell.Path != "" {
			checks[i].Finds = c.Finds + " (" + strings.Join(of[c], ", ") + ")"
		}
	}
	return checks
}

// answerChecks returns what is wrong in one shell that was started in one way.
func answerChecks(a *app.App, f ShellFacts, answer shells.Answer, tools []string) (checks []Check) {
	name := answer.Shell.Name()
	if answer.Problem != "" {
		checks = lineChecks(a, f, answer)
		if answer.Shell.Path != "" || answer.Shell.Login {
			checks = append(checks, Note(name, name+" "+answer.Problem, "run type -a "+tools[0]+" in it: the shim must come first"))
		}
		return checks
	}
	if !answer.HasShims {
		checks = append(checks, Note(name, "the shims are not on PATH", "run shimctl setup"))
	}
	for _, finding := range answer.Findings {
		if slices.Contains(tools, finding.Tool) {
			checks = append(checks, findingCheck(a, f, answer, finding)...)
		}
	}
	return checks
}

// findingCheck returns what is wrong with one tool in one shell, if anything.
func findingCheck(a *app.App, f ShellFacts, answer shells.Answer, finding shells.Finding) []Check {
	c := Check{Name: finding.Tool + " in " + answer.Shell.Name(), Result: "note", Fix: "run shimctl setup"}
	switch {
	case finding.Kind == shells.Shim:
		return nil // where no binary is behind it, none was found before either
	case finding.Kind == shells.Alias, finding.Kind == shells.Function:
	case !answer.HasShims:
		return nil // that is a check of its own
	default:
		c.Finds = fmt.Sprintf("%s is found before the shim%s", a.Tilde(finding.Path), cause(a, f, answer, finding))
		if text, _ := os.ReadFile(answer.File); shells.EndsWithBlock(string(text)) {
			c.Fix = fmt.Sprintf("something puts its directory first after %s was read: let it leave %s first", a.Tilde(answer.File), a.Tilde(f.World.Shims))
		}
		return []Check{c}
	}
	c.Result = "problem"
	c.Finds = fmt.Sprintf("%s beats PATH%s: what is typed never reaches the shim", hiding[finding.Kind], cause(a, f, answer, finding))
	if r := RemedyFor(a, f, answer, finding); !r.Remove {
		c.Finds += "; " + r.left
		c.Fix = r.advice
	}
	return []Check{c}
}

// cause names the line that explains a finding.
func cause(a *app.App, f ShellFacts, answer shells.Answer, finding shells.Finding) string {
	files := answer.Shell.StartFiles(f.World)
	lines := slices.DeleteFunc(slices.Clone(f.lines), func(l shells.Line) bool { return !slices.Contains(files, l.File) })
	line, ok := shells.Cause(lines, finding)
	switch {
	case !ok:
		return ""
	case finding.Kind == shells.File:
		return fmt.Sprintf(", by %s (%s)", cmp.Or(line.Puts, "its directory"), a.Tilde(line.Place()))
	}
	return " (" + a.Tilde(line.Place()) + ")"
}

// hiding is what comes before PATH.
var hiding = map[shells.Kind]string{shells.Alias: "an alias", shells.Function: "a function", shells.File: "a remembered place"}

// lineChecks goes by what the files say, for a shell that did not answer.
func lineChecks(a *app.App, f ShellFacts, answer shells.Answer) (checks []Check) {
	for _, l := range f.lines {
		if l.Tool != "" && slices.Contains(answer.Shell.StartFiles(f.World), l.File) {
			checks = append(checks, Problem(l.Tool+" in "+answer.Shell.Name(),
				fmt.Sprintf("%s has %s that beats PATH: what is typed never reaches the shim", a.Tilde(l.Place()), hiding[l.Kind]),
				fmt.Sprintf("start %s by its name there, not by a path; shimctl doctor reports whether PATH has a binary after the shim", l.Tool)))
		}
	}
	return checks
}
