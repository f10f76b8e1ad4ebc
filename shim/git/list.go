package git

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// EachFile calls use with each file below a directory that is not hidden. In a repository git says
// which there are. It follows no symbolic link.
func EachFile(ctx context.Context, root string, environ []string,
	use func(string, fs.FileInfo)) error {
	repo, err := Find(root)
	if err != nil { // there is none
		return walk(ctx, root, use)
	}
	s, err := repo.newScratch(environ)
	if err != nil {
		return err
	}
	defer s.remove()
	if err := s.copyIndex(); err != nil {
		return err
	}
	paths, err := s.listFiles(ctx, "--cached", "--others")
	if err != nil {
		return errors.Join(ctx.Err(), err)
	}
	for path := range strings.SplitSeq(paths, "\x00") {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if path == "" || strings.HasPrefix(path, ".") || strings.Contains(path, "/.") {
			continue
		}
		if info, err := os.Lstat(filepath.Join(root, path)); err == nil {
			use(path, info)
		}
	}
	return nil
}

// walk calls use with each file below a directory that is not hidden.
func walk(ctx context.Context, root string, use func(string, fs.FileInfo)) error {
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		hidden := path != root && strings.HasPrefix(entry.Name(), ".")
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case hidden && entry.IsDir():
			return fs.SkipDir
		case err != nil || hidden || entry.IsDir():
			return nil
		}
		if info, err := entry.Info(); err == nil {
			use(strings.TrimPrefix(path, root+"/"), info)
		}
		return nil
	})
}

// listFiles returns the paths of files that git does not ignore, each with a NUL behind it.
func (s *scratch) listFiles(ctx context.Context, which ...string) (string, error) {
	list := append([]string{"ls-files", "-z", "--exclude-standard"}, which...)
	if file := s.userSetting(ctx, "--get", "core.excludesFile"); file != "" {
		list = append([]string{"-c", "core.excludesFile=" + file}, list...)
	}
	return s.ask(ctx, list...)
}

// BlobID returns git's ID of a content, in hex of that length, which tells the hash.
func BlobID(content string, length int) string {
	id := sha1.New()
	if length == hex.EncodedLen(sha256.Size) {
		id = sha256.New()
	}
	fmt.Fprintf(id, "blob %d\x00%s", len(content), content)
	return hex.EncodeToString(id.Sum(nil))
}
