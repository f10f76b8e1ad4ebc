package bundle

import (
	"archive/tar"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"reprise/fleet/store"

	"github.com/klauspost/compress/zstd"
)

// maxWindow bounds the memory that a bundle makes the reader use.
const maxWindow = 4 << 20

// Unpack replaces the files at and below paths by a bundle's files, and adds common files. Anything
// there now must be nothing, or have one of the digests replace: it fails with store.ErrChanged
// otherwise. It fails with store.ErrBroken if the bundle has another digest, or contents that no
// bundle has. It calls fetch if the files are not the bundle's already.
func Unpack(ctx context.Context, fetch func() (io.Reader, error), digest string, root *os.Root,
	paths, replace []string, limits Limits) error {
	chosen, err := selectPaths(paths)
	if err != nil {
		return err
	}
	u := &unpacker{root: root, chosen: chosen, limits: limits, names: map[string]string{}}
	defer u.clean()
	if now, _, err := u.present(replace, digest); err != nil || now == digest {
		return err
	}
	r, err := fetch()
	if err != nil {
		return err
	}
	found, err := u.read(r)
	if err != nil {
		return err
	}
	if found != digest {
		return fmt.Errorf("%w: the bundle has another digest", store.ErrBroken)
	}
	now, old, err := u.present(replace, digest)
	if err != nil || now == digest {
		return err
	}
	if ctx.Err() != nil { // nobody waits for the files any more
		return context.Cause(ctx)
	}
	return u.commit(old)
}

// An unpacker has unpacked some files of a bundle under temporary names.
type unpacker struct {
	root   *os.Root
	chosen selection
	limits Limits

	order []string          // paths in the order of the bundle
	names map[string]string // by path: the temporary name
	made  []string          // directories that did not exist
	size  int64
}

// read unpacks all files and returns their digest.
func (u *unpacker) read(r io.Reader) (string, error) {
	compressed, err := zstd.NewReader(r, zstd.WithDecoderMaxWindow(maxWindow),
		zstd.WithDecoderConcurrency(1))
	if err != nil {
		return "", err
	}
	defer compressed.Close()
	// Headers and padding of small files are more than their contents.
	archive, sum := tar.NewReader(io.LimitReader(compressed,
		u.limits.Size+int64(u.limits.Files)*8<<10)), sha256.New()
	for {
		header, err := archive.Next()
		if err == io.EOF {
			return inHex(sum), nil
		}
		if err != nil {
			return "", fmt.Errorf("%w: %w", store.ErrBroken, err)
		}
		if err := u.check(header); err != nil {
			return "", fmt.Errorf("%w: %w", store.ErrBroken, err)
		}
		content, err := u.unpack(archive, header)
		if err != nil {
			return "", err
		}
		if u.chosen.isOwn(header.Name) {
			addFile(sum, header.Name, content)
		}
	}
}

// check refuses an entry that Pack does not write.
func (u *unpacker) check(h *tar.Header) error {
	switch name := h.Name; {
	case h.Typeflag != tar.TypeReg || !knownRecords(h.PAXRecords):
		return fmt.Errorf("%q is no plain file", name)
	case !plain(name) || strings.HasPrefix(path.Base(name), temporary):
		return fmt.Errorf("%q is no path of a bundle", name)
	case !u.chosen.isOwn(name) && !u.chosen.isCommon(name):
		return fmt.Errorf("%q is no path of the session", name)
	case len(u.order) > 0 && name <= u.order[len(u.order)-1]:
		return fmt.Errorf("%q is not in order", name)
	case strings.Count(name, "/") >= maxDepth, len(u.order) >= u.limits.Files,
		h.Size > u.limits.Size-u.size:
		return fmt.Errorf("%q is beyond the limits", name)
	case u.isFile(path.Dir(name)): // a path comes before all below it
		return fmt.Errorf("%q is in a file", name)
	default:
		return nil
	}
}

// knownRecords reports whether an entry has only the extended attributes that Pack writes.
func knownRecords(records map[string]string) bool {
	for key := range records {
		if key != "path" && key != "mtime" && key != "size" {
			return false
		}
	}
	return true
}

// isFile reports whether a directory, or one above it, is a file of the bundle.
func (u *unpacker) isFile(dir string) bool {
	for ; dir != "."; dir = path.Dir(dir) {
		if _, ok := u.names[dir]; ok {
			return true
		}
	}
	return false
}

// unpack writes one file under a temporary name beside its own and returns the content's SHA-256.
func (u *unpacker) unpack(archive io.Reader, h *tar.Header) ([]byte, error) {
	dir := path.Dir(h.Name)
	if err := u.mkdir(dir); err != nil {
		return nil, err
	}
	name := path.Join(dir, temporary+rand.Text())
	out, err := u.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	u.size += h.Size
	u.order, u.names[h.Name] = append(u.order, h.Name), name
	content := sha256.New()
	_, err = io.Copy(io.MultiWriter(out, content), archive)
	if _, disk := errors.AsType[*fs.PathError](err); err != nil && !disk {
		err = fmt.Errorf("%w: %w", store.ErrBroken, err)
	}
	if err := errors.Join(err, out.Close()); err != nil {
		return nil, err
	}
	if err := u.root.Chtimes(name, time.Time{}, h.ModTime); err != nil {
		return nil, err
	}
	return content.Sum(nil), nil
}

// mkdir creates a directory and those above it.
func (u *unpacker) mkdir(dir string) error {
	for above := dir; above != "."; above = path.Dir(above) {
		if _, err := u.root.Lstat(above); errors.Is(err, fs.ErrNotExist) {
			u.made = append(u.made, above)
		}
	}
	return u.root.MkdirAll(dir, 0o700)
}

// present returns the digest of the files that are there now, and these. It fails with
// store.ErrChanged if anything but a file is in the way, or files that must not be replaced.
func (u *unpacker) present(replace []string,
	own string) (digest string, files []file, err error) {
	for _, name := range u.order {
		if info, err := u.root.Lstat(name); err == nil && !info.Mode().IsRegular() {
			return "", nil, fmt.Errorf("%w: %s is no regular file", store.ErrChanged, name)
		}
	}
	// beyond the limits they are of no bundle
	if files, err = list(u.root, selection{own: u.chosen.own}, u.limits); err != nil {
		return "", nil, fmt.Errorf("%w: %w", store.ErrChanged, err)
	}
	digest, err = digestOf(u.root, files)
	if err == nil && digest != "" && digest != own && !slices.Contains(replace, digest) {
		err = store.ErrChanged
	}
	return digest, files, err
}

// commit gives files their names and removes the session's own ones that the bundle does not have.
func (u *unpacker) commit(old []file) error {
	for _, name := range u.order {
		if _, err := u.root.Lstat(name); err == nil && !u.chosen.isOwn(name) {
			continue // it has the same content
		}
		if err := u.root.Rename(u.names[name], name); err != nil {
			return err
		}
		delete(u.names, name)
	}
	u.made = nil
	for _, f := range old {
		if _, ok := slices.BinarySearch(u.order, f.path); !ok {
			if err := u.root.Remove(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

func (u *unpacker) clean() {
	for _, name := range u.names {
		_ = u.root.Remove(name) // the name says that it is no session's file
	}
	slices.Sort(u.made)
	for _, dir := range slices.Backward(u.made) {
		_ = u.root.Remove(dir) // fails if another process has put a file there
	}
}
