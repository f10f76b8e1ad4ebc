package bundle

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"reprise/fleet/store"

	"github.com/klauspost/compress/zstd"
)

// Pack writes a bundle of the files at and below paths to w and returns the digest of
// those that are not common. The first path
// must exist. It fails with store.ErrTooLarge beyond the limits, and with store.ErrChanged if the
// files change meanwhile.
func Pack(ctx context.Context, w io.Writer, root *os.Root, paths []string, limits Limits) (string, error) {
	chosen, err := selectPaths(paths)
	if err != nil {
		return "", err
	}
	files, err := list(root, chosen, limits)
	if err != nil {
		return "", err
	}
	if _, err := root.Lstat(chosen.own[0]); err != nil {
		return "", err
	}
	if !slices.ContainsFunc(files, func(f file) bool { return !f.common }) {
		return "", fmt.Errorf("%s has no files: %w", chosen.own[0], fs.ErrNotExist)
	}
	packed, err := writeTar(ctx, w, root, files)
	if err != nil {
		return "", err
	}
	now, err := Digest(ctx, root, paths, limits)
	if err == nil && now != packed {
		err = fmt.Errorf("%w: while they were packed", store.ErrChanged)
	}
	return packed, err
}

// writeTar writes the compressed tar and returns the digest of the contents.
func writeTar(ctx context.Context, w io.Writer, root *os.Root, files []file) (string, error) {
	compressed, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(maxWindow))
	if err != nil {
		return "", err
	}
	archive, sum := tar.NewWriter(compressed), newSummer()
	for _, f := range files {
		if err := writeFile(ctx, archive, root, f, sum); err != nil {
			return "", err
		}
	}
	if err := errors.Join(archive.Close(), compressed.Close()); err != nil {
		return "", err
	}
	return sum.digest(), nil
}

func writeFile(ctx context.Context, archive *tar.Writer, root *os.Root, f file, sum *summer) error {
	// Only PAX keeps nanoseconds: some tools compare times that they have stored.
	header := &tar.Header{Typeflag: tar.TypeReg, Name: f.path, Size: f.size, Mode: 0o600, ModTime: f.time, Format: tar.FormatPAX}
	if err := archive.WriteHeader(header); err != nil {
		return err
	}
	content, err := copyFile(ctx, archive, root, f.path)
	if errors.Is(err, tar.ErrWriteTooLong) {
		err = fmt.Errorf("%w: %s has grown", store.ErrChanged, f.path)
	}
	if err != nil {
		return err
	}
	if !f.common {
		sum.add(f.path, content)
	}
	if err := archive.Flush(); err != nil {
		return fmt.Errorf("%w: %s has shrunk: %w", store.ErrChanged, f.path, err)
	}
	return nil
}
