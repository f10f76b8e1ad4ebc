// Package history reads the sessions in the tools' own directories, so that shimctl can show
// sessions that no shim has seen.
//
// It never writes to these directories, and stores no text of prompts or answers. Only shimctl uses
// it, and its sessions are never resumed. Its invariant: it returns the same for a file that is
// read at once and for one that is read as it grows.
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

// A Session is one that a tool has stored. Tokens are of disjoint kinds, and known only if Counted
// is set.
type Session struct {
	Tool       string    `json:"tool"`
	ID         string    `json:"id"`
	Cwd        string    `json:"cwd,omitempty"`
	Model      string    `json:"model,omitempty"` // the latest
	Version    string    `json:"version,omitempty"`
	Started    time.Time `json:"started"`
	Updated    time.Time `json:"updated"`
	Turns      int       `json:"turns"` // the user's prompts, -1 if not known
	Counted    bool      `json:"counted"`
	Input      int64     `json:"input"`
	CacheRead  int64     `json:"cache_read"`
	CacheWrite int64     `json:"cache_write"`
	Output     int64     `json:"output"`
}

// A Cache stores how far each file has been read. The zero value is empty. It can be stored as
// JSON.
type Cache struct {
	Version int              `json:"version"`
	Files   map[string]*File `json:"files"`
}

// cacheVersion changes when the meaning of File does.
const cacheVersion = 1

// A File is what has been read of one file.
type File struct {
	Device  uint64    `json:"device"`
	Inode   uint64    `json:"inode"`
	Offset  int64     `json:"offset"`         // after the last whole line that was read
	Tail    uint64    `json:"tail,omitempty"` // digest of the text before Offset: it differs if the file was rewritten
	Size    int64     `json:"size"`
	Changed time.Time `json:"changed"`
	Last    string    `json:"last,omitempty"` // the message whose tokens were counted last
	Session Session   `json:"session"`        // with an ID of the tool's form, if it is a session
}

// A place is where a tool keeps sessions, and how to read them.
type place struct {
	tool  string
	line  func(f *File, line []byte)
	whole func(f *File, text []byte) // instead of line: the file is replaced as a whole
	begin func(f *File, path string)
}

// patterns returns the filepath.Glob patterns of the tool's session files.
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
	{tool: "copilot", line: copilotLine},
	{tool: "gemini", begin: beginGemini, line: geminiLine},
	{tool: "qwen", line: qwenLine},
	{tool: "vibe", whole: vibeWhole},
}

// Read returns the sessions of all tools, or of one, from the directories that the environment
// names. It does not read a file again that has not changed since it was cached. It leaves out
// files that cannot be read; err is the first such error.
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
	for _, name := range rewrite.Names {
		if t, _ := rewrite.Lookup(name); t.Descriptor().Database != "" && (tool == "" || tool == name) {
			stored, failed := readDatabase(t, env)
			sessions, err = append(sessions, stored...), cmp.Or(err, failed)
		}
	}
	return sessions, err
}

// A keptFile is a tool's file, and what is known about its content.
type keptFile struct {
	place   place
	path    string
	content *File // nil before the first read
	err     error
}

// findFiles returns the files of all tools, with their cached content.
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

// valid reports whether the file contained a session: its ID has the tool's form.
func (s Session) valid() bool {
	t, ok := rewrite.Lookup(s.Tool)
	return ok && t.ValidID(s.ID)
}

// read updates what is known about a file.
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

// tailSize is how much of the text before the offset is compared.
const tailSize = 256

func tail(file *os.File, offset int64) uint64 {
	digest := fnv.New64a()
	from := max(0, offset-tailSize)
	if _, err := io.Copy(digest, io.NewSectionReader(file, from, offset-from)); err != nil {
		return 0
	}
	return digest.Sum64()
}

// lines reads the whole lines after the offset.
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

// at records the time of an event.
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

// decode parses a line of JSON and reports whether it could.
func decode(line []byte, v any) bool { return json.Unmarshal(line, v) == nil }
