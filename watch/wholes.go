package watch

import (
	"hash/maphash"
	"io"
	"io/fs"
)

// maxWhole is the size beyond which a whole file is not read.
const maxWhole = 4 << 20

// wholes are files that are passed on whole, each time their content changes.
type wholes struct {
	handle func(string, []byte)
	seed   maphash.Seed
	known  map[string]whole
}

type whole struct {
	stamp
	sum  uint64
	read bool // it has changed before: the stamp alone is no longer trusted
}

func newWholes(handle func(string, []byte)) *wholes {
	return &wholes{handle, maphash.MakeSeed(), map[string]whole{}}
}

func (ws *wholes) note(path string, info fs.FileInfo) {
	ws.known[path] = whole{stamp: newStamp(info)}
}

func (ws *wholes) check(path string, info fs.FileInfo) {
	was, known := ws.known[path]
	if known && !was.read && was.stamp == newStamp(info) {
		return
	}
	data, now, ok := readWhole(path)
	if !ok {
		return
	}
	sum := maphash.Bytes(ws.seed, data)
	if was.read && was.sum == sum {
		return
	}
	ws.known[path] = whole{now, sum, true}
	ws.handle(path, data)
}

func readWhole(path string) ([]byte, stamp, bool) {
	f, now, err := open(path)
	if err != nil {
		return nil, stamp{}, false
	}
	defer f.Close()
	if now.size > maxWhole {
		return nil, stamp{}, false
	}
	data, err := io.ReadAll(io.LimitReader(f, maxWhole+1))
	return data, now, err == nil && len(data) <= maxWhole
}

func (ws *wholes) readOn()           {} // only the last content counts
func (ws *wholes) gone(string, bool) {}
func (ws *wholes) end()              {}
