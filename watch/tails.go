package watch

import (
	"bytes"
	"io/fs"
	"os"

	"reprise/rewrite"
)

// maxLine is the length beyond which a line is skipped.
const maxLine = rewrite.LongestLine

// tails are files that are passed on line by line as they grow. They are known by identity: a
// renamed file continues where it was.
type tails struct {
	handle func(string, []byte)
	known  map[fileID]*tail
	looks  int // looks so far
}

// A tail is the end of one file. From the first change the file is kept open, so that nothing is
// lost if the name is removed.
type tail struct {
	path string
	was  stamp
	file *os.File
	at   int64  // the end of the part that was read
	part []byte // an unfinished line
	long bool   // in a line that is skipped
	look int    // the last look that has found the file
}

func newTails(handle func(string, []byte)) *tails {
	return &tails{handle: handle, known: map[fileID]*tail{}}
}

func (ts *tails) note(path string, info fs.FileInfo) {
	s := newStamp(info)
	ts.known[s.id] = &tail{path: path, was: s, at: s.size}
}

func (ts *tails) check(path string, info fs.FileInfo) {
	now := newStamp(info)
	t := ts.known[now.id]
	if t == nil || t.file == nil && t.was != now {
		t = ts.open(path)
	}
	if t == nil {
		return
	}
	t.path, t.look = path, ts.looks
	if t.file != nil {
		ts.read(t)
	}
}

// open returns the tail of the file that has that name now.
func (ts *tails) open(path string) *tail {
	f, now, err := open(path)
	if err != nil {
		return nil
	}
	t := ts.known[now.id]
	switch {
	case t == nil || t.file == nil && t.look < ts.looks-1: // another file has got the identity
		t = &tail{}
		ts.known[now.id] = t
	case t.file != nil:
		f.Close()
		return t
	}
	t.file = f
	return t
}

// read passes on the text added to the file.
func (ts *tails) read(t *tail) {
	info, err := t.file.Stat()
	if err != nil {
		return
	}
	if info.Size() < t.at { // truncated
		t.at, t.part, t.long = 0, nil, false
	}
	buf := make([]byte, min(64<<10, info.Size()-t.at))
	for t.at < info.Size() {
		n, err := t.file.ReadAt(buf[:min(int64(len(buf)), info.Size()-t.at)], t.at)
		t.at += int64(n)
		ts.feed(t, buf[:n])
		if err != nil {
			return
		}
	}
}

func (ts *tails) feed(t *tail, data []byte) {
	for line := range bytes.Lines(data) {
		if t.long = t.long || len(t.part)+len(line) > maxLine; t.long {
			t.part = nil
		} else {
			t.part = append(t.part, line...)
		}
		if bytes.HasSuffix(line, []byte("\n")) {
			ts.flush(t)
		}
	}
}

// flush passes on the collected line.
func (ts *tails) flush(t *tail) {
	if !t.long && len(t.part) > 0 {
		ts.handle(t.path, t.part)
	}
	t.part, t.long = t.part[:0], false
}

func (ts *tails) readOn() {
	for _, t := range ts.known {
		if t.file != nil {
			ts.read(t)
		}
	}
}

func (ts *tails) end() {
	ts.readOn()
	for _, t := range ts.known {
		if t.file != nil {
			ts.flush(t)
			t.file.Close()
		}
	}
	clear(ts.known)
}
