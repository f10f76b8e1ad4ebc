// Package history reads what the tools keep of their sessions in their own directories, so
// that shimctl can show sessions that no shim has seen.
//
// It never writes to these directories, and keeps no word of a prompt or an answer. Nothing
// that it finds is ever resumed: only shimctl uses it. Its invariant: it returns the same for
// a file that is read at once and for one that is read as it grows.
package history

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
	"reprise/rewrite"
)

// A Session is one that a tool has kept. Tokens are of disjoint kinds, and known only
// where Counted is set.
type Session struct {
	Tool       string    `json:"tool"`
	ID         string    `json:"id"`
	Cwd        string    `json:"cwd,omitempty"`
	Model      string    `json:"model,omitempty"` // the latest
	Version    string    `json:"version,omitempty"`
	Started    time.Time `json:"started"`
	Updated    time.Time `json:"updated"`
	Turns      int       `json:"turns"` // prompts of the user's, -1 where that is not known
	Counted    bool      `json:"counted"`
	Input      int64     `json:"input"`
	CacheRead  int64     `json:"cache_read"`
	CacheWrite int64     `json:"cache_write"`
	Output     int64     `json:"output"`
}

// A Cache remembers how far each file has been read; its zero value remembers nothing. It
// can be kept as JSON.
type Cache struct {
	Version int              `json:"version"`
	Files   map[string]*File `json:"files"`
}

// cacheVersion counts what File has meant.
const cacheVersion = 1

// A File is what has been read of one file.
type File struct {
	Device  uint64    `json:"device"`
	Inode   uint64    `json:"inode"`
	Offset  int64     `json:"offset"`         // behind the last whole line that was read
	Tail    uint64    `json:"tail,omitempty"` // digest of what stands before it: a file that was written anew has another
	Size    int64     `json:"size"`
	Changed time.Time `json:"changed"`
	Last    string    `json:"last,omitempty"` // the message whose tokens were counted last
	Session Session   `json:"session"`        // with an ID of the tool's form, where it is one
}

// A place is where a tool keeps sessions, and how they are read.
type place struct {
	tool  string
	line  func(f *File, line []byte)
	whole func(f *File, text []byte) // in place of line: the file is put in place as a whole
	begin func(f *File, path string)
}

// patterns returns where the tool's session files stand, for filepath.Glob.
func (p place) patterns(env func(string) string) (patterns []string) {
	if t, ok := rewrite.Lookup(p.tool); ok {
		home := rewrite.Literal(t.Descriptor().Home(env))
		for _, pattern := range t.Descriptor().Sessions {
			patterns = append(patterns, filepath.Join(home, pattern))
		}
	}
	return patterns
}

var places = []place{
	{tool: "claude", begin: beginClaude, line: claudeLine},
	{tool: "codex", line: codexLine},
	{tool: "gemini", begin: beginGemini, line: geminiLine},
	{tool: "vibe", whole: vibeWhole},
}

// Read returns the sessions of all tools, or of one, from the directories that the
// environment names. A file that has not changed since it was cached is not read again. A
// file that cannot be read is left out; err is the first such error.
func Read(env func(string) string, tool string, c *Cache) (sessions []Session, err error) {
	if c.Version != cacheVersion {
		*c = Cache{Version: cacheVersion}
	}
	found, err := findFiles(env, c.Files)
	if err != nil {
		return nil, err
	}
	wanted := func(f *keptFile) bool { return tool == "" || tool == f.place.tool }
	var readers errgroup.Group
	readers.SetLimit(runtime.GOMAXPROCS(0))
	for _, f := range found {
		if wanted(f) {
			readers.Go(func() error {
				f.content, f.err = f.place.read(f.path, f.content)
				return nil // the other files are read all the same
			})
		}
	}
	_ = readers.Wait()
	c.Files = map[string]*File{}
	for _, f := range found {
		switch {
		case errors.Is(f.err, fs.ErrNotExist): // removed since it was found
		case f.err != nil:
			err = cmp.Or(err, fmt.Errorf("read session: %w", f.err))
		case f.content != nil:
			c.Files[f.path] = f.content
			if wanted(f) && f.content.Session.valid() {
				sessions = append(sessions, f.content.Session)
			}
		}
	}
	return sessions, err
}

// A keptFile is a file of a tool's, and what is known of its content.
type keptFile struct {
	place   place
	path    string
	content *File // nil before it is read for the first time
	err     error
}

// findFiles returns the files of all tools, with their content as the cache knows it.
func findFiles(env func(string) string, cached map[string]*File) (found []*keptFile, err error) {
	for _, p := range places {
		for _, pattern := range p.patterns(env) {
			paths, err := filepath.Glob(pattern)
			if err != nil {
				return nil, fmt.Errorf("find sessions of %s: %w", p.tool, err)
			}
			for _, path := range paths {
				found = append(found, &keptFile{place: p, path: path, content: cached[path]})
			}
		}
	}
	return found, nil
}

// valid reports whether the file that this was read from holds a session: its ID has the
// tool's form.
func (s Session) valid() bool {
	t, ok := rewrite.Lookup(s.Tool)
	return ok && t.ValidID(s.ID)
}

// read brings up to date what is known of a file.
func (p place) read(path string, known *File) (*File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return &File{}, nil
	}
	now := File{Size: info.Size(), Changed: info.ModTime().UTC()}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		now.Device, now.Inode = uint64(stat.Dev), stat.Ino
	}
	same := known != nil && known.Device == now.Device && known.Inode == now.Inode
	if same && known.Size == now.Size && known.Changed.Equal(now.Changed) {
		return known, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if p.whole != nil {
		text, err := io.ReadAll(file)
		now.Session.Tool = p.tool
		p.whole(&now, text)
		return &now, err
	}
	f := now
	f.Session.Tool = p.tool
	if same && known.Offset <= now.Size && tail(file, known.Offset) == known.Tail {
		f = *known
		f.Size, f.Changed = now.Size, now.Changed
	} else if p.begin != nil {
		p.begin(&f, path)
	}
	return &f, p.lines(&f, file)
}

// tailSize is how much of what was read is looked at again.
const tailSize = 256

func tail(file *os.File, offset int64) uint64 {
	digest := fnv.New64a()
	from := max(0, offset-tailSize)
	if _, err := io.Copy(digest, io.NewSectionReader(file, from, offset-from)); err != nil {
		return 0
	}
	return digest.Sum64()
}

// lines reads the whole lines behind the offset.
func (p place) lines(f *File, file *os.File) error {
	if _, err := file.Seek(f.Offset, io.SeekStart); err != nil {
		return err
	}
	r := bufio.NewReaderSize(file, 256<<10)
	for {
		line, err := r.ReadBytes('\n')
		if err == io.EOF {
			f.Tail = tail(file, f.Offset)
			return nil
		}
		if err != nil {
			return err
		}
		f.Offset += int64(len(line))
		p.line(f, line)
	}
}

// at notes that something happened.
func (s *Session) at(when time.Time) {
	if when.IsZero() {
		return
	}
	if s.Started.IsZero() || when.Before(s.Started) {
		s.Started = when.UTC()
	}
	if when.After(s.Updated) {
		s.Updated = when.UTC()
	}
}

// decode reads a line of JSON; one that is none is passed over.
func decode(line []byte, v any) bool { return json.Unmarshal(line, v) == nil }
