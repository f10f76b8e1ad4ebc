// Package history reads what the tools keep of their sessions in their own folders, so
// that sessions can be looked at which no shim has seen.
//
// It never writes to these folders, and keeps no word of a prompt or an answer. Nothing
// that it finds is ever resumed: only shimctl uses it. Its invariant: what it gives of a
// file is the same whether the file is read at once or as it grows.
package history

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"

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

// Read finds the sessions of all tools, or of one, below the folders that the environment
// names. What the cache knows already is not read again. A file that can not be read is
// left out; err tells of the first.
func Read(env func(string) string, tool string, c *Cache) (sessions []Session, err error) {
	if c.Version != cacheVersion {
		*c = Cache{Version: cacheVersion}
	}
	known := c.Files
	c.Files = map[string]*File{}
	type job struct {
		place
		path string
	}
	var jobs []job
	for _, p := range places {
		for _, pattern := range p.patterns(env) {
			paths, err := filepath.Glob(pattern)
			if err != nil {
				return nil, fmt.Errorf("find sessions of %s: %w", p.tool, err)
			}
			for _, path := range paths {
				if tool != "" && tool != p.tool {
					if f := known[path]; f != nil {
						c.Files[path] = f
					}
					continue
				}
				jobs = append(jobs, job{p, path})
			}
		}
	}
	files, errs := make([]*File, len(jobs)), make([]error, len(jobs))
	var wait sync.WaitGroup
	next := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for n := range next {
				files[n], errs[n] = jobs[n].read(jobs[n].path, known[jobs[n].path])
			}
		})
	}
	for n := range jobs {
		next <- n
	}
	close(next)
	wait.Wait()
	for n, f := range files {
		if errs[n] != nil {
			if err == nil && !errors.Is(errs[n], fs.ErrNotExist) {
				err = fmt.Errorf("read session: %w", errs[n])
			}
			continue
		}
		c.Files[jobs[n].path] = f
		if t, ok := rewrite.Lookup(f.Session.Tool); ok && t.ValidID(f.Session.ID) { // other files are no sessions
			sessions = append(sessions, f.Session)
		}
	}
	return sessions, err
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
