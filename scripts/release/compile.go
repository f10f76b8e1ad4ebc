package main

import (
	"bytes"
	"debug/buildinfo"
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

// compilers are Debian's names of the C compilers.
var compilers = map[string]string{"amd64": "x86_64-linux-gnu-gcc", "arm64": "aarch64-linux-gnu-gcc"}

func compilerFor(arch string) (string, error) {
	command, known := compilers[arch]
	if !known {
		return "", fmt.Errorf("build for %s: there is no such architecture\nhint: amd64 or arm64",
			arch)
	}
	if _, err := exec.LookPath(command); err == nil {
		return command, nil
	}
	if arch == runtime.GOARCH {
		return "cc", nil
	}
	packaged := strings.ReplaceAll(strings.TrimSuffix(command, "-gcc"), "_", "-")
	return "", fmt.Errorf("build for %s: %s is not on PATH\nhint: apt install gcc-%s "+
		"libc6-dev-%s-cross (Debian)", arch, command, packaged, arch)
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

// modules lists the modules that are linked into the programs, by their own build information, and
// the library of Go.
func modules(programs string) (list []debug.Module, err error) {
	for _, p := range all {
		info, err := buildinfo.ReadFile(filepath.Join(programs, p.name))
		if err != nil {
			return nil, err
		}
		std := &debug.Module{Path: "stdlib", Version: strings.TrimPrefix(info.GoVersion, "go")}
		for _, m := range append([]*debug.Module{std}, info.Deps...) {
			if !slices.Contains(list, *m) {
				list = append(list, *m)
			}
		}
	}
	return list, nil
}

// licenses returns the licences of modules. They ask to be in every copy that is passed on.
func (r *release) licenses(list []debug.Module) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintln(&b, "The programs contain these libraries, beside the C library.")
	for _, m := range list {
		find := []string{"list", "-m", "-f", "{{.Dir}}", m.Path}
		if m.Path == "stdlib" {
			find = []string{"env", "GOROOT"}
		}
		dir, err := r.output(nil, "go", find...)
		if err != nil {
			return nil, err
		}
		texts, err := licenseTexts(dir)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.Path, err)
		}
		for _, text := range texts {
			fmt.Fprintf(&b, "\n%s\n%s %s\n\n%s\n", strings.Repeat("=", 100), m.Path, m.Version,
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
