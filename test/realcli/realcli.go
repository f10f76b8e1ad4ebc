// Package realcli installs the real CLIs, at pinned versions, into a cache directory of their own,
// for the end-to-end tests.
//
// It never touches what the user has installed, and downloads only from the package registries that
// npm and pip are configured for. Its invariant: a directory with a version's name contains that
// version completely.
package realcli

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// A Pin is a CLI at the version that the tests were written for.
type Pin struct {
	Tool, Package, Version string
	Python                 bool // a Python package, not one of npm's
	// With are further npm packages, whose commands are in the same directory.
	With []string
}

// The CLIs with end-to-end tests.
var (
	Claude  = Pin{"claude", "@anthropic-ai/claude-code", "2.1.329", false, nil}
	Codex   = Pin{"codex", "@openai/codex", "0.169.0", false, nil}
	Copilot = Pin{"copilot", "@github/copilot", "1.0.102", false, nil}
	Gemini  = Pin{"gemini", "@google/gemini-cli", "0.61.0", false, nil}
	Qwen    = Pin{"qwen", "@qwen-code/qwen-code", "0.24.4", false, []string{"node@22.23.3"}} // it needs Node 22
	Vibe    = Pin{"vibe", "mistral-vibe", "3.0.3", true, nil}

	// The packages that the commands' packages would run, since those want to run an install script.
	OpenCode = Pin{"opencode", "opencode-linux-" + arch, "1.18.33", false, nil}
	Kilo     = Pin{"kilo", "@kilocode/cli-linux-" + arch, "7.7.9", false, nil}
)

// arch is the processor in the names of npm packages.
var arch = map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]

// NewestClaude is the newest claude that was tried. It comes out weekly, so it may be newer than Claude.
var NewestClaude = Pin{"claude", Claude.Package, "2.1.330", false, nil}

// Newest are the versions beside Pins that are newer.
var Newest = map[string]Pin{"claude": NewestClaude}

// SmallerClaude is a claude that resumes in a smaller variant of its default model by itself.
var SmallerClaude = Pin{"claude", Claude.Package, "2.1.197", false, nil}

// OldClaude is the claude of a year before Claude.
var OldClaude = Pin{"claude", Claude.Package, "2.0.50", false, nil}

// Pins are the CLIs by their names.
var Pins = map[string]Pin{"claude": Claude, "codex": Codex, "copilot": Copilot, "droid": Droid, "gemini": Gemini, "opencode": OpenCode, "qwen": Qwen, "vibe": Vibe}

// Install returns the directory of the executable, and installs it first if it is not in the cache.
func Install(p Pin) (bin string, err error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find cache folder: %w", err)
	}
	return InstallIn(filepath.Join(cache, "reprise", "cli"), p)
}

// InstallIn is Install with another cache directory.
func InstallIn(cache string, p Pin) (bin string, err error) {
	if p.Python {
		return installPython(cache, p)
	}
	folder := filepath.Join(cache, p.Tool+"-"+p.Version)
	if bin := p.commands(folder); bin != "" {
		return bin, nil
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", fmt.Errorf("make cache folder: %w", err)
	}
	half, err := os.MkdirTemp(cache, p.Tool+"-")
	if err != nil {
		return "", fmt.Errorf("make cache folder: %w", err)
	}
	defer os.RemoveAll(half)
	args := []string{"install", "--prefix", half, "--no-audit", "--no-fund", "--loglevel=error", p.Package + "@" + p.Version}
	npm := exec.Command("npm", append(args, p.With...)...)
	if out, err := npm.CombinedOutput(); err != nil {
		return "", fmt.Errorf("install %s %s: %w\n%s", p.Package, p.Version, err, out)
	}
	// Another process may have been faster; its result is as good.
	err = os.Rename(half, folder)
	if bin = p.commands(folder); bin == "" {
		return "", fmt.Errorf("install %s: %w", p.Package, cmp.Or(err, fmt.Errorf("it has no command %s", p.Tool)))
	}
	return bin, nil
}

// commands returns the directory with the command in an npm installation, "" if there is none: npm's, or
// that of a package for one platform.
func (p Pin) commands(folder string) string {
	for _, dir := range []string{".bin", filepath.Join(p.Package, "bin")} {
		bin := filepath.Join(folder, "node_modules", dir)
		if _, err := os.Stat(filepath.Join(bin, p.Tool)); err == nil {
			return bin
		}
	}
	return ""
}
