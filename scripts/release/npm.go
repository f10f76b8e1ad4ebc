package main

import (
	_ "embed"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
)

var npmArches = map[string]string{"amd64": "x64", "arm64": "arm64"}

//go:embed launch/reprise.js
var npmScript []byte

// npm writes the package with the programs for an architecture.
func (r *release) npm(made, arch string, files []file) error {
	cpu := npmArches[arch]
	return r.npmPackage(made, "reprise-linux-"+cpu, map[string]any{"name": "@reprise/linux-" + cpu,
		"os": []string{"linux"}, "cpu": []string{cpu}, "preferUnplugged": true},
		withoutLinks(files))
}

// npmLauncher writes the package that users install. None of its commands has the name of a tool.
func (r *release) npmLauncher(made string) error {
	programs := map[string]string{}
	for _, arch := range r.arches {
		programs["@reprise/linux-"+npmArches[arch]] = r.npmVersion()
	}
	files := []file{{name: "reprise.js", mode: 0o755, text: npmScript}}
	for _, name := range []string{"LICENSE", "README.md"} {
		text, err := os.ReadFile(filepath.Join(r.root, name))
		if err != nil {
			return err
		}
		files = append(files, file{name: name, mode: 0o644, text: text})
	}
	return r.npmPackage(made, "reprise", map[string]any{"name": "reprise",
		"bin":                  map[string]string{"reprise": "reprise.js", "shimctl": "reprise.js"},
		"optionalDependencies": programs}, files)
}

// npmPackage writes a package. package.json has no scripts: installing a package runs nothing.
func (r *release) npmPackage(made, name string, manifest map[string]any, files []file) error {
	manifest["version"], manifest["license"] = r.npmVersion(), "MIT"
	manifest["description"] = "resume the sessions of coding agents that are called in loops"
	text, err := json.MarshalIndent(manifest, "", "  ")
	if err != nil {
		return err
	}
	return r.archive(filepath.Join(made, name+"-"+r.npmVersion()+".tgz"), "package",
		append([]file{{name: "package.json", mode: 0o644, text: append(text, '\n')}}, files...))
}

var tag = regexp.MustCompile(`^v(\d+\.\d+\.\d+(-[A-Za-z][0-9A-Za-z.]*)?)$`)

// npmVersion returns the semantic version of a tag. Any other commit comes before every release.
func (r *release) npmVersion() string {
	if m := tag.FindStringSubmatch(r.version); m != nil {
		return m[1]
	}
	return "0.0.0-0." + r.time.Format("20060102") + ".g" + r.commit[:min(12, len(r.commit))]
}
