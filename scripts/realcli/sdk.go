package realcli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// An SDK is a library that runs a CLI, at the version that the tests were written
// against, with what it needs beside it. The CLI that it bundles is left out.
type SDK struct {
	Name, Version string
	Packages      []string // as npm or pip takes them, the SDK's own first
	Python        bool
}

// The SDKs that there are end-to-end tests for. The AI SDK's provider is the newest that runs
// with Node 20.
var (
	AgentTS = SDK{"agent-ts", "0.3.330",
		[]string{"@anthropic-ai/claude-agent-sdk@0.3.330", "@anthropic-ai/sdk@>=0.93.0", "@modelcontextprotocol/sdk@^1.29.0", "zod@^4.1.8"}, false}
	AgentPython = SDK{"agent-py", "0.2.187", []string{"claude-agent-sdk==0.2.187"}, true}
	AISDK       = SDK{"ai-sdk", "3.6.0", []string{"ai-sdk-provider-claude-code@3.6.0", "ai@^6.0.326", "zod@^4.1.8"}, false}
)

// InstallSDK returns the directory of a project that has the SDK: for npm the one with
// node_modules, for Python the virtual environment. It installs the SDK first where the cache
// lacks it.
func InstallSDK(s SDK) (dir string, err error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find cache folder: %w", err)
	}
	cache = filepath.Join(cache, "reprise", "sdk")
	dir = filepath.Join(cache, s.Name+"-"+s.Version)
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", fmt.Errorf("make cache folder: %w", err)
	}
	half, err := os.MkdirTemp(cache, s.Name+"-")
	if err != nil {
		return "", fmt.Errorf("make cache folder: %w", err)
	}
	if s.Python {
		err = fillSDKVenv(half, s)
	} else {
		err = npmInstall(half, s.Packages)
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("install %s %s: %w", s.Name, s.Version, err), os.RemoveAll(half))
	}
	// A virtual environment cannot be moved: the name is a link to it.
	if err := os.Symlink(filepath.Base(half), dir); err != nil && !errors.Is(err, os.ErrExist) {
		return "", errors.Join(fmt.Errorf("install %s: %w", s.Name, err), os.RemoveAll(half))
	}
	return dir, nil
}

// npmInstall leaves out optional packages: the CLIs that SDKs bundle.
func npmInstall(dir string, packages []string) error {
	args := slices.Concat([]string{"install", "--prefix", dir, "--omit=optional", "--no-audit", "--no-fund", "--loglevel=error"}, packages)
	if out, err := exec.Command("npm", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// fillSDKVenv makes a virtual environment, installs the SDK in it and removes the CLI that it bundles.
func fillSDKVenv(dir string, s SDK) error {
	python, err := findPython()
	if err != nil {
		return err
	}
	if _, err := output(python, "-m", "venv", dir); err != nil {
		return err
	}
	python = filepath.Join(dir, "bin", "python")
	if err := pipInstall(python, s.Packages...); err != nil {
		return err
	}
	bundled, err := output(python, "-c", "import claude_agent_sdk, os; print(os.path.join(os.path.dirname(claude_agent_sdk.__file__), '_bundled'))")
	if err != nil {
		return err
	}
	return os.RemoveAll(strings.TrimSpace(bundled))
}
