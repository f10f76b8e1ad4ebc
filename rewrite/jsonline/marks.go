package jsonline

import "bytes"

// Marks are words to search a line for, each between double quotes: a line of JSON without any of
// them need not be parsed.
type Marks struct {
	firsts [256]bool
	words  [][]byte // without the opening quote
}

// NewMarks makes marks of words.
func NewMarks(words ...string) *Marks {
	m := &Marks{}
	for _, word := range words {
		m.firsts[word[0]] = true
		m.words = append(m.words, []byte(word+`"`))
	}
	return m
}

// In reports whether a line has one of the words. It jumps from quote to quote: most of a long line
// consists of a few long strings.
func (m *Marks) In(line []byte) bool {
	for {
		i := bytes.IndexByte(line, '"') + 1
		if i == 0 || i == len(line) {
			return false
		}
		line = line[i:]
		if !m.firsts[line[0]] {
			continue
		}
		for _, word := range m.words {
			if bytes.HasPrefix(line, word) {
				return true
			}
		}
	}
}
