package watch

import (
	"bytes"
	"io"
	"io/fs"
	"os"

	"reprise/rewrite"
)

// maxLine is the length beyond which a line is skipped, maxWhole the size beyond which a whole file
// is not read.
const (
	maxLine  = rewrite.LongestLine
	maxWhole = 4 << 20
)

// A tail is the end of one file, known by identity: a renamed file continues where it was. From the
// first change the file is kept open, so that nothing is lost if the name is removed.
type tail struct {
	path string
	was  stamp
	file *os.File
	at   int64  // the end of the part that was read
	part []byte // an unfinished line
	long bool   // in a line that is skipped
	look int    // the last look that has found the file
}

func (t *tree) note(path string, info fs.FileInfo) {
	s := newStamp(info)
	t.known[s.id] = &tail{path: path, was: s, at: s.size}
}

// see passes on the text added to a file that a look has found.
func (t *tree) see(path string, info fs.FileInfo) {
	now := newStamp(info)
	f := t.known[now.id]
	if f == nil || f.file == nil && f.was != now {
		f = t.open(path)
	}
	if f == nil {
		return
	}
	f.path, f.look = path, t.looks
	if f.file != nil {
		t.read(f)
	}
}

// open returns the tail of the file that has that name now.
func (t *tree) open(path string) *tail {
	file, now, err := open(path)
	if err != nil {
		return nil
	}
	f := t.known[now.id]
	switch {
	case f == nil || f.file == nil && f.look < t.looks-1: // another file has got the identity
		f = &tail{}
		t.known[now.id] = f
	case f.file != nil:
		file.Close()
		return f
	}
	f.file = file
	return f
}

// read passes on the text added to the file.
func (t *tree) read(f *tail) {
	info, err := f.file.Stat()
	if err != nil {
		return
	}
	if info.Size() < f.at { // truncated
		f.at, f.part, f.long = 0, nil, false
	}
	buf := make([]byte, min(64<<10, info.Size()-f.at))
	for f.at < info.Size() {
		n, err := f.file.ReadAt(buf[:min(int64(len(buf)), info.Size()-f.at)], f.at)
		f.at += int64(n)
		t.feed(f, buf[:n])
		if err != nil {
			return
		}
	}
}

func (t *tree) feed(f *tail, data []byte) {
	for line := range bytes.Lines(data) {
		if f.long = f.long || len(f.part)+len(line) > maxLine; f.long {
			f.part = nil
		} else {
			f.part = append(f.part, line...)
		}
		if bytes.HasSuffix(line, []byte("\n")) {
			t.flush(f)
		}
	}
}

// flush passes on the collected line.
func (t *tree) flush(f *tail) {
	if !f.long && len(f.part) > 0 {
		t.handle(f.path, f.part)
	}
	f.part, f.long = f.part[:0], false
}

func (t *tree) readOn() {
	for _, f := range t.known {
		if f.file != nil {
			t.read(f)
		}
	}
}

func (t *tree) end() {
	t.readOn()
	for _, f := range t.known {
		if f.file != nil {
			t.flush(f)
			f.file.Close()
		}
	}
	clear(t.known)
}

// seeWhole passes on a whole file, if it has changed since the start.
func (t *tree) seeWhole(path string, info fs.FileInfo) {
	now := newStamp(info)
	if before := t.known[now.id]; before != nil && before.was == now {
		return
	}
	file, now, err := open(path)
	if err != nil {
		return
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxWhole+1))
	if err == nil && now.size <= maxWhole && len(data) <= maxWhole {
		t.handle(path, data)
	}
}
