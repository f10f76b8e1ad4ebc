package config

import "fmt"

// Error is a mistake in a configuration file. It has separate parts for a program that shows the
// hint on a separate line.
type Error struct {
	File    string
	Line    int    // 0 if it is not known
	Key     string // can be empty: the mistake is one of syntax
	Problem string
	Hint    string // a remedy; can be empty
}

func (e *Error) Error() string { return e.Place() + ": " + e.Problem }

// Place returns the file, and the line and the key if they are known.
func (e *Error) Place() string {
	where := e.File
	if e.Line > 0 {
		where = fmt.Sprintf("%s:%d", e.File, e.Line)
	}
	if e.Key == "" {
		return where
	}
	return where + ": " + e.Key
}

// Mistakes are all mistakes in a file, in order. There is at least one.
type Mistakes []*Error

// Error returns the first mistake and the number of the others.
func (m Mistakes) Error() string {
	if len(m) == 1 {
		return m[0].Error()
	}
	return fmt.Sprintf("%v (and %d more)", m[0], len(m)-1)
}

// mistake is a setting's error about a value. The reader adds the place.
type mistake struct{ problem, hint string }

func (m *mistake) Error() string { return m.problem }
