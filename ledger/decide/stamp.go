package decide

import (
	"io/fs"
	"strconv"
)

// A Stamp identifies the state of a session after our last run: the file's size or, if the
// tool keeps it in a database, the values of the row. Equal stamps mean that it is unchanged.
type Stamp string

// FileStamp returns the stamp of a session that is a file.
func FileStamp(info fs.FileInfo) Stamp { return Stamp(strconv.FormatInt(info.Size(), 10)) }

// FileSize returns the size that a session's file had. It fails if the session was no file.
func (s Stamp) FileSize() (int64, error) {
	size, err := strconv.ParseUint(string(s), 10, 63)
	return int64(size), err
}
