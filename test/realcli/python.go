package realcli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"reprise/test/toolbox"
)

// ErrNoPython reports that a Python package cannot be installed here.
var ErrNoPython = errors.New("no Python 3.12 or newer was found")

// fillVenv creates a virtual environment and installs the package in it, then its requirements. It
// needs only Python and its pip. vibe 3.0.3 pins a certifi that some registries lack, so any
// certifi is accepted. Old versions of vibe do not pin indirect requirements.
func fillVenv(venv string, p Pin) error {
	python, err := NewVenv(venv, "--no-deps", p.Package+"=="+p.Version)
	if err != nil {
		return err
	}
	requires, err := toolbox.Output(python, "-c",
		"import importlib.metadata as m, sys; print(*m.requires(sys.argv[1]), sep='\\n')",
		p.Package)
	if err != nil {
		return err
	}
	lines := strings.Split(requires, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "certifi==") {
			lines[i] = "certifi"
		}
	}
	list := filepath.Join(venv, "requirements.txt")
	if err := os.WriteFile(list, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
		return err
	}
	return pipInstall(python, "-r", list)
}

// NewVenv creates a virtual environment with these packages, and returns its Python.
func NewVenv(venv string, packages ...string) (python string, err error) {
	if python, err = findPython(); err != nil {
		return "", err
	}
	if _, err := toolbox.Output(python, "-m", "venv", venv); err != nil {
		return "", err
	}
	python = filepath.Join(venv, "bin", "python")
	return python, pipInstall(python, packages...)
}

func pipInstall(python string, what ...string) error {
	_, err := toolbox.Output(python, slices.Concat([]string{"-m", "pip", "install", "--quiet"},
		what)...)
	return err
}

// newestPython is Newest for a Python package. Only the first line of pip's list is in order: NAME
// (NEWEST).
func newestPython(p Pin) (string, error) {
	python, err := findPython()
	if err != nil {
		return "", err
	}
	out, err := toolbox.Output(python, "-m", "pip", "index", "versions", p.Package)
	if err != nil {
		return "", fmt.Errorf("find the newest %s: %w", p.Package, err)
	}
	first, _, _ := strings.Cut(out, "\n")
	_, version, found := strings.Cut(strings.TrimSuffix(first, ")"), " (")
	if !found {
		return "", fmt.Errorf("find the newest %s: pip says %q", p.Package, first)
	}
	return version, nil
}

// findPython searches PATH and pyenv's versions. A name on PATH can be a launcher without a Python,
// so each is tried.
func findPython() (string, error) {
	names := []string{"python3.12", "python3.13", "python3", "python"}
	pyenv := os.Getenv("PYENV_ROOT")
	if home, err := os.UserHomeDir(); err == nil && pyenv == "" {
		pyenv = filepath.Join(home, ".pyenv")
	}
	// a constant pattern except for the directory
	found, _ := filepath.Glob(filepath.Join(pyenv, "versions", "3.*", "bin", "python3"))
	names = append(names, found...)
	for _, name := range names {
		if _, err := toolbox.Output(name, "-c",
			"import sys, venv; sys.exit(sys.version_info < (3, 12))"); err == nil {
			return name, nil
		}
	}
	return "", ErrNoPython
}
