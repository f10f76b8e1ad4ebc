// Package bundle packs the files of a session into one stream, and unpacks it elsewhere.
//
// A bundle is a tar of regular files in the order of their paths, compressed by zstd. Invariants:
// nothing outside the named paths below a directory is read or written, whatever a bundle contains;
// no file of a session is replaced before all of the bundle is unpacked and its digest compared.
package bundle

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"reprise/fleet/store"
	"reprise/rewrite"

	"github.com/klauspost/compress/zstd"
)

// Limits bound packing and unpacking.
type Limits struct {
	Size  int64 // of all files, in bytes
	Files int
}

// maxDepth is how deep the directories of a bundle's files can lie in each other.
const maxDepth = 64

// Usual are the limits of the sessions that are shared.
var Usual = Limits{Size: 64 << 20, Files: 10_000}

// temporary begins the names of files that are being unpacked. They never count as a session's.
const temporary = ".reprise-unpack-"

// A file is one of a session's files.
type file struct {
	path   string // below the root, with slashes
	size   int64
	time   time.Time
	common bool // other sessions need it too: it does not count in digests
}

// A selection says which files belong to a session: the files at and below own, and files that
// match common and belong to other sessions too.
type selection struct{ own, common []string }

// selectPaths refuses paths that are not plainly below a root.
func selectPaths(paths []string) (s selection, err error) {
	for _, name := range paths {
		pattern, common := strings.CutPrefix(name, rewrite.CommonFiles)
		if common {
			s.common = append(s.common, pattern)
		} else {
			s.own = append(s.own, name)
		}
		if _, err := path.Match(pattern, ""); !plain(pattern) || common && err != nil {
			return selection{}, fmt.Errorf("%q is no path below a directory", name)
		}
	}
	if len(s.own) == 0 {
		return selection{}, errors.New("a session has no paths")
	}
	return s, nil
}

// isCommon reports whether other sessions can need a file too.
func (s selection) isCommon(name string) bool {
	return slices.ContainsFunc(s.common, func(pattern string) bool {
		matched, _ := path.Match(pattern, name)
		return matched
	})
}

// isOwn reports whether a file is the session's alone.
func (s selection) isOwn(name string) bool {
	return slices.ContainsFunc(s.own, func(p string) bool {
		return name == p || strings.HasPrefix(name, p+"/")
	})
}

// digestOf returns the SHA-256 of the paths and contents of files, in hex, "" if there are none.
// Times and modes do not count.
func digestOf(root *os.Root, files []file) (string, error) {
	if len(files) == 0 {
		return "", nil
	}
	sum := sha256.New()
	for _, f := range files {
		content, err := copyFile(io.Discard, root, f.path)
		if err != nil {
			return "", err
		}
		addFile(sum, f.path, content)
	}
	return inHex(sum), nil
}

// list returns the selected files in the order of their paths. It fails with store.ErrTooLarge
// beyond the limits.
func list(root *os.Root, chosen selection, limits Limits) ([]file, error) {
	found := map[string]file{}
	var size int64
	add := func(name string, entry fs.DirEntry) error {
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s is no regular file", name)
		}
		if _, ok := found[name]; !ok {
			size += info.Size()
		}
		found[name] = file{name, info.Size(), info.ModTime(), !chosen.isOwn(name)}
		if len(found) > limits.Files || size > limits.Size || strings.Count(name, "/") >= maxDepth {
			return fmt.Errorf("%w: more than %d files, %d bytes or %d directories in each other",
				store.ErrTooLarge, limits.Files, limits.Size, maxDepth)
		}
		return nil
	}
	names, err := chosen.names(root)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if err := walk(root, name, add); err != nil {
			return nil, err
		}
	}
	return slices.SortedFunc(maps.Values(found), func(a, b file) int {
		return strings.Compare(a.path, b.path)
	}), nil
}

// names returns the selection's own names, and the names of the common files.
func (s selection) names(root *os.Root) ([]string, error) {
	names := slices.Clone(s.own)
	for _, pattern := range s.common {
		matches, err := fs.Glob(root.FS(), pattern)
		if err != nil {
			return nil, err
		}
		for _, name := range matches {
			if info, err := root.Lstat(name); err == nil && !info.IsDir() &&
				!strings.HasPrefix(path.Base(name), temporary) {
				names = append(names, name)
			}
		}
	}
	return names, nil
}

// walk calls add with every entry at or below a path that is no directory. A missing path has none.
func walk(root *os.Root, name string, add func(string, fs.DirEntry) error) error {
	info, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.IsDir():
		return add(name, fs.FileInfoToDirEntry(info))
	}
	return fs.WalkDir(root.FS(), name, func(at string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasPrefix(path.Base(at), temporary) {
			return err
		}
		return add(at, entry)
	})
}

// plain reports whether a path has one spelling and leads below the root.
func plain(name string) bool {
	return name != "." && path.Clean(name) == name && filepath.IsLocal(name) &&
		!strings.ContainsAny(name, "\x00\\")
}

// addFile adds a file to a digest: the length of the path, the path and the content's SHA-256.
func addFile(sum hash.Hash, path string, content []byte) {
	sum.Write(binary.BigEndian.AppendUint64(nil, uint64(len(path))))
	sum.Write(append([]byte(path), content...))
}

func inHex(sum hash.Hash) string { return hex.EncodeToString(sum.Sum(nil)) }

func copyFile(w io.Writer, root *os.Root, name string) ([]byte, error) {
	in, err := openRegular(root, name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	sum := sha256.New()
	_, err = io.Copy(io.MultiWriter(w, sum), in)
	return sum.Sum(nil), err
}

// openRegular opens a regular file for reading. It neither follows a link nor waits for a pipe's
// writer: a listed file can be another thing now.
func openRegular(root *os.Root, name string) (*os.File, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file", name)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Pack writes a bundle of the files at and below paths to w and returns the digest of the files
// that are not common. The first path must exist. It fails with store.ErrTooLarge beyond the
// limits, and with store.ErrChanged if the files change meanwhile.
func Pack(w io.Writer, root *os.Root, paths []string, limits Limits) (string, error) {
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
	packed, err := writeTar(w, root, files)
	if err != nil {
		return "", err
	}
	if files, err = list(root, selection{own: chosen.own}, limits); err != nil {
		return "", err
	}
	now, err := digestOf(root, files)
	if err == nil && now != packed {
		err = fmt.Errorf("%w: while they were packed", store.ErrChanged)
	}
	return packed, err
}

func writeTar(w io.Writer, root *os.Root, files []file) (string, error) {
	compressed, err := zstd.NewWriter(w,
		zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(maxWindow))
	if err != nil {
		return "", err
	}
	archive, sum := tar.NewWriter(compressed), sha256.New()
	for _, f := range files {
		if err := writeFile(archive, root, f, sum); err != nil {
			return "", err
		}
	}
	if err := errors.Join(archive.Close(), compressed.Close()); err != nil {
		return "", err
	}
	return inHex(sum), nil
}

func writeFile(archive *tar.Writer, root *os.Root, f file, sum hash.Hash) error {
	// Only PAX keeps nanoseconds: some tools compare times that they have stored.
	header := &tar.Header{Typeflag: tar.TypeReg, Name: f.path, Size: f.size, Mode: 0o600,
		ModTime: f.time}
	header.Format = tar.FormatPAX
	if err := archive.WriteHeader(header); err != nil {
		return err
	}
	content, err := copyFile(archive, root, f.path)
	if errors.Is(err, tar.ErrWriteTooLong) {
		err = fmt.Errorf("%w: %s has grown", store.ErrChanged, f.path)
	}
	if err != nil {
		return err
	}
	if !f.common {
		addFile(sum, f.path, content)
	}
	if err := archive.Flush(); err != nil {
		return fmt.Errorf("%w: %s has shrunk: %w", store.ErrChanged, f.path, err)
	}
	return nil
}
