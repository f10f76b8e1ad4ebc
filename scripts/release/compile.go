package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
)

// compilers are Debian's names of the C compilers, and the packages that contain them and the C
// library.
var compilers = map[string]struct{ command, packages string }{
	"amd64": {"x86_64-linux-gnu-gcc", "gcc-x86-64-linux-gnu libc6-dev-amd64-cross"},
	"arm64": {"aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu libc6-dev-arm64-cross"},
}

func compilerFor(arch string) (string, error) {
	c, known := compilers[arch]
	if !known {
		return "", fmt.Errorf("build for %s: there is no such architecture\nhint: amd64 or arm64",
			arch)
	}
	if _, err := exec.LookPath(c.command); err == nil {
		return c.command, nil
	}
	if arch == runtime.GOARCH {
		return "cc", nil
	}
	return "", fmt.Errorf("build for %s: %s is not on PATH\nhint: apt install %s (Debian)", arch,
		c.command, c.packages)
}

// A program is a program of a release. Without C code it needs no C compiler.
type program struct {
	name string
	c    bool
}

var all = []program{{"shim", true}, {"shimctl", true}, {"reprise-store", false}}

// compile builds all programs for an architecture into a directory, with the flags of install.sh.
func (r *release) compile(arch, into string) error {
	compiler, err := compilerFor(arch)
	if err != nil {
		return err
	}
	text, err := r.output(nil, "sh", "-ec", `. ./scripts/flags.sh
printf '%s\n%s\n%s' "$tags" "$(stamped "$1" "$2")" "$static"`, "sh", r.version, r.commit)
	if err != nil {
		return err
	}
	flags := strings.Split(text, "\n")
	for _, p := range all {
		fmt.Printf("compiling %s for linux/%s\n", p.name, arch)
		path, err := filepath.Abs(filepath.Join(into, p.name))
		if err != nil {
			return err
		}
		cgo, linker := "CGO_ENABLED=0", flags[1]
		if p.c {
			cgo, linker = "CGO_ENABLED=1", flags[1]+" "+flags[2]
		}
		if _, err := r.output([]string{"GOOS=linux", "GOARCH=" + arch, "GOAMD64=v1",
			"GOARM64=v8.0", "GOFLAGS=", "GOWORK=off", cgo, "CGO_CFLAGS=-O2", "CGO_LDFLAGS=",
			"CC=" + compiler}, "go", "build", "-trimpath", "-buildvcs=false", "-tags", flags[0],
			"-ldflags", linker, "-o", path, "./cmd/"+p.name); err != nil {
			return err
		}
	}
	return nil
}

// makeExtras writes completions, from a build for this machine.
func (r *release) makeExtras(into string) error {
	if err := os.MkdirAll(into, 0o755); err != nil {
		return err
	}
	shimctl, err := filepath.Abs(filepath.Join(into, "program")) // the completions contain its name
	if err != nil {
		return err
	}
	if _, err := r.output(nil, "go", "build", "-o", shimctl, "./cmd/shimctl"); err != nil {
		return err
	}
	for shell, name := range completions {
		script, err := r.output(nil, shimctl, "completion", shell)
		if err != nil {
			return err
		}
		if err := writeFile(filepath.Join(into, name), []byte(script+"\n")); err != nil {
			return err
		}
	}
	return nil
}

// completions are the file names that the shells look for.
var completions = map[string]string{"bash": "shimctl", "zsh": "_shimctl", "fish": "shimctl.fish"}

// A component is a part of the programs in CycloneDX's sense.
type component struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl,omitempty"`
}

// components lists the modules that are linked into the programs, by their own build information,
// and the libraries of Go and C.
func (r *release) components(arch, programs string) ([]component, error) {
	var list []component
	for _, p := range all {
		info, err := buildinfo.ReadFile(filepath.Join(programs, p.name))
		if err != nil {
			return nil, err
		}
		std := &debug.Module{Path: "stdlib", Version: strings.TrimPrefix(info.GoVersion, "go")}
		for _, m := range append([]*debug.Module{std}, info.Deps...) {
			c := component{"library", m.Path, m.Version, "pkg:golang/" + m.Path + "@" + m.Version}
			if !slices.Contains(list, c) {
				list = append(list, c)
			}
		}
	}
	libc, err := r.libcVersion(arch)
	if err != nil {
		return nil, err
	}
	return append(list, component{Type: "library", Name: "glibc", Version: libc}), nil
}

// bill lists the components as CycloneDX does.
func (r *release) bill(list []component) ([]byte, error) {
	text, err := json.MarshalIndent(map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
		"metadata": map[string]any{
			"timestamp": r.time.Format("2006-01-02T15:04:05Z"),
			"component": component{Type: "application", Name: "reprise", Version: r.version},
		},
		"components": list,
	}, "", "  ")
	return append(text, '\n'), err
}

// licenses returns the licences of the Go modules among the components, and of Go. They ask to be
// in every copy that is passed on.
func (r *release) licenses(list []component) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintln(&b, "The programs contain these libraries, beside the C library.")
	for _, c := range list {
		if c.PURL == "" {
			continue
		}
		find := []string{"list", "-m", "-f", "{{.Dir}}", c.Name}
		if c.Name == "stdlib" {
			find = []string{"env", "GOROOT"}
		}
		dir, err := r.output(nil, "go", find...)
		if err != nil {
			return nil, err
		}
		texts, err := licenseTexts(dir)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Name, err)
		}
		for _, text := range texts {
			fmt.Fprintf(&b, "\n%s\n%s %s\n\n%s\n", strings.Repeat("=", 100), c.Name, c.Version,
				text)
		}
	}
	return b.Bytes(), nil
}

var license = regexp.MustCompile(`(?i)^(licen[sc]e|copying|notice)`)

// licenseTexts returns the texts of the files with a module's licence. A module without one is an
// error.
func licenseTexts(dir string) (texts []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if entry.IsDir() || !license.MatchString(entry.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			return nil, err
		}
		texts = append(texts, strings.TrimSpace(string(text)))
	}
	if len(texts) == 0 {
		return nil, errors.New("there is no file with its licence")
	}
	return texts, nil
}

// libcVersion asks the compiler for the version of the C library that it links.
func (r *release) libcVersion(arch string) (string, error) {
	compiler, err := compilerFor(arch)
	if err != nil {
		return "", err
	}
	text, err := r.output(nil, "sh", "-c", `"$0" -E -P -x c - <<END
#include <features.h>
__GLIBC__ __GLIBC_MINOR__
END`, compiler)
	return strings.Join(strings.Fields(text), "."), err
}
