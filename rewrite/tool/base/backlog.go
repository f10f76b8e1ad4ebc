package base

// A Backlog holds the latest lines that were not shown because the caller's format does not have them.
type Backlog []byte

// maxBacklog bounds a backlog of more than one line, in bytes.
const maxBacklog = 1 << 20

// Add keeps a line.
func (b *Backlog) Add(line []byte) {
	if len(*b)+len(line) > maxBacklog {
		*b = (*b)[:0]
	}
	*b = append(*b, line...)
}
