package servers

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
)

// A program is a server that `go install` builds.
type program struct{ module, version, main string }

// The versions that the tests were written for. MinIO publishes no others to the module proxy.
var (
	versitygw = program{"github.com/versity/versitygw", "v1.8.0", "/cmd/versitygw"}
	minioPin  = program{"github.com/minio/minio", "v0.0.0-20260212201848-7aac2a2c5b7c", ""}
)

// InstallVersitygw returns the path of versitygw, and builds it first if it is not in the cache, which takes
// about a minute.
func InstallVersitygw() (string, error) { return versitygw.install() }

// install keeps the program in the user's cache directory. Its invariant: what has the version's name is whole.
func (p program) install() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find cache directory: %w", err)
	}
	name := path.Base(p.module)
	folder := filepath.Join(cache, "reprise", "servers", name+"-"+p.version)
	bin := filepath.Join(folder, name)
	if _, err := os.Stat(bin); err == nil {
		return bin, nil
	}
	if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
		return "", fmt.Errorf("make cache directory: %w", err)
	}
	half, err := os.MkdirTemp(filepath.Dir(folder), name+"-")
	if err != nil {
		return "", fmt.Errorf("make cache directory: %w", err)
	}
	defer os.RemoveAll(half)
	build := exec.Command("go", "install", p.module+p.main+"@"+p.version)
	build.Env = append(os.Environ(), "GOBIN="+half, "GOFLAGS=")
	build.Dir = half // outside any module
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: install %s %s: %v: %s", ErrMissing, name, p.version, err, out)
	}
	// Another process may have been faster; its result is as good.
	if err := os.Rename(half, folder); err != nil {
		if _, stat := os.Stat(bin); stat != nil {
			return "", fmt.Errorf("install %s: %w", name, err)
		}
	}
	return bin, nil
}
