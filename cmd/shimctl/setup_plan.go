package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"reprise/config"
	"reprise/internal/shells"
)

// A shellPlan is what is to be written: the names to free of aliases and functions, by file, and the paths of the tools.
type shellPlan struct {
	files []string // in order
	names map[string][]string
	paths map[string]string
}

// planSetup returns the edits that put the shims first in all shells that answered, the configuration first: no shell may
// find the shim before the shim finds the tool.
func (a *app) planSetup(f shellFacts, tools []string) ([]shells.Edit, error) {
	p := shellPlan{names: map[string][]string{}, paths: map[string]string{}}
	for _, answer := range f.answers {
		needed := answer.Problem == "" && !answer.HasShims
		for _, finding := range answer.Findings {
			if slices.Contains(tools, finding.Tool) && a.planFinding(&p, f, answer, finding) {
				needed = true
			}
		}
		if needed && !slices.Contains(p.files, answer.File) {
			p.files = append(p.files, answer.File)
		}
	}
	edits, err := a.planPaths(p.paths)
	if err != nil {
		return nil, err
	}
	for _, file := range p.files {
		text, existed, err := readStartFile(file)
		if err != nil {
			return nil, err
		}
		names := append(shells.Unhidden(text), p.names[file]...)
		slices.Sort(names)
		block := shells.PathBlock{File: file, Shims: f.world.Shims, Home: f.world.Home, Names: slices.Compact(names),
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
func (a *app) planFinding(p *shellPlan, f shellFacts, answer shells.Answer, finding shells.Finding) bool {
	if finding.Kind != shells.Alias && finding.Kind != shells.Function {
		return finding.Kind != shells.Shim
	}
	r := a.remedyFor(f, answer, finding)
	planned, path := p.paths[finding.Tool], r.path
	if a.own("HOME") == a.getenv("HOME") { // or else ~ in the configuration is another directory for other callers
		path = a.tilde(path)
	}
	if !r.remove || path != "" && planned != "" && planned != path {
		return false // in another shell, the name stands for another program
	}
	if path != "" {
		p.paths[finding.Tool] = path
	}
	p.names[answer.File] = append(p.names[answer.File], finding.Tool)
	return true
}

func damaged(file string, err error) error {
	return hinted{fmt.Errorf("change %s: %w", file, err), "take the rest of the block out by hand"}
}

// planPaths returns the edit that names the tools' binaries in the configuration.
func (a *app) planPaths(paths map[string]string) ([]shells.Edit, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	file, err := config.ConfigFile(a.own)
	if err != nil {
		return nil, err
	}
	text, existed, err := readStartFile(file)
	if err != nil {
		return nil, err
	}
	edit, err := shells.WithPaths(file, text, existed, paths)
	if err != nil {
		return nil, damaged(file, err)
	}
	if _, err := config.Parse(file, edit.New, a.getenv("HOME")); err != nil {
		return nil, hinted{fmt.Errorf("add the path of a tool to %s: %w", file, err), "write path under [tool.NAME] yourself, then run shimctl setup again"}
	}
	return []shells.Edit{edit}, nil
}

// planUndo returns the edits that take out every block, the configuration last.
func (a *app) planUndo(f shellFacts) (edits []shells.Edit, err error) {
	files := shells.EveryStartFile(f.world)
	if file, err := config.ConfigFile(a.own); err == nil {
		files = append(files, file)
	}
	for _, file := range files {
		text, existed, err := readStartFile(file)
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

// readStartFile returns the text of a file, and whether it exists.
func readStartFile(file string) (text string, existed bool, err error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(file); err == nil {
			return "", false, hinted{fmt.Errorf("read %s: it is a link to nothing", file), "create what it leads to, or remove it"}
		}
		return "", false, nil
	}
	return string(data), err == nil, err
}
