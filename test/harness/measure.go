package harness

import (
	"cmp"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"

	"reprise/rewrite"
	"reprise/test/toolbox"
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
	// without symbols linking takes half the time
	_, err := toolbox.Output("go", "build", "-ldflags", "-s -w", "-o", dir+"/", "reprise/cmd/shim",
		"reprise/cmd/shimctl", "reprise/cmd/reprise-store")
	if err != nil {
		return err
	}
	shim := filepath.Join(dir, "shim")
	for _, tool := range rewrite.Names {
		err = errors.Join(err, os.Link(shim, filepath.Join(dir, tool)))
	}
	return errors.Join(err, os.Remove(shim))
}
