package servers

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"reprise/test/toolbox"
)

// Install returns the path of the program, and builds it first if it is not in the user's cache
// directory, which takes about a minute.
func (k Kind) Install() (string, error) {
	cache, err := toolbox.Cache("servers")
	if err != nil {
		return "", err
	}
	directory := filepath.Join(cache, k.Name+"-"+k.version)
	err = toolbox.Whole(directory, func(dir string) error {
		build := exec.Command("go", "install", k.module+"@"+k.version)
		build.Env = append(os.Environ(), "GOBIN="+dir, "GOFLAGS=")
		build.Dir = dir // outside any module
		if _, err := toolbox.Run(build); err != nil {
			return fmt.Errorf("%w: %v", ErrMissing, err)
		}
		return nil
	})
	return filepath.Join(directory, k.Name), err
}
