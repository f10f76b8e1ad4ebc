package setup

import (
	"fmt"
	"maps"
	"slices"

	"reprise/config"
	"reprise/internal/ctl/app"
	"reprise/internal/ctl/setup/shells"
	"reprise/internal/ctl/textfile"
	"reprise/internal/ctl/view"
)

// A shellPlan is what is to be written: the names to free of aliases and functions, by file, and the paths of the tools.
type shellPlan struct {
	files []string // in order
	names map[string][]string
	paths map[string]string
}

// planSetup returns the edits that put the shims first in all shells that answered, the configuration first: no shell may
// find the shim before the shim finds the tool.
func planSetup(a *app.App, f ShellFacts, tools []string) ([]textfile.Edit, error) {
	p := shellPlan{names: map[string][]string{}, paths: map[string]string{}}
	for _, answer := range f.Answers {
		needed := answer.Problem == "" && !answer.HasShims
		for _, finding := range answer.Findings {
			if slices.Contains(tools, finding.Tool) && planFinding(a, &p, f, answer, finding) {
				needed = true
			}
		}
		if needed && !slices.Contains(p.files, answer.File) {
			p.files = append(p.files, answer.File)
		}
	}
	edits, err := planPaths(a, f.Config, p.paths)
	if err != nil {
		return nil, err
	}
	for _, file := range p.files {
		text, existed, err := textfile.Read(file)
		if err != nil {
			return nil, err
		}
		names := append(shells.Unhidden(text), p.names[file]...)
		slices.Sort(names)
		block := shells.PathBlock{File: file, Shims: f.World.Shims, Home: f.World.Home, Names: slices.Compact(names),
			Mise: slices.Contains(shells.Managers(f.lines, file), "mise")}
		edit, err := shells.WithBlock(file, text, existed, block.Lines())
		if err != nil {
			return nil, damaged(file, err)
		}
		if edit.Changes() {
			edits = append(edits, edit)
		}
	}
	return edits, nil
}

// planFinding reports whether a block is needed for what a shell runs, and adds what must stand in it.
func planFinding(a *app.App, p *shellPlan, f ShellFacts, answer shells.Answer, finding shells.Finding) bool {
	if finding.Kind != shells.Alias && finding.Kind != shells.Function {
		return finding.Kind != shells.Shim
	}
	r := RemedyFor(a, f, answer, finding)
	planned, path := p.paths[finding.Tool], r.path
	if a.Own("HOME") == a.Getenv("HOME") { // or else ~ in the configuration is another directory for other callers
		path = a.Tilde(path)
	}
	if !r.Remove || path != "" && planned != "" && planned != path {
		return false // in another shell, the name stands for another program
	}
	if path != "" {
		p.paths[finding.Tool] = path
	}
	p.names[answer.File] = append(p.names[answer.File], finding.Tool)
	return true
}

func damaged(file string, err error) error {
	return app.WithHint(fmt.Errorf("change %s: %w", file, err), "take the rest of the block out by hand")
}

// planPaths returns the edit that names the tools' binaries in the configuration.
func planPaths(a *app.App, cfg config.Config, paths map[string]string) ([]textfile.Edit, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	values := map[string]string{}
	for tool, path := range paths {
		if his := cfg.Tools[tool].Path; his != "" {
			return nil, app.WithHint(fmt.Errorf("find %s: the configuration has it at %s", tool, his), SetPath(tool, path))
		}
		values["tool."+tool+".path"] = path
	}
	edit, err := configEdit(a, values)
	if err != nil {
		return nil, app.WithHint(fmt.Errorf("add the path of a tool to %s: %w", edit.File, err), "write path under [tool.NAME] yourself, then run shimctl setup again")
	}
	return []textfile.Edit{edit}, nil
}

// configEdit returns the edit that gives keys of the configuration their values, in lines that --undo takes out.
func configEdit(a *app.App, values map[string]string) (e textfile.Edit, err error) {
	if e, err = textfile.Config(a); err != nil {
		return e, err
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if e.New, err = config.Set(e.File, e.New, a.Getenv("HOME"), key, []string{values[key]}, shells.Mark(e.Existed)); err != nil {
			return e, err
		}
	}
	return e, nil
}

// planUndo returns the edits that take out all that setup wrote, the configuration last.
func planUndo(a *app.App, f ShellFacts) (edits []textfile.Edit, err error) {
	files := shells.EveryStartFile(f.World)
	if file, err := config.ConfigFile(a.Own); err == nil {
		files = append(files, file)
	}
	for _, file := range files {
		text, existed, err := textfile.Read(file)
		if err != nil || !existed || !shells.HasBlock(text) {
			continue
		}
		edit, err := shells.WithoutBlock(file, text)
		if err != nil {
			return nil, damaged(file, err)
		}
		edits = append(edits, edit)
	}
	return edits, nil
}

// writeEdits writes the files, in order. It stops at the first that cannot be written.
func writeEdits(a *app.App, edits []textfile.Edit, say bool) error {
	for _, e := range edits {
		if err := e.Write(); err != nil {
			return app.WithHint(fmt.Errorf("write %s: %w", e.File, err), "what is shown above may be added by hand")
		}
		if say {
			verb := "wrote"
			if e.Remove {
				verb = "removed"
			}
			a.Stdout.Notice(verb + " " + a.Tilde(e.File))
		}
	}
	return nil
}

// A remedy is what setup does about an alias or a function.
type remedy struct {
	Remove bool
	path   string // what tool.NAME.path must be then, "" if it may stay
	left   string // why it is left alone
	advice string // what the user can do about it then
}

// RemedyFor returns what setup does about an alias or a function that leads past PATH. Afterwards the name
// starts the same binary as before.
func RemedyFor(a *app.App, f ShellFacts, answer shells.Answer, finding shells.Finding) remedy {
	name, path, real := finding.Tool, finding.Path, behind(a, f, answer, finding.Tool)
	runs := shells.Runnable(path)
	advice := fmt.Sprintf("start %s there by its name, not by a path", name)
	if finding.Kind == shells.Function {
		advice = fmt.Sprintf("write command %s there, not a path", name)
	}
	switch {
	case path == "" && real == "":
		advice = SetPath(name, "/PATH/OF/THE/BINARY") + "; then " + advice
	case path != "" && !runs && real == "":
		advice = fmt.Sprintf("install %s, then run shimctl setup", name)
	case runs && !shells.SameFile(real, path) && finding.Plain:
		advice = SetPath(name, a.Tilde(path)) + " && shimctl setup"
	case runs && !shells.SameFile(real, path):
		advice = SetPath(name, a.Tilde(path)) + "; then " + advice
	}
	switch {
	case path == "":
		return remedy{left: "what it starts is not known", advice: advice}
	case !finding.Plain:
		return remedy{left: "it sets more than the path", advice: advice}
	case !runs && real == "":
		return remedy{left: "what it starts does not exist", advice: advice}
	case runs && slices.ContainsFunc(onPath(a, f, name), func(found string) bool { return !shells.SameFile(found, path) }):
		return remedy{left: "it starts another binary than the shim finds", advice: advice}
	case real != "":
		return remedy{Remove: true}
	}
	return remedy{Remove: true, path: path}
}

// SetPath returns the command that sets the path of a tool's binary.
func SetPath(tool, path string) string {
	return "shimctl config set tool." + tool + ".path " + view.ShellQuote(path)
}
