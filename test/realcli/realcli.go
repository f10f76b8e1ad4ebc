// Package realcli installs the real CLIs, at pinned versions, into a cache directory of their own,
// for the end-to-end tests.
//
// It never touches the user's own installations, and downloads only from the package registries
// that npm and pip are configured for. Its invariant: a directory with a version's name contains
// that version completely.
package realcli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"reprise/internal/tested"
	"reprise/test/toolbox"
)

// A Pin is a CLI at the version that the tests were written for.
type Pin struct {
	Tool, Package, Version string
	Asked                  string // the package that users install: its versions count
	Python                 bool   // a Python package, not one of npm's
	// With are further npm packages, with commands in the same directory.
	With []string
}

// The CLIs with end-to-end tests.
var (
	Claude = pinOf("claude")
	Codex  = pinOf("codex")
	Gemini = pinOf("gemini")
	Vibe   = pinOf("vibe")
	Kilo   = pinOf("kilo")

	// SmallerClaude is a claude that resumes in a smaller variant of its default model by itself.
	SmallerClaude = Claude.At("2.1.197")
	// OldClaude is the claude of the older SDKs.
	OldClaude = Claude.At("2.0.50")
)

// Pins are the CLIs by their names, without kilo, which is opencode under another name and takes
// half a minute a call. Jobs alone try that and the SDKs.
var Pins, ByJobs = pins()

func pins() (all, byJobs map[string]Pin) {
	all, byJobs = map[string]Pin{}, map[string]Pin{Kilo.Tool: Kilo}
	for _, t := range tested.BuiltIn().Tools {
		if t.Name != Kilo.Tool {
			all[t.Name] = pinOf(t.Name)
		}
	}
	for _, s := range tested.BuiltIn().SDKs {
		byJobs[s.Name] = pinOf(s.Name)
	}
	return all, byJobs
}

// pinOf returns a tool's pin. Some packages are for one platform, since the commands' own would run
// an install script.
func pinOf(tool string) Pin {
	t := tested.BuiltIn().Tool(tool)
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	return Pin{tool, strings.Replace(cmp.Or(t.Install, t.Package()), "linux-x64", "linux-"+arch, 1),
		t.Version(), t.Package(), t.Python(), t.With}
}

// At returns the pin at another version.
func (p Pin) At(version string) Pin {
	p.Version = version
	return p
}

// Install returns the directory of the executable, and installs it first if it is not in the cache.
func Install(p Pin) (bin string, err error) {
	cache, err := toolbox.Cache("cli")
	if err != nil {
		return "", err
	}
	return InstallIn(cache, p)
}

// InstallIn is Install with another cache directory.
func InstallIn(cache string, p Pin) (bin string, err error) {
	directory := filepath.Join(cache, p.Tool+"-"+p.Version)
	err = toolbox.Whole(directory, func(dir string) error {
		if p.Python {
			return fillVenv(dir, p)
		}
		return NpmInstall(dir, append([]string{p.Package + "@" + p.Version}, p.With...)...)
	})
	if err != nil {
		return "", fmt.Errorf("install %s %s: %w", p.Package, p.Version, err)
	}
	// the last is the archive of a package for one platform
	for _, dir := range []string{"bin", "node_modules/.bin",
		filepath.Join("node_modules", p.Package, "bin")} {
		bin := filepath.Join(directory, dir)
		if _, err := os.Stat(filepath.Join(bin, p.Tool)); err == nil {
			return bin, nil
		}
	}
	return "", fmt.Errorf("install %s %s: it has no command %s", p.Package, p.Version, p.Tool)
}

// NpmInstall installs packages of npm below a directory.
func NpmInstall(dir string, packages ...string) error {
	_, err := toolbox.Output("npm", slices.Concat(
		[]string{"install", "--prefix", dir, "--no-audit", "--no-fund", "--loglevel=error"},
		packages)...)
	return err
}

// Newest returns the newest version of a pin in the registry.
func Newest(p Pin) (version string, err error) {
	if p.Python {
		return newestPython(p)
	}
	out, err := toolbox.Output("npm", "view", p.Asked, "version")
	if version = strings.TrimSpace(out); err == nil && version == "" {
		err = errors.New("the registry names none")
	}
	if err != nil {
		return "", fmt.Errorf("find the newest %s: %w", p.Asked, err)
	}
	return version, nil
}

// Built reports whether the registry has a pin's package for this platform too.
func Built(p Pin) (bool, error) {
	if p.Package == p.Asked {
		return true, nil
	}
	all, err := toolbox.Output("npm", "view", p.Package, "versions", "--json")
	return strings.Contains(all, `"`+p.Version+`"`), err
}
