package servers

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"

	"reprise/test/toolbox"
)

// A program is a server that `go install` builds.
type program struct{ module, version, main string }

// The versions that the tests were written for. MinIO publishes no others to the module proxy.
var (
	versitygw = program{"github.com/versity/versitygw", "v1.8.0", "/cmd/versitygw"}
	minio     = program{"github.com/minio/minio", "v0.0.0-20260212201848-7aac2a2c5b7c", ""}
)

// InstallVersitygw returns the path of versitygw, and builds it first if it is not in the cache,
// which takes about a minute.
func InstallVersitygw() (string, error) { return versitygw.install() }

// install keeps the program in the user's cache directory.
func (p program) install() (string, error) {
	cache, err := toolbox.Cache("servers")
	if err != nil {
		return "", err
	}
	name := path.Base(p.module)
	directory := filepath.Join(cache, name+"-"+p.version)
	err = toolbox.Whole(directory, func(dir string) error {
		build := exec.Command("go", "install", p.module+p.main+"@"+p.version)
		build.Env = append(os.Environ(), "GOBIN="+dir, "GOFLAGS=")
		build.Dir = dir // outside any module
		if _, err := toolbox.Run(build); err != nil {
			return fmt.Errorf("%w: %v", ErrMissing, err)
		}
		return nil
	})
	return filepath.Join(directory, name), err
}
