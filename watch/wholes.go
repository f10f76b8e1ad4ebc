package watch

import (
	"io"
	"io/fs"
)

// maxWhole is the size beyond which a whole file is not read.
const maxWhole = 4 << 20

// wholes are files that are passed on whole when the watcher stops, if they have changed since the
// start.
type wholes struct {
	*tree
	handle func(string, []byte)
	before map[string]stamp
}

func (ws *wholes) note(path string, info fs.FileInfo) { ws.before[path] = newStamp(info) }

func (ws *wholes) read(path string, info fs.FileInfo) {
	if before, known := ws.before[path]; known && before == newStamp(info) {
		return
	}
	f, now, err := open(path)
	if err != nil {
		return
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxWhole+1))
	if err == nil && now.size <= maxWhole && len(data) <= maxWhole {
		ws.handle(path, data)
	}
}
