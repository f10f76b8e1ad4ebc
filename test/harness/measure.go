package harness

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"reprise/rewrite"
)

// Median returns the value in the middle.
func Median[T cmp.Ordered](list []T) T { return Quantile(list, 0.5) }

// Quantile returns the value that a part of the list is below.
func Quantile[T cmp.Ordered](list []T, part float64) T {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[int(math.Round(part*float64(len(sorted)-1)))]
}

// Build builds the shims, shimctl and the store's helper into a directory.
func Build(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make directory: %w", err)
	}
	// without symbols linking takes half the time
	if out, err := exec.Command("go", "build", "-ldflags", "-s -w", "-o", dir+"/",
		"reprise/cmd/shim", "reprise/cmd/shimctl",
		"reprise/cmd/reprise-store").CombinedOutput(); err != nil {
		return fmt.Errorf("build the shims: %w\n%s", err, out)
	}
	shim := filepath.Join(dir, "shim")
	var err error
	for _, tool := range rewrite.Names {
		err = errors.Join(err, os.Link(shim, filepath.Join(dir, tool)))
	}
	return errors.Join(err, os.Remove(shim))
}
