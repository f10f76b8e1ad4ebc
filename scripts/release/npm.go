package main

import (
	_ "embed"
	"encoding/json"
	"os"
	"path/filepath"
)

// A manifest is package.json. It has no scripts: installing a package runs nothing.
type manifest struct {
	Name                 string            `json:"name"`
	Version              string            `json:"version"`
	Description          string            `json:"description"`
	License              string            `json:"license"`
	Bin                  map[string]string `json:"bin,omitempty"`
	OS                   []string          `json:"os,omitempty"`
	CPU                  []string          `json:"cpu,omitempty"`
	OptionalDependencies map[string]string `json:"optionalDependencies,omitempty"`
	PreferUnplugged      bool              `json:"preferUnplugged,omitempty"`
}

var npmArches = map[string]string{"amd64": "x64", "arm64": "arm64"}

//go:embed launch/reprise.js
var npmScript []byte

// npm writes the package with the programs for an architecture.
func (r *release) npm(made, arch string, files []file) error {
	cpu := npmArches[arch]
	m := r.manifest("@reprise/linux-" + cpu)
	m.OS, m.CPU, m.PreferUnplugged = []string{"linux"}, []string{cpu}, true
	return r.npmPackage(filepath.Join(made, "reprise-linux-"+cpu+"-"+m.Version+".tgz"), m,
		withoutLinks(files))
}

// npmLauncher writes the package that users install. None of its commands has the name of a tool.
func (r *release) npmLauncher(made string) error {
	m := r.manifest("reprise")
	m.Bin = map[string]string{"reprise": "reprise.js", "shimctl": "reprise.js"}
	m.OptionalDependencies = map[string]string{}
	for _, arch := range r.arches {
		m.OptionalDependencies["@reprise/linux-"+npmArches[arch]] = m.Version
	}
	files := []file{{name: "reprise.js", mode: 0o755, text: npmScript}}
	for _, name := range []string{"LICENSE", "README.md"} {
		text, err := os.ReadFile(filepath.Join(r.root, name))
		if err != nil {
			return err
		}
		files = append(files, file{name: name, mode: 0o644, text: text})
	}
	return r.npmPackage(filepath.Join(made, "reprise-"+m.Version+".tgz"), m, files)
}

func (r *release) manifest(name string) manifest {
	return manifest{Name: name, Version: parseVersion(r.version, r.time).npm(),
		Description: summary, License: "MIT"}
}

func (r *release) npmPackage(path string, m manifest, files []file) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return r.archive(path, "package",
		append([]file{{name: "package.json", mode: 0o644, text: append(text, '\n')}}, files...))
}
