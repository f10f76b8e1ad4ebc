package report

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"reprise/ledger"
)

// A source is the ledger as the server reads it. It is opened anew if its file was replaced, and is
// empty while there is none.
type source struct {
	path   string
	mu     sync.Mutex // one page at a time
	ledger *ledger.Ledger
	file   fs.FileInfo // nil while there is none
	opened int         // how often
}

// read calls look with the ledger, and a text that changes with its content.
func (s *source) read(look func(l *ledger.Ledger, version string) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.open(); err != nil {
		return err
	}
	version, err := s.ledger.DataVersion()
	if err != nil {
		return err
	}
	return look(s.ledger, fmt.Sprintf("%d.%d", s.opened, version))
}

// open opens the ledger that is there now, unless it is open.
func (s *source) open() error {
	file, err := os.Stat(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		file = nil
	case err != nil:
		return fmt.Errorf("open ledger: %w", err)
	}
	if s.ledger != nil && (file == nil && s.file == nil || file != nil && s.file != nil && os.SameFile(file, s.file)) {
		return nil
	}
	s.close()
	if file == nil {
		s.ledger, err = ledger.OpenMemory()
	} else {
		s.ledger, err = ledger.OpenReadOnly(s.path)
	}
	if err != nil {
		s.ledger = nil
		return err
	}
	s.file = file
	s.opened++
	return nil
}

func (s *source) close() {
	if s.ledger != nil {
		s.ledger.Close()
		s.ledger = nil
	}
}
